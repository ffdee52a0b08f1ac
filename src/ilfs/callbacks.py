"""Progress of a fit, reported to scikit-learn's callbacks.

This is the only module that uses `sklearn.callback`, which is new in scikit-learn 1.9 and experimental. With an older
version, fits work as usual and report nothing.

Only documented names are used. One of them begins with an underscore, ``_init_callback_context``: scikit-learn's guide
for developers ("Implementing callback support in estimators") calls it part of the public API for authors of
estimators.
"""

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from importlib.metadata import version
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
E = TypeVar("E", bound="ProgressMixin")


class SilentTask:
    """Replacement for `sklearn.callback.CallbackContext` in scikit-learn before 1.9: there are no callbacks to call."""

    def subcontext(self, **_: Any) -> Self:
        """Return itself: one object serves all tasks, as nothing is reported."""
        return self

    def call_on_fit_task_begin(self, **_: Any) -> Self:
        """Return itself, as scikit-learn does."""
        return self

    def call_on_fit_task_end(self, **_: Any) -> bool:
        """Return False: no callback asks to stop."""
        return False

    def propagate_callback_context(self, sub_estimator: Any) -> AbstractContextManager[None]:  # noqa: ARG002
        """Return a context that does nothing."""
        return nullcontext()


class NoCallbacksMixin:
    """Replacement for `sklearn.callback.CallbackSupportMixin` in scikit-learn before 1.9."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Raise an ImportError if callbacks are given.

        Parameters
        ----------
        *callbacks : callback instances
            Callbacks, which this version of scikit-learn does not support.

        Returns
        -------
        estimator
            Itself.
        """
        if callbacks:
            raise ImportError(f"callbacks need scikit-learn 1.9 or newer, found {version('scikit-learn')}")
        return self

    def _init_callback_context(self, **_: Any) -> SilentTask:
        return SilentTask()


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    CallbackSupportMixin = NoCallbacksMixin

    def with_callbacks(method: Callable[P, T]) -> Callable[P, T]:
        """Return the method unchanged: there are no callbacks to tear down."""
        return method


def reports_progress(fit: Callable[Concatenate[E, P], T]) -> Callable[Concatenate[E, P], T]:
    """Decorate a method that fits, so that its callbacks are torn down at the end, even after an error.

    Parameters
    ----------
    fit : method
        A method of a `ProgressMixin` that calls ``_steps`` or ``_sub_fits`` at most once, and then ``_end_progress``.
        After ``_begin_with_ranking``, it calls ``_later_steps`` in between.

    Returns
    -------
    method
        The method, wrapped by the callback management of scikit-learn.
    """
    managed = with_callbacks(fit)

    @wraps(fit)
    def reporting(self: E, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return managed(self, *args, **kwargs)  # type: ignore[no-any-return]
        finally:
            # The tree of tasks grows with the steps: a fitted estimator should neither keep nor pickle it.
            self.__dict__.pop("_fit_task", None)
            self.__dict__.pop("_ranking_task", None)

    return reporting


class ProgressMixin(CallbackSupportMixin):  # type: ignore[misc]
    """Mixin that reports the steps of a long fit to callbacks.

    scikit-learn describes a fit as a tree of tasks. Here the whole fit is the root, and the steps of one loop are its
    children. The root task begins when the loop begins, because its number of children must be known then.

    A fit that ranks the features and then repeats that, as cross-validation does, calls ``_begin_with_ranking`` first.
    Its root has a child for the ranking, whose children are the steps of the method's own loop, and one for each later
    step.
    """

    _fit_task: Any = None
    _ranking_task: Any = None

    def _begin_progress(self, n_steps: int | None) -> Any:
        """Set up the callbacks and begin the task of the whole fit.

        This is also done without callbacks: there is no public way to ask if an estimator has any.
        """
        self._fit_task = self._init_callback_context(max_subtasks=n_steps)
        return self._fit_task.call_on_fit_task_begin(estimator=self)

    def _begin_with_ranking(self, n_later: int) -> None:
        """Begin a fit that ranks the features and then does at most ``n_later`` further steps."""
        self._begin_progress(1 + n_later)

    def _begin_loop(self, n_steps: int | None) -> Any:
        """Begin the task whose steps are those of a loop: the whole fit, or its ranking."""
        if self._fit_task is None:
            return self._begin_progress(n_steps)
        self._ranking_task = self._fit_task.subcontext(task_name="ranking", max_subtasks=n_steps)
        return self._ranking_task.call_on_fit_task_begin(estimator=self)

    def _later_steps(self, items: Iterable[T], name: str) -> Iterator[T]:
        """End the ranking, then loop over items and report each as a step; a callback may end the loop early."""
        ranking = self._begin_loop(0) if self._ranking_task is None else self._ranking_task
        ranking.call_on_fit_task_end(estimator=self)
        yield from self._reported(items, name, self._fit_task)

    def _end_progress(self) -> bool:
        """End the task of the whole fit; begin it first if there was no loop to report.

        Returns
        -------
        bool
            True if a callback asks to stop.
        """
        task = self._begin_progress(0) if self._fit_task is None else self._fit_task
        return bool(task.call_on_fit_task_end(estimator=self))

    def _steps(self, items: Iterable[T], name: str, total: int | None = None) -> Iterator[T]:
        """Loop over items and report each as a step.

        A callback may end the loop early, so a method must give a valid result after any number of steps.

        Parameters
        ----------
        items : iterable
            Items to loop over.
        name : str
            Name of a step, shown by progress bars.
        total : int, optional
            Maximum number of items, if the iterable has no length.

        Yields
        ------
        object
            The items.
        """
        task = self._begin_loop(len(items) if isinstance(items, Sized) else total)
        yield from self._reported(items, name, task)

    def _reported(self, items: Iterable[T], name: str, task: Any) -> Iterator[T]:
        """Loop over items and report each as a step of a task."""
        for item in items:
            step = task.subcontext(task_name=name).call_on_fit_task_begin(estimator=self)
            yield item
            if step.call_on_fit_task_end(estimator=self):
                break

    def _sub_fits(self, parts: Iterable[E], name: str, total: int) -> Iterator[E]:
        """Loop over clones of this estimator that are fitted one after the other, and report each as a step.

        Callbacks get the loops of the clones as subtasks of that step.

        Parameters
        ----------
        parts : iterable of ProgressMixin
            Estimators that are fitted without calling ``fit``; their tasks are begun and ended here.
        name : str
            Name of a step, shown by progress bars.
        total : int
            Number of estimators.

        Yields
        ------
        ProgressMixin
            The estimators.
        """
        task = self._begin_loop(total)
        for part in parts:
            part.set_callbacks()  # remove the copies that cloning made: scikit-learn propagates callbacks itself
            step = task.subcontext(task_name=name)
            with step.propagate_callback_context(part):
                # Begin the step after the propagation: propagated callbacks are called by the part, the others here.
                step.call_on_fit_task_begin(estimator=self)
                yield part
                stop = part._end_sub_fit()
            if step.call_on_fit_task_end(estimator=self) or stop:
                break

    @reports_progress
    def _end_sub_fit(self) -> bool:
        """End the task of a sub-fit, and remove the attributes that scikit-learn adds during a fit."""
        return self._end_progress()
