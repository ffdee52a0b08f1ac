"""Rounds of a summary: the statistics that answer the requests of one read, and the classes of the rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ilfs.arrays import Integers
from ilfs.execution import Read
from ilfs.statistics import Classes
from ilfs.statistics.axes import DESCRIBED, are_equal, fit_together, with_classes
from ilfs.statistics.many import ManyDescription, ManyStatistics


@dataclass(frozen=True)
class Answer:
    """A statistic and the request that it answers.

    Parameters
    ----------
    statistic : statistic
        One of `ilfs.statistics.axes.STATISTICS`.
    labelling : int or None
        Labelling of the request.
    columns : ndarray of int or None
        Columns of the request.
    """

    statistic: Any
    labelling: int | None
    columns: Integers | None

    def answers(self, read: Read[Any]) -> bool:
        """Return True if a request asks for this statistic of the same labelling and columns."""
        kind = DESCRIBED.get(type(read.description))
        return (
            type(self.statistic) is kind
            and self.labelling == read.labelling
            and same_columns(self.columns, read.columns)
        )


@dataclass(frozen=True)
class Round:
    """The answers of one read.

    Parameters
    ----------
    answers : tuple of Answer
        One for each request.
    n_rows : int
        Number of rows that were read.
    """

    answers: tuple[Answer, ...]
    n_rows: int

    def merge(self, other: "Round") -> "Round":
        """Combine the answers of two sets of rows."""
        pairs = zip(self.answers, other.answers, strict=True)
        merged = (replace(one, statistic=one.statistic.merge(two.statistic)) for one, two in pairs)
        return Round(tuple(merged), self.n_rows + other.n_rows)

    def fits(self, other: "Round") -> bool:
        """Return True if both rounds answer the same requests, so that they can be merged."""
        return len(self.answers) == len(other.answers) and all(
            same_request(one, two) and fit_together(one.statistic, two.statistic)
            for one, two in zip(self.answers, other.answers, strict=True)
        )

    def equals(self, other: "Round") -> bool:
        """Return True if both rounds have the same answers, to the last bit."""
        return (self.n_rows, len(self.answers)) == (other.n_rows, len(other.answers)) and all(
            same_request(one, two) and are_equal(one.statistic, two.statistic)
            for one, two in zip(self.answers, other.answers, strict=True)
        )

    def with_classes(self, places: Sequence[Integers], labellings: Sequence[Classes]) -> "Round":
        """Insert the classes that are new in each labelling."""

        def inserted(answer: Answer) -> Answer:
            if answer.labelling is None or not labellings:
                return answer
            n_classes = labellings[answer.labelling].n_classes
            return replace(answer, statistic=with_classes(answer.statistic, places[answer.labelling], n_classes))

        return Round(tuple(map(inserted, self.answers)), self.n_rows)


def separate_reads(reads: Iterable[Read[Any]]) -> list[Read[Any]]:
    """Replace requests for many labellings at once by a request for each labelling."""
    separated: list[Read[Any]] = []
    for read in reads:
        if isinstance(read.labelling, tuple):
            assert isinstance(read.description, ManyDescription)
            descriptions = read.description.under_each(len(read.labelling))
            separated += map(lambda one, number: Read(one, None, number), descriptions, read.labelling)
        else:
            separated.append(read)
    return separated


def separate_statistics(statistics: Iterable[Any]) -> list[Any]:
    """Replace statistics under many labellings by the statistics under each of them."""
    parts = (one.parts if isinstance(one, ManyStatistics) else (one,) for one in statistics)
    return [part for some in parts for part in some]


def answers_to(reads: Iterable[Read[Any]], statistics: Iterable[Any]) -> list[Any]:
    """Put separate statistics together again where a request asks for many labellings."""
    remaining = iter(statistics)
    return [
        ManyStatistics(tuple(islice(remaining, len(read.labelling))))
        if isinstance(read.labelling, tuple)
        else next(remaining)
        for read in reads
    ]


def same_columns(one: Integers | None, other: Integers | None) -> bool:
    """Return True if two requests are for the same columns."""
    return one is other if one is None or other is None else np.array_equal(one, other)


def same_request(one: Answer, other: Answer) -> bool:
    """Return True if two statistics answer the same request."""
    return one.labelling == other.labelling and same_columns(one.columns, other.columns)


def united(one: Classes, other: Classes) -> Classes:
    """Unite the classes of two sets of rows and add up their sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.statistics import encode_labels
    >>> from ilfs.summaries.rounds import united
    >>> both = united(encode_labels(np.array(["a", "c"]))[0], encode_labels(np.array(["c", "b"]))[0])
    >>> both.labels.tolist(), both.rows.tolist()
    (['a', 'b', 'c'], [1, 1, 2])
    """
    if is_text(one) != is_text(other):
        texts, numbers = (one, other) if is_text(one) else (other, one)
        raise ValueError(
            "labels of all sites must be of one type, got text and numbers, for example "
            f"{texts.labels.tolist()[0]!r} and {numbers.labels.tolist()[0]!r}"
        )
    labels = np.union1d(one.labels, other.labels)
    rows, total = np.zeros(labels.size, dtype=np.int64), np.zeros(labels.size)
    for classes in (one, other):
        places = np.searchsorted(labels, classes.labels)
        rows[places] += classes.rows
        total[places] += classes.total
    return Classes(labels, rows, total)


def is_text(classes: Classes) -> bool:
    """Return True if labels are text, False if they are numbers."""
    return classes.labels.dtype.kind in "SUT"


def places_in(some: Classes, every: Classes) -> Integers:
    """Return the position of some classes among all of them."""
    return np.searchsorted(every.labels, some.labels)


def with_rows(classes: Classes) -> Classes:
    """Return the classes that have rows."""
    there = classes.rows > 0
    return classes if there.all() else Classes(classes.labels[there], classes.rows[there], classes.total[there])


def with_both_values(labellings: Sequence[Classes], n_labels: int) -> tuple[Classes, ...]:
    """Give every label of an indicator matrix the classes 0 and 1, even if all rows of a site are in one of them.

    The classes of a single label, and of its permutations, are returned unchanged.
    """
    if n_labels < 2:
        return tuple(labellings)
    none = Classes(np.arange(2), np.zeros(2, dtype=np.int64), np.zeros(2))
    return tuple(united(none, classes) for classes in labellings)


def same_classes(one: Iterable[Classes], other: Iterable[Classes]) -> bool:
    """Return True if two sequences of classes have equal labels and sizes."""
    return all(
        np.array_equal(a.labels, b.labels) and np.array_equal(a.rows, b.rows) and np.array_equal(a.total, b.total)
        for a, b in zip(one, other, strict=True)
    )
