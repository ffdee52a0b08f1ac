"""Plans: the order in which a method asks for statistics.

A *plan* is a generator. It yields requests, gets the statistics back, and returns a result::

    def plan(...):
        moments = yield from ask(Moments())            # first read of the rows
        counts = yield from ask(Tokens(moments, ...))  # second read
        return relevance(counts)

A plan does not know where the rows are, nor how many other plans run beside it. `together` runs several plans in step,
so that their requests are answered by one read: thirty labels, or a thousand permutations of labels, cost as many reads
as one.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from ilfs.arrays import Integers
from ilfs.execution.fold import Fold, Read
from ilfs.statistics.description import Description, S
from ilfs.statistics.many import combined

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
Plan = Generator[list[Read[Any]], Any, T]


def ask(description: Description[S], columns: Integers | None = None, labelling: int | None = 0) -> Plan[S]:
    """Ask for one statistic.

    Parameters
    ----------
    description : Description
        How to compute the statistic from a block.
    columns : ndarray of int, optional
        Compute it for these columns only.
    labelling : int or None, default=0
        Labelling that gives the rows their classes; None puts all rows into one class.

    Returns
    -------
    plan
        Its result is the statistic.
    """
    (statistic,) = yield [Read(description, columns, labelling)]
    return statistic  # type: ignore[no-any-return]


def together(plans: Sequence[Plan[T]]) -> Plan[list[T]]:
    """Run plans in step: requests that several of them make at the same time are answered by one read.

    Parameters
    ----------
    plans : sequence of plans
        They may make different numbers of requests.

    Returns
    -------
    plan
        Its result is the list of their results.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import ask, fold_of, run_plan, together
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Moments
    >>> fold = fold_of(table_source(np.array([[1.0], [2.0], [6.0]]), np.array([[0, 1], [0, 0], [1, 1]])))
    >>> first, second = run_plan(together([ask(Moments(), labelling=0), ask(Moments(), labelling=1)]), fold)
    >>> first.mean.ravel().tolist(), second.mean.ravel().tolist()
    ([1.5, 6.0], [2.0, 3.5])
    """
    results: dict[int, T] = {}
    waiting: dict[int, list[Read[Any]]] = {}

    def advance(number: int, answers: Iterable[Any] | None) -> None:
        try:
            waiting[number] = plans[number].send(answers)
        except StopIteration as done:
            results[number] = done.value

    for number in range(len(plans)):
        advance(number, None)
    while waiting:
        asked, waiting = waiting, {}
        answers = iter((yield [read for reads in asked.values() for read in reads]))
        for number, reads in asked.items():
            # One plan at a time: an engine may compute the answers one by one, and a plan may drop what it has used.
            advance(number, list(islice(answers, len(reads))))
    return [results[number] for number in range(len(plans))]


def at_once(plans: Sequence[Plan[T]]) -> Plan[list[T]]:
    """Run plans in step, as `together` does, with one request for statistics that can be computed at once.

    Parameters
    ----------
    plans : sequence of plans
        They make the same requests, each under its own labelling, such as a permutation of the labels.

    Returns
    -------
    plan
        Its result is the list of their results, equal to those of `together` up to rounding.
    """
    plan, answers = together(plans), None
    while True:
        try:
            reads = plan.send(answers)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        many = combined_read(reads)
        if many is None:
            answers = yield reads
        else:
            (statistics,) = yield [many]
            answers = statistics.parts
            del statistics


def combined_read(reads: Sequence[Read[Any]]) -> Read[Any] | None:
    """Combine requests that differ in their labelling only, if their statistics can be computed at once."""
    labellings = tuple(read.labelling for read in reads if isinstance(read.labelling, int) and read.columns is None)
    description = combined([read.description for read in reads]) if len(labellings) == len(reads) > 1 else None
    return None if description is None else Read(description, labelling=labellings)


def both(first: Plan[A], second: Plan[B]) -> Plan[tuple[A, B]]:
    """Run two plans in step, as `together` does."""
    plans: list[Plan[Any]] = [first, second]
    of_first, of_second = yield from together(plans)
    return of_first, of_second


def with_changed_requests(
    plan: Plan[T],
    change: Callable[[Read[Any]], Read[Any]],
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Plan[T]:
    """Change every request of a plan, and run its code between two requests inside a context manager."""
    answers = None
    while True:
        with around():
            try:
                reads = plan.send(answers)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
        answers = yield [change(read) for read in reads]


def under_labelling(
    plan: Plan[T],
    labelling: int,
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
    step: int = 1,
) -> Plan[T]:
    """Run a plan under another labelling than the first; requests without labels are not changed.

    Labelling k of the plan becomes ``labelling + k * step``. So a plan that asks for permutations of a label, as
    labellings 1, 2, ..., also runs for one of several labels, whose permutations are ``step`` labellings apart.
    """

    def change(read: Read[Any]) -> Read[Any]:
        if isinstance(read.labelling, tuple):
            return replace(read, labelling=tuple(labelling + number * step for number in read.labelling))
        return read if read.labelling is None else replace(read, labelling=labelling + read.labelling * step)

    return with_changed_requests(plan, change, around)


def run_plan(plan: Plan[T], fold: Fold) -> T:
    """Answer the requests of a plan, with one read of the rows for each of its steps.

    Parameters
    ----------
    plan : plan
        A generator of requests.
    fold : Fold
        The engine that answers them.

    Returns
    -------
    object
        The result of the plan.
    """
    answers = None
    while True:
        try:
            reads = plan.send(answers)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answers = fold.read(reads)
