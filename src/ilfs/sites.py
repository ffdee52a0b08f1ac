"""Statistics of rows that live in different places and may not be moved, such as the patients of several hospitals."""

import secrets
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ilfs.methods import ILFS
from ilfs.methods.novelty import takes_weight
from ilfs.parameters import is_integer
from ilfs.registry import classes_with
from ilfs.sources import Source
from ilfs.sources.permutations import SEED_KEY
from ilfs.summaries import Summary
from ilfs.summaries.method import check_streams, describe, make
from ilfs.summaries.summary import check_same_columns
from ilfs.warn import warn

SITE_BYTES = 8  # random bytes in the name of a summary
MIN_CLASS_ROWS = 3  # mean and sum of squares of fewer rows determine their values


def summarise(
    X: Any,
    y: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    after: Summary | None = None,
    selector: Any = None,
    groups: ArrayLike | None = None,
) -> Summary:
    """Summarise the rows of one site, for a fit on the rows of several sites that may not be moved.

    A method reads its rows a few times, and each read is a round. In each round every site calls this function, the
    results are merged, and the merged summary is given to the next round as ``after``, until it is complete. The fit is
    then that of all rows in one place: the same order, and scores that differ at most by rounding.

    Parameters
    ----------
    X : array, data frame, sparse matrix or source
        Rows of this site, at least one, in any form that ``fit`` takes. All sites must have the same columns. The rows
        must not change between rounds.
    y : array of shape (n_samples,) or (n_samples, n_labels), or str
        Labels as for ``fit``. A site need not have rows of all classes.
    sample_weight : array of shape (n_samples,), optional
        Weight of each row.
    after : Summary, optional
        The merged summary of the round before; None for the first round.
    selector : estimator, optional
        Method to be fitted; by default that of ``after``, or ``ILFS()`` in the first round. Its number of features is
        not used, so it can be chosen in the final fit. If it makes permutations, for example ``ILFS("fdr")``, labels
        are permuted within each site. All sites must then make as many permutations, and each site must use the same
        ``random_state``, an integer, in all rounds.
    groups : array of shape (n_samples,), optional
        Group of each row of this site; its labels are then permuted within these groups only.

    Returns
    -------
    Summary
        The rounds of ``after`` and one more, which holds the rows of this site only.

    Examples
    --------
    >>> from functools import reduce
    >>> from sklearn.datasets import load_breast_cancer
    >>> import ilfs
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> sites = [slice(0, 200), slice(200, 450), slice(450, 569)]
    >>> merged = None
    >>> while merged is None or not merged.is_complete:
    ...     first, *others = [ilfs.summarise(X[rows], y[rows], after=merged) for rows in sites]
    ...     merged = first.merge(*others)
    >>> merged
    <Summary for ILFS: 569 rows, 30 features, 3 sites, 3 rounds>
    >>> ilfs.ILFS().fit(merged).order_[:3].tolist() == ilfs.ILFS().fit(X, y).order_[:3].tolist()
    True
    """
    chosen = summarised_method(selector, after)
    if sample_weight is not None and not takes_weight(chosen):
        raise TypeError(f"sample_weight needs a method that supports it ({classes_with('weights')})")
    source = permuted_at_site(chosen._source_of(X, y, sample_weight, min_rows=1), chosen, after, groups)
    with chosen._named_columns():
        start = Summary._start(chosen, source)
        if after is None:
            warn_of_few_rows(source)
        else:
            check_same_columns(after, start)
            check_same_draws(after, start)
        return (after or start)._next_round(source, chosen.n_jobs, frozenset({secrets.token_hex(SITE_BYTES)}))


def summarised_method(selector: Any, after: Any) -> Any:
    """Return an unfitted selector of the method to be summarised, after checking that it needs only statistics."""
    if after is not None and not isinstance(after, Summary):
        raise TypeError(f"after must be a Summary, the merged one of the round before, got {type(after).__name__}")
    if selector is None:
        chosen = ILFS() if after is None else make(after.method)
    else:
        make(describe(selector))  # raises an error if this is not a method of ilfs
        chosen = clone(selector)
    check_streams(chosen)
    if after is not None:
        after.check_method(chosen)
    return chosen


def permuted_at_site(source: Source, selector: Any, after: Summary | None, groups: ArrayLike | None) -> Source:
    """Permute the labels of the rows of a site, as often as in the round before or as the method needs.

    The random numbers depend on the sizes of the classes, too, so that sites with the same ``random_state`` draw
    different permutations.
    """
    n_permutations = after.n_permutations if after is not None else getattr(selector, "_n_permutations_to_make", int)()
    if not n_permutations:
        return source
    seed = selector.random_state
    if not is_integer(seed):
        raise ValueError(f"random_state must be an integer, since all rounds use the same permutations, got {seed!r}")
    sizes = [int(n) for classes in source.labellings for n in classes.rows]
    rng = np.random.default_rng(np.random.SeedSequence([int(seed), *sizes], spawn_key=(SEED_KEY,)))
    return source.with_permutations(n_permutations, rng, None if groups is None else np.asarray(groups))


def check_same_draws(after: Summary, start: Summary) -> None:
    """Raise an error if labels are permuted in another way than in the round before."""
    if not start.draws <= after.draws:
        raise ValueError(
            "random_state, groups and the rows of a site must be those of the round before, but its labels are "
            "permuted in another way: give the same selector in all rounds"
        )


def warn_of_few_rows(source: Source) -> None:
    """Warn if a class has so few rows, or if there are so many permutations, that statistics reveal the rows."""
    n_labels, n_permutations = len(source.labellings) // (1 + source.n_permutations), source.n_permutations
    observed = source.labellings[:n_labels]
    n_rows, n_sums = int(source.all_rows.rows.sum()), sum(one.n_classes for one in source.labellings)
    if n_permutations and n_rows <= n_sums:
        warn(
            f"the summary reveals the rows: {n_permutations} permutations give {n_sums} sums of each feature, from "
            f"which the values of {n_rows} rows follow for those who know the permutations; make fewer permutations, "
            "or use a random_state that nobody else knows"
        )
    for number, classes in enumerate(observed or (source.all_rows,)):
        sizes = zip(classes.labels.tolist(), classes.rows.tolist(), strict=True)
        few = [f"{label!r} ({n} of at least {MIN_CLASS_ROWS} rows)" for label, n in sizes if 0 < n < MIN_CLASS_ROWS]
        if few:
            where = f"label {number}: " if len(observed) > 1 else ""
            warn(
                f"{where}the summary reveals the rows of class {', '.join(few)}: their values follow from their mean "
                "and sum of squares; leave such rows out, or share the summary only with those who may see them"
            )
