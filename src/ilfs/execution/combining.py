"""Requests that differ in their labels only, such as those for the labels of an indicator matrix.

Each value of a sparse column is then read once for all of them. Dense columns are read in long runs, which is about as
fast for each labelling in turn.

Moments of the observed labels are not combined: that would change the last bits of the means, and a value half way
between two class means could then get another token.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from ilfs.execution.fold import Read
from ilfs.statistics import Shapes, Tokens
from ilfs.statistics.description import Description
from ilfs.statistics.many import combined

MIN_LABELLINGS = 3  # fewer are read as fast one after the other
COMBINED = (Tokens, Shapes)

Part = tuple[int, int | None]  # number of a combined request, and place of a statistic in its answer


def combine(reads: Sequence[Read[Any]]) -> tuple[list[Read[Any]], list[Part]]:
    """Combine the requests that can be answered at once.

    Parameters
    ----------
    reads : sequence of Read
        The requests.

    Returns
    -------
    requests : list of Read
        Fewer requests with the same answers.
    parts : list of Part
        Where the answer to each of the given requests is.
    """
    requests: list[Read[Any]] = []
    parts: dict[int, Part] = {}
    for numbers in alike(reads):
        description = combined([reads[number].description for number in numbers])
        if len(numbers) < MIN_LABELLINGS or description is None:
            parts |= {number: (len(requests) + place, None) for place, number in enumerate(numbers)}
            requests += [reads[number] for number in numbers]
        else:
            parts |= {number: (len(requests), place) for place, number in enumerate(numbers)}
            labellings = (reads[number].labelling for number in numbers)
            requests.append(Read(description, labelling=tuple(one for one in labellings if isinstance(one, int))))
    return requests, [parts[number] for number in range(len(reads))]


def alike(reads: Sequence[Read[Any]]) -> list[list[int]]:
    """Group the numbers of the requests that may be combined by their kind; each other request is alone."""
    kinds: defaultdict[Hashable, list[int]] = defaultdict(list)
    for number, read in enumerate(reads):
        is_plain = isinstance(read.labelling, int) and read.columns is None
        may_be = is_plain and isinstance(read.description, COMBINED)
        kinds[kind_of(read.description) if may_be else number].append(number)
    return list(kinds.values())


def kind_of(description: Description[Any]) -> Hashable:
    """Return a key that is the same for descriptions that can be combined: tokens have one scale."""
    if isinstance(description, Tokens):
        return Tokens, description.evidence, description.edges.tobytes()
    return type(description)


def to_each(statistics: Iterable[Any], parts: Sequence[Part]) -> Iterator[Any]:
    """Yield the answers to the given requests; each of the combined ones is taken when it is needed first."""
    found: list[Any] = []
    coming = iter(statistics)
    for number, place in parts:
        while len(found) <= number:
            found.append(next(coming))
        yield found[number] if place is None else found[number].parts[place]
