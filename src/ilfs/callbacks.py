"""Progress of a fit, reported to scikit-learn's callbacks.

This is the only module that uses `sklearn.callback`, which is new in scikit-learn 1.9 and experimental. With an older
version a fit works all the same and reports nothing.

Only documented names are used. One of them begins with an underscore, ``_init_callback_context``: scikit-learn's guide
for developers ("Implementing callback support in estimators") calls it part of the public API, for authors of
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
        """Return itself: one object is enough if nothing is reported."""
        return self

    def call_on_fit_task_begin(self, **_: Any) -> Self:
        """Return itself, as scikit-learn does."""
        return self

    def call_on_fit_task_end(self, **_: Any) -> bool:
        """Return False: nobody asks to stop."""
        return False

    def propagate_callback_context(self, sub_estimator: Any) -> AbstractContextManager[None]:  # noqa: ARG002
        """Return a context that does nothing."""
        return nullcontext()


class NoCallbacksMixin:
    """Replacement for `sklearn.callback.CallbackSupportMixin` in scikit-learn before 1.9."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Refuse callbacks.

        Parameters
        ----------
        *callbacks : callback instances
            None can be used with this version of scikit-learn.

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
        """Return the method as it is: there are no callbacks to tear down."""
        return method


def reports_progress(fit: Callable[Concatenate[E, P], T]) -> Callable[Concatenate[E, P], T]:
    """Decorate a method that fits: its callbacks are torn down at the end, also after an error.

    Parameters
    ----------
    fit : method
        A method of a `ProgressMixin` that calls ``_steps`` or ``_sub_fits`` at most once, and then ``_end_progress``.

    Returns
    -------
    method
        The same, within scikit-learn's management of callbacks.
    """
    managed = with_callbacks(fit)

    @wraps(fit)
    def reporting(self: E, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return managed(self, *args, **kwargs)  # type: ignore[no-any-return]
        finally:
            # The tree of tasks grows with the steps: a fitted estimator should neither keep nor pickle it.
            self.__dict__.pop("_fit_task", None)

    return reporting


class ProgressMixin(CallbackSupportMixin):  # type: ignore[misc]
    """Report the loop of a fit that takes long, step by step.

    scikit-learn describes a fit as a tree of tasks. Here the whole fit is the root and the steps of one loop are its
    children. The root begins with the loop, as its number of children must be known by then.
    """

    _fit_task: Any = None

    def _begin_progress(self, n_steps: int | None) -> Any:
        """Set up the callbacks and begin the task of the whole fit.

        This is done without callbacks, too: whether an estimator has any cannot be known by public names.
        """
        self._fit_task = self._init_callback_context(max_subtasks=n_steps)
        return self._fit_task.call_on_fit_task_begin(estimator=self)

    def _end_progress(self) -> bool:
        """End the task of the whole fit, after beginning it if there was no loop to report.

        Returns
        -------
        bool
            True if a callback asks to stop.
        """
        task = self._begin_progress(0) if self._fit_task is None else self._fit_task
        return bool(task.call_on_fit_task_end(estimator=self))

    def _steps(self, items: Iterable[T], name: str, total: int | None = None) -> Iterator[T]:
        """Loop over items, reporting each; a callback may end the loop.

        A method must make do with the steps it got.

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
        task = self._begin_progress(len(items) if isinstance(items, Sized) else total)
        for item in items:
            step = task.subcontext(task_name=name).call_on_fit_task_begin(estimator=self)
            yield item
            if step.call_on_fit_task_end(estimator=self):
                break

    def _sub_fits(self, parts: Iterable[E], name: str, total: int) -> Iterator[E]:
        """Loop over clones of this estimator that are fitted one after the other, each as one step.

        Callbacks get the loops of the clones as subtasks of that step.

        Parameters
        ----------
        parts : iterable of ProgressMixin
            Estimators to fit by something else than ``fit``: their tasks are begun and ended here.
        name : str
            Name of a step, shown by progress bars.
        total : int
            Number of estimators.

        Yields
        ------
        ProgressMixin
            The estimators.
        """
        task = self._begin_progress(total)
        for part in parts:
            part.set_callbacks()  # a clone has a copy of ours, but scikit-learn wants to hand them on itself
            step = task.subcontext(task_name=name)
            with step.propagate_callback_context(part):
                # The step begins after callbacks are handed on: those that were hear of it from the part.
                step.call_on_fit_task_begin(estimator=self)
                yield part
                stop = part._end_sub_fit()
            if step.call_on_fit_task_end(estimator=self) or stop:
                break

    @reports_progress
    def _end_sub_fit(self) -> bool:
        """End the task of a part of another fit, and remove what scikit-learn keeps during a fit."""
        return self._end_progress()
