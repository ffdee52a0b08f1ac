"""Summary: the statistics of rows that may not be moved."""

import os
from collections.abc import Iterator
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.cached import cached_property
from ilfs.execution import Read, fold_of
from ilfs.sources import RowBlock, Source
from ilfs.statistics import Classes
from ilfs.statistics.axes import DESCRIBED
from ilfs.summaries.engine import Recorded, next_requests
from ilfs.summaries.files import read_summary, write_summary
from ilfs.summaries.method import Described, check_same, check_streams, describe, make, title_of
from ilfs.summaries.rounds import (
    Answer,
    Round,
    places_in,
    same_classes,
    separate_reads,
    separate_statistics,
    united,
    with_both_values,
    with_rows,
)


class Summary(Source):
    """Statistics of the rows of one or more sites, all that ``fit`` needs to know about them.

    `ilfs.summarise` makes a summary of the rows of one site. Summaries of the same round are merged, and the merged
    summary is given to `ilfs.summarise` for the next round, until it is complete. Then it takes the place of the rows:
    ``ILFS().fit(summary)``.

    Parameters
    ----------
    method : dict
        Name and parameters of the method.
    n_features : int
        Number of columns.
    feature_names : list of str or None
        Names of the columns.
    labellings : tuple of Classes
        Classes of each labelling.
    all_rows : Classes
        All rows as one class.
    rounds : tuple of Round
        Answers of the rounds so far; in all but the last one they are those of all sites.
    sites : frozenset of str
        A random name for each summary of the last round that was merged.
    target_names : frozenset
        Names of the columns that the sites have taken their labels from.
    n_permutations : int
        Number of permutations of the labels, each within its site.
    draws : frozenset of str
        Digest of the permuted labels of each site, from which the labels do not follow.

    See Also
    --------
    ilfs.summarise : Summarise the rows of one site.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import ilfs
    >>> X, y = load_wine(return_X_y=True)
    >>> fisher = ilfs.FisherScore()
    >>> north = ilfs.summarise(X[::2], y[::2], selector=fisher)
    >>> south = ilfs.summarise(X[1::2], y[1::2], selector=fisher)
    >>> merged = north.merge(south)
    >>> merged
    <Summary for FisherScore: 178 rows, 13 features, 2 sites, 1 round>
    >>> merged.is_complete
    True
    >>> bool((fisher.fit(merged).order_ == ilfs.FisherScore().fit(X, y).order_).all())
    True
    """

    is_sparse = False
    # Summaries that were pickled by earlier versions have none of these.
    target_names: frozenset[Any] = frozenset()
    n_permutations = 0
    draws: frozenset[str] = frozenset()

    def __init__(
        self,
        method: Described,
        n_features: int,
        feature_names: list[Any] | None,
        labellings: tuple[Classes, ...],
        all_rows: Classes,
        rounds: tuple[Round, ...] = (),
        sites: frozenset[str] = frozenset(),
        target_names: frozenset[Any] = frozenset(),
        n_permutations: int = 0,
        draws: frozenset[str] = frozenset(),
    ) -> None:
        self.method, self.n_features, self.feature_names = method, n_features, feature_names
        self.n_permutations, self.draws = n_permutations, draws
        self.target_names = target_names
        self._labellings, self.all_rows, self.rounds, self.sites = labellings, all_rows, rounds, sites

    @classmethod
    def _start(cls, selector: Any, source: Source) -> Self:
        """Make a summary without rounds that knows the method, the columns and the classes of a source."""
        names = getattr(selector, "feature_names_in_", None)
        names = None if names is None else [str(name) for name in names]
        n_permutations, permuted = source.n_permutations, source.permuted
        labellings = with_both_values(source.labellings, len(source.labellings) // (1 + n_permutations))
        target = getattr(selector, "target_name_", None)
        targets = frozenset[Any]() if target is None else frozenset({target})
        draws = frozenset[str]() if permuted is None else frozenset({permuted.digest()})
        return cls(
            describe(selector), source.n_features, names, labellings, source.all_rows,
            target_names=targets, n_permutations=n_permutations, draws=draws,
        )  # fmt: skip

    def _fields(self) -> dict[str, Any]:
        names = ["method", "n_features", "feature_names", "all_rows", "rounds", "sites", "target_names"]
        names += ["n_permutations", "draws"]
        return {name: getattr(self, name) for name in names} | {"labellings": self._labellings}

    def _replaced(self, **fields: Any) -> Self:
        return type(self)(**self._fields() | fields)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_requests"}

    def __repr__(self) -> str:
        counts = (
            (self.n_rows, "row"),
            (self.n_features, "feature"),
            (len(self.sites), "site"),
            (self.n_rounds, "round"),
        )
        texts = [f"{count} {word if count == 1 else word + 's'}" for count, word in counts]
        return f"<Summary for {title_of(self.method)}: {', '.join(texts)}>"

    # The interface of a source, which selectors read.

    @property
    def labellings(self) -> tuple[Classes, ...]:  # type: ignore[override]
        """Classes of each labelling; only those that have rows, once rows were read."""
        return tuple(map(with_rows, self._labellings)) if self.rounds else self._labellings

    @property
    def has_labels(self) -> bool:  # type: ignore[override]
        """True if rows have labels."""
        return bool(self._labellings)

    @property
    def target_name(self) -> Any:
        """Name of the column of the labels; None if no site has named one, or sites have named different ones."""
        return next(iter(self.target_names)) if len(self.target_names) == 1 else None

    def blocks(self, columns: Integers | None = None) -> Iterator[RowBlock]:  # noqa: ARG002
        """Raise a TypeError: a summary holds no rows.

        Parameters
        ----------
        columns : ndarray of int, optional
            Columns to read; all of them by default.
        """
        raise TypeError("a summary holds no rows: give the rows themselves")

    def with_classes(self, labellings: tuple[Classes, ...]) -> NoReturn:  # noqa: ARG002
        """Raise a TypeError: a summary holds no rows.

        Parameters
        ----------
        labellings : tuple of Classes
            Classes of each labelling.
        """
        raise TypeError("a summary holds no rows: give the rows themselves")

    def with_permutations(
        self,
        n_permutations: int,
        random_state: int | np.random.Generator | None = 0,  # noqa: ARG002
        groups: NDArray[Any] | None = None,
    ) -> Self:
        """Return this summary, whose sites have permuted the labels of their rows; raise if there are too few.

        Parameters
        ----------
        n_permutations : int
            Number of permutations that are needed.
        random_state : int, numpy.random.Generator or None, default=0
            Not used: every site has drawn its own permutations.
        groups : None
            Given to `ilfs.summarise` by every site for its own rows.

        Returns
        -------
        Summary
            This summary, with all its permutations.
        """
        if groups is not None:
            raise ValueError("groups must be None for a summary, which holds no rows: give them to ilfs.summarise")
        if n_permutations > self.n_permutations:
            raise ValueError(
                f"the summary has {self.n_permutations} permutations of the labels, and {n_permutations} are needed: "
                f"let every site call ilfs.summarise with selector={title_of(self.method)}(n_permutations="
                f"{n_permutations})"
            )
        return self

    @property
    def is_within_groups(self) -> bool:  # type: ignore[override]
        """True if several sites have permuted their labels, each within its own rows."""
        return len(self.draws) > 1

    # Rounds

    @property
    def n_rounds(self) -> int:
        """Number of rounds, that is, how often the rows were read."""
        return len(self.rounds)

    @property
    def n_rows(self) -> int:
        """Number of rows that were read in the last round."""
        return self.rounds[-1].n_rows if self.rounds else 0

    @property
    def is_complete(self) -> bool:
        """True if no further round is needed: ``fit`` takes this summary."""
        return self._has_all_rows and self._requests is None

    @property
    def _has_all_rows(self) -> bool:
        return all(one.n_rows == self.rounds[0].n_rows for one in self.rounds)

    def engine(self) -> Recorded:
        """Return an engine that answers from this summary; raise an error if sites are missing in the last round."""
        if not self._has_all_rows:
            raise ValueError(
                f"round {self.n_rounds} must have the {self.rounds[0].n_rows} rows of round 1, got {self.n_rows}: "
                "merge the summaries of all sites, each of them once"
            )
        n_labels = len(self._labellings) // (1 + self.n_permutations)
        return Recorded(self.n_features, self.labellings, self.all_rows, self.rounds, n_labels)

    @cached_property
    def _requests(self) -> list[Read[Any]] | None:
        """Requests of the next round; None if there is none."""
        selector = make(self.method)
        selector._set_columns(self)
        if self.n_permutations:
            selector.n_permutations_ = self.n_permutations
        return next_requests(selector, self.engine())

    @classmethod
    def _first_round(cls, selector: Any, source: Source) -> Self:
        """Compute the statistics of the first round for a selector that knows its columns."""
        start = cls._start(selector, source)
        vars(start)["_requests"] = next_requests(selector._clone_for_label(), start.engine())
        return start._next_round(source, selector.n_jobs)

    def _next_round(self, source: Source, n_jobs: int | None = None, sites: frozenset[str] = frozenset()) -> Self:
        """Compute the statistics of the next round from the rows of a source, which are those of one site."""
        reads = self._requests
        if reads is None:
            title = title_of(self.method)
            raise ValueError(f"the summary is complete after {self.n_rounds} rounds: fit it, {title}().fit(summary)")
        separated = separate_reads(reads)
        check_statistics(separated, title_of(self.method))
        statistics = separate_statistics(fold_of(source.with_classes(self.labellings), n_jobs).read(reads))
        pairs = zip(statistics, separated, strict=True)
        answers = (Answer(statistic, one_labelling(read), read.columns) for statistic, read in pairs)
        last = Round(tuple(answers), int(source.all_rows.rows.sum()))
        return self._replaced(rounds=(*self.rounds, last), sites=sites)

    def check_method(self, selector: Any) -> None:
        """Raise an error unless this summary was made for the method and parameters of a selector.

        Parameters
        ----------
        selector : estimator
            A selector of this library.
        """
        check_same(self.method, describe(selector), "in the summary and the selector")

    # Merging

    def merge(self, *others: "Summary") -> Self:
        """Merge this summary with those of other sites, of the same round.

        Parameters
        ----------
        *others : Summary
            Summaries for the same method, parameters and columns. In the first round sites may have different
            classes. Later rounds must have begun with the same merged summary.

        Returns
        -------
        Summary
            The summary of the rows of all of them. The order in which summaries are merged changes it at most by
            rounding.
        """
        merged = self
        for other in others:
            merged = merged._merge(other)
        return merged

    def _merge(self, other: Any) -> Self:
        if not isinstance(other, Summary):
            raise TypeError(f"merge takes summaries, got {type(other).__name__}")
        check_same(self.method, other.method, "in all summaries")
        check_same_columns(self, other)
        check_same_round(self, other)
        merged = self._merge_first(other) if self.n_rounds == 1 else self._merge_later(other)
        return merged._replaced(target_names=self.target_names | other.target_names, draws=self.draws | other.draws)

    def _merge_first(self, other: "Summary") -> Self:
        """Merge first rounds, after giving both the classes of the other one."""
        labellings = tuple(map(united, self._labellings, other._labellings))
        first, second = (
            summary.rounds[0].with_classes(list(map(places_in, summary._labellings, labellings)), labellings)
            for summary in (self, other)
        )
        merged = self._replaced(labellings=labellings, all_rows=united(self.all_rows, other.all_rows))
        return merged._with_last(first, second, self.sites | other.sites)

    def _merge_later(self, other: "Summary") -> Self:
        """Merge later rounds, which must have the same earlier rounds."""
        same = same_classes((*self._labellings, self.all_rows), (*other._labellings, other.all_rows))
        before = zip(self.rounds[:-1], other.rounds[:-1], strict=True)
        if not same or not all(one.equals(two) for one, two in before):
            raise ValueError(
                f"summaries of round {self.n_rounds} must begin with the same merged summary of round "
                f"{self.n_rounds - 1}, but their earlier rounds differ: give one merged file to all sites"
            )
        return self._with_last(self.rounds[-1], other.rounds[-1], self.sites | other.sites)

    def _with_last(self, first: Round, second: Round, sites: frozenset[str]) -> Self:
        if not first.fits(second):
            raise ValueError(
                f"summaries of round {self.n_rounds} must hold the same statistics of the same columns, but do not: "
                "all sites must use the same version of ilfs"
            )
        return self._replaced(rounds=(*self.rounds[:-1], first.merge(second)), sites=sites)

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the summary to a file, which appears complete or not at all.

        Parameters
        ----------
        path : path-like
            The file, usually ``*.npz``; its folder must exist. It holds arrays and text, no pickled objects.
        """
        write_summary(path, self._fields())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a summary from a file. Nothing is unpickled, so a file of unknown origin cannot run code.

        Parameters
        ----------
        path : path-like
            A file that `save` has written.

        Returns
        -------
        Summary
            Equal to the one that was saved.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_wine
        >>> import ilfs
        >>> path = Path(tempfile.mkdtemp(), "north.npz")
        >>> ilfs.summarise(*load_wine(return_X_y=True)).save(path)
        >>> ilfs.Summary.load(path)
        <Summary for ILFS: 178 rows, 13 features, 1 site, 1 round>
        """
        fields = read_summary(path)
        try:
            check_streams(make(fields["method"]))
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{os.fspath(path)} must be a summary for a method of ilfs: {error}") from None
        return cls(**fields)


def one_labelling(read: Read[Any]) -> int | None:
    """Return the labelling of a request that is not for many labellings."""
    assert not isinstance(read.labelling, tuple)
    return read.labelling


def check_statistics(reads: list[Read[Any]], title: str) -> None:
    """Raise an error if a method asks for rows, and not only for statistics of them."""
    if not all(type(read.description) in DESCRIBED for read in reads):
        raise ValueError(
            f"{title} takes a sample of the rows, which a summary must not hold: mutual information needs given edges, "
            "for example MutualInformation(edges=[0.0, 1.0, 2.0])"
        )


def check_same_columns(one: Summary, other: Summary) -> None:
    """Raise an error unless two summaries have the same columns in the same order."""
    if one.n_features != other.n_features:
        raise ValueError(f"all sites must have the same columns, got {one.n_features} and {other.n_features} columns")
    if (one.feature_names is None) != (other.feature_names is None):
        raise ValueError("all sites must have the same columns, got names from one site and none from another")
    for column, (first, second) in enumerate(zip(one.feature_names or (), other.feature_names or (), strict=True)):
        if first != second:
            raise ValueError(
                f"all sites must have the same columns in the same order, but column {column} is {first!r} at one site "
                f"and {second!r} at another"
            )


def check_same_round(one: Summary, other: Summary) -> None:
    """Raise an error unless two summaries are of the same round, of different rows, with as many labels."""
    if one.n_rounds != other.n_rounds:
        raise ValueError(f"both summaries must be of the same round, got rounds {one.n_rounds} and {other.n_rounds}")
    if one.sites & other.sites:
        raise ValueError("each summary may be merged once, but both contain the summary of the same site")
    if one.n_permutations != other.n_permutations:
        raise ValueError(
            f"all sites must make as many permutations of the labels, got {one.n_permutations} and "
            f"{other.n_permutations}: give all sites the same n_permutations and fdr"
        )
    n_labels, n_others = (len(some._labellings) // (1 + some.n_permutations) for some in (one, other))
    if n_labels != n_others:
        raise ValueError(f"y must have as many labels at all sites, got {n_labels} and {n_others}")
