"""Independent fits in several processes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.utils.parallel import Parallel

from ilfs.permutations import without_warnings


@contextmanager
def results_in_order(tasks: Iterable[Any], n_jobs: int | None) -> Iterator[Iterator[Any]]:
    """Run tasks and iterate over their results; leaving the context stops the tasks that are not done.

    Parameters
    ----------
    tasks : iterable
        Calls made by `sklearn.utils.parallel.delayed`.
    n_jobs : int or None
        Number of processes, as `joblib` counts them.

    Yields
    ------
    iterator
        The results in the order of the tasks, each as soon as it is there.

    Examples
    --------
    >>> from sklearn.utils.parallel import delayed
    >>> from ilfs.selection.parallel import results_in_order
    >>> with results_in_order((delayed(divmod)(one, 2) for one in range(1000)), n_jobs=1) as results:
    ...     next(results), next(results)
    ((0, 0), (0, 1))
    """
    results = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    try:
        yield results
    finally:
        # Explicitly: after an error its traceback keeps the iterator, and with it the tasks, alive. joblib warns of
        # tasks that were stopped, which is intended here.
        with without_warnings():
            results.close()
