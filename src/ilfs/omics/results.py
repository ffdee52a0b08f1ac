"""Results of a ranking, in the shape of ``scanpy.tl.rank_genes_groups``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.effects import standardised
from ilfs.importing import import_object
from ilfs.methods import ILFS
from ilfs.omics.grouping import Groups
from ilfs.statistics.profile import ClassProfile
from ilfs.ties import UNIT_FLOOR, stable_order

REST, IN_GROUP = 0, 1  # classes of the indicator of a group
CHANCE_RELEVANCE = 0.5  # of a gene that does not tell the group from the rest
GENE_COLUMNS = ("rank", "score", "pvals_adj", "group", "group_score")  # of adata.var, behind the key of the result
FOLD_CHANGE_OFFSET = 1e-9  # scanpy adds it to both means, so that no fold change is infinite


@dataclass(frozen=True)
class GroupResult:
    """Result of one group; each array has one value for each gene, in the order of the columns.

    Parameters
    ----------
    scores : ndarray of shape (n_genes,)
        Signed scores.
    effect : ndarray of shape (n_genes,)
        Difference of the means in standard deviations, which orders genes of equal scores.
    p_values, q_values : ndarray of shape (n_genes,)
        NaN without permutations.
    fold_change : ndarray of shape (n_genes,)
        Binary logarithm of the fold change; NaN for a gene without values in the group or in the rest.
    expressing, expressing_rest : ndarray of shape (n_genes,)
        Fraction of the values of the group, and of all others, that are not 0; NaN if there are none.
    picks : ndarray of int
        Candidates, in the order in which they are picked.
    chance_p_value : float
        p-value of the best genes together.
    """

    scores: Floats
    effect: Floats
    p_values: Floats
    q_values: Floats
    fold_change: Floats
    expressing: Floats
    expressing_rest: Floats
    picks: Integers
    chance_p_value: float

    @classmethod
    def from_fit(cls, fitted: ILFS, profile: ClassProfile, base: float | None, *, can_move: bool = True) -> Self:
        """Collect the result of a selector that was fitted for the group.

        Parameters
        ----------
        fitted : ILFS
            Selector of the group against the rest.
        profile : ClassProfile
            Means and zeros of the rest and of the group.
        base : float or None
            Base of the logarithms; None for natural ones.
        can_move : bool, default=True
            False if permutations cannot change the labels of this group: its p-values are then 1.
        """
        moments = profile.moments
        difference = moments.offset[IN_GROUP] - moments.offset[REST]
        effect = np.nan_to_num(standardised(difference, moments))
        nothing = np.full(difference.size, np.nan)
        p, q = (getattr(fitted, name, nothing) for name in ("p_values_", "q_values_"))
        if not can_move:
            p, q = np.where(np.isnan(p), p, 1.0), np.where(np.isnan(q), q, 1.0)
        has_values = moments.count > 0
        zeros = np.divide(profile.zeros, moments.count, out=np.full(moments.count.shape, np.nan), where=has_values)
        fold_change = log_fold_change(moments.mean[IN_GROUP], moments.mean[REST], base)
        return cls(
            signed_scores(fitted.relevance_, difference),
            effect,
            p,
            q,
            np.where(has_values.all(axis=0), fold_change, np.nan),
            1.0 - zeros[IN_GROUP],
            1.0 - zeros[REST],
            fitted.order_[: fitted.candidates_.size],
            getattr(fitted, "chance_p_value_", np.nan) if can_move else 1.0,
        )

    def order(self, by_size: bool) -> Integers:
        """Return the genes by falling score, or by its absolute value; equal scores by the effect."""
        scores, effect = self.scores, self.effect
        if by_size:
            scores, effect = np.abs(scores), np.abs(effect)
        return stable_order(scores, effect, UNIT_FLOOR, UNIT_FLOOR)


def signed_scores(relevance: Floats, difference: Floats) -> Floats:
    """Return ``2 * relevance - 1``, at least 0, with the sign of the difference of the means.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.omics.results import signed_scores
    >>> signed_scores(np.array([0.9, 0.75, 0.4]), np.array([1.5, -0.2, 3.0])).round(3).tolist()
    [0.8, -0.5, 0.0]
    """
    size = np.maximum(relevance - CHANCE_RELEVANCE, 0.0) / (1.0 - CHANCE_RELEVANCE)
    return np.asarray(np.where(size > 0, size * np.sign(difference), 0.0))


def log_fold_change(mean: Floats, mean_rest: Floats, base: float | None = None) -> Floats:
    """Return the binary logarithm of the fold change of means of logarithms, as scanpy computes it.

    Parameters
    ----------
    mean, mean_rest : ndarray of shape (n_genes,)
        Means of ``log1p`` values in the group and in the rest.
    base : float or None, default=None
        Base of the logarithms; None for natural ones.

    Returns
    -------
    ndarray of shape (n_genes,)
        NaN if a mean is that of values that are no logarithms of counts.

    Examples
    --------
    The means are log1p(3) and log1p(1), so the quotient is 3:

    >>> import numpy as np
    >>> from ilfs.omics.results import log_fold_change
    >>> log_fold_change(np.log1p([3.0]), np.log1p([1.0])).round(4).tolist()  # log2(3)
    [1.585]
    """
    scale = 1.0 if base is None else np.log(base)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        quotient = (np.expm1(mean * scale) + FOLD_CHANGE_OFFSET) / (np.expm1(mean_rest * scale) + FOLD_CHANGE_OFFSET)
        return np.asarray(np.log2(quotient))


def log_base(adata: Any) -> float | None:
    """Return the base of the logarithms that ``scanpy.pp.log1p`` has noted; None for natural ones."""
    noted = adata.uns.get("log1p", {})
    base = noted.get("base") if hasattr(noted, "get") else None
    return None if base is None else float(base)


@dataclass(frozen=True)
class Ranked:
    """All results of a ranking.

    Parameters
    ----------
    genes : ndarray of shape (n_genes,)
        Names of the genes.
    groups : Groups
        The groups.
    results : list of GroupResult
        Result of each group.
    selector : ILFS
        Fitted for all groups together.
    """

    genes: NDArray[Any]
    groups: Groups
    results: list[GroupResult]
    selector: ILFS


def store(adata: Any, key: str, ranked: Ranked, params: dict[str, Any], n_genes: int | None, rankby_abs: bool) -> None:
    """Write the results to ``adata.uns`` and ``adata.var``; everything is computed before anything is written."""
    shaped = scanpy_shape(ranked, n_genes, rankby_abs) | {
        "params": params | {"version": import_object("ilfs.__version__")}
    }
    columns = gene_columns(ranked)
    adata.uns[key] = shaped
    for name, values in columns.items():
        adata.var[f"{key}_{name}"] = aligned(adata, ranked.genes, values)


def scanpy_shape(ranked: Ranked, n_genes: int | None, rankby_abs: bool) -> dict[str, Any]:
    """Arrange the results as record arrays and data frames, as scanpy does."""
    names, results = ranked.groups.names, ranked.results
    orders = [one.order(rankby_abs)[:n_genes] for one in results]
    highest = np.max([one.scores for one in results], axis=0)

    def records(values: Callable[[GroupResult], NDArray[Any]]) -> NDArray[Any]:
        return record_array(names, [values(one)[order] for one, order in zip(results, orders, strict=True)])

    return {
        "names": record_array(names, [ranked.genes[order] for order in orders]),
        "scores": records(lambda one: one.scores),
        "pvals": records(lambda one: one.p_values),
        "pvals_adj": records(lambda one: one.q_values),
        "logfoldchanges": records(lambda one: one.fold_change),
        "is_highest": records(lambda one: one.scores >= highest),
        "picks": record_array(names, [ranked.genes[one.picks] for one in results]),
        "groups": group_frame(ranked),
    } | expression(ranked, records)


def expression(
    ranked: Ranked, records: Callable[[Callable[[GroupResult], NDArray[Any]]], NDArray[Any]]
) -> dict[str, Any]:
    """Return the fractions of expressing cells: data frames, as scanpy has them, if files can hold their columns.

    anndata writes each column under the name of its group, and a name with a slash would be that of a folder.
    """
    if any("/" in name for name in ranked.groups.names):
        return {
            "pct_nz_group": records(lambda one: one.expressing),
            "pct_nz_reference": records(lambda one: one.expressing_rest),
        }
    return {
        "pts": fractions(ranked, [one.expressing for one in ranked.results]),
        "pts_rest": fractions(ranked, [one.expressing_rest for one in ranked.results]),
    }


def record_array(names: list[str], columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Make a record array with one field for each group; shorter columns are filled with empty names."""
    length = max(column.size for column in columns)
    records = np.empty(length, dtype=[(name, column.dtype) for name, column in zip(names, columns, strict=True)])
    for name, column in zip(names, columns, strict=True):
        records[name][: column.size] = column
        if column.size < length:
            records[name][column.size :] = "" if column.dtype == object else np.nan
    return records


def fractions(ranked: Ranked, columns: list[Floats]) -> Any:
    """Make a data frame with a row for each gene and a column for each group."""
    import pandas as pd

    names = pd.Index(ranked.groups.names, dtype=object)  # anndata cannot write all string types of pandas
    return pd.DataFrame(np.column_stack(columns), index=pd.Index(ranked.genes, dtype=object), columns=names)


def group_frame(ranked: Ranked) -> Any:
    """Make a data frame with a row for each group: its number of cells, and the test of its best genes together."""
    import pandas as pd

    columns = {"n_cells": ranked.groups.sizes, "chance_pval": [one.chance_p_value for one in ranked.results]}
    return pd.DataFrame(columns, index=pd.Index(ranked.groups.names, dtype=object))


def gene_columns(ranked: Ranked) -> dict[str, NDArray[Any]]:
    """Return what is written to ``adata.var``: one value for each gene, for all groups together."""
    scores = np.array([one.scores for one in ranked.results])
    best = scores.argmax(axis=0)
    highest = scores[best, np.arange(best.size)]
    nothing = np.full(best.size, np.nan)
    names = np.array([*ranked.groups.names, ""], dtype=object)
    values = {
        "rank": ranked.selector.ranking_.astype(np.int64),
        "score": ranked.selector.scores_,
        "pvals_adj": getattr(ranked.selector, "q_values_", nothing),
        "group": names[np.where(highest > 0, best, -1)],
        "group_score": highest,
    }
    assert tuple(values) == GENE_COLUMNS
    return values


def aligned(adata: Any, genes: NDArray[Any], values: NDArray[Any]) -> Any:
    """Return values in the order of ``adata.var``, whose genes may be others than those of ``adata.raw``."""
    import pandas as pd

    wanted = [str(name) for name in adata.var_names]
    if list(genes) != wanted:
        values = pd.Series(values, index=pd.Index(genes, dtype=object)).reindex(wanted).to_numpy()
    if values.dtype != object:
        return values
    texts = np.array([name if isinstance(name, str) else "" for name in values], dtype=object)
    if not isinstance(adata.var, pd.DataFrame):
        return texts
    return pd.Categorical(texts, categories=pd.Index(sorted(set(texts)), dtype=object))
