"""Formats that hold a matrix of features apart from the classes: npz, mat, svmlight, h5ad, registered data sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.datasets.checks import quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.loading import load
from ilfs.datasets.npz import NpzArrays
from ilfs.datasets.readers import read_table
from ilfs.importing import check_installed
from ilfs.preparing.choice import possible_features
from ilfs.preparing.inputs import Input
from ilfs.preparing.leaks import leak_warnings, same_partition
from ilfs.preparing.options import Account, Options
from ilfs.preparing.prepared import PreparedTable
from ilfs.preparing.raw_columns import RawColumn, column_of_objects
from ilfs.preparing.targets import check_classes, guessed_target, no_target
from ilfs.reading.entry import open_table
from ilfs.sources import Source, TableSource, table_source
from ilfs.sources.anndata import obs_column

SVMLIGHT_ENDINGS = (".svmlight", ".libsvm", ".svm")
MAX_NAMED_FEATURES = 2**20  # features without names up to which names are made up, so that columns can be chosen


@dataclass(frozen=True)
class Beside:
    """Name of the target, groups, and names of the rows of a file that holds a matrix."""

    target: str | None = None
    groups: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None


def prepare_matrix(found: Input, options: Options) -> PreparedTable:
    """Make an input ready whose features are a matrix."""
    refuse_roles(found, options)
    account = Account()
    if found.ending == ".h5ad":
        return prepare_h5ad(found, options, account)
    if found.ending in SVMLIGHT_ENDINGS:
        source = opened(found, options, None, ())
        return chosen_from(source, found, options, account, Beside())
    table = dataset_of(found, options)
    y = table.y if table.is_multilabel else np.array(table.class_names)[table.y]
    names = None if table.feature_names is None else list(table.feature_names)
    target = None if options.target is None else str(options.target)
    beside = Beside(target, npz_groups(found, options, table))
    return chosen_from(table_source(table.X, y, None, names), found, options, account, beside)


def refuse_roles(found: Input, options: Options) -> None:
    """Raise for parameters that need a table with columns."""
    is_h5ad = found.ending == ".h5ad"
    for role, given in (
        ("samples", options.samples),
        ("transpose", options.transpose or None),
        ("encode", options.encode or None),
        ("id", options.id),
        ("weight", None if is_h5ad else options.weight),
        ("groups", None if is_h5ad or found.ending == ".npz" else options.groups),
        ("target", options.target if found.is_dataset or found.ending in SVMLIGHT_ENDINGS else None),
    ):
        if given is not None:
            what = "a registered data set" if found.is_dataset else f"a {found.ending} file"
            raise ValueError(f"{role} must be left out for {found.name}, {what}, got {given!r}")


def dataset_of(found: Input, options: Options) -> Dataset:
    """Load a registered data set, or a file that holds a matrix and classes."""
    if found.is_dataset:
        return load(found.name)
    return read_table(found.files[0], options.target)


def npz_groups(found: Input, options: Options, table: Dataset) -> NDArray[Any] | None:
    """Return the groups of a data set, or those in an array of an npz file."""
    if options.groups is None:
        return table.groups
    parts = NpzArrays(found.files[0], DEFAULT_LIMITS)
    if options.groups not in parts:
        raise ValueError(f"groups must be an array of {found.name} ({', '.join(parts)}), got {options.groups!r}")
    groups = np.asarray(parts[options.groups])
    if groups.shape != (table.n_samples,):
        raise ValueError(f"groups must have a value for each of {table.n_samples} rows, got shape {groups.shape}")
    return groups


def opened(found: Input, options: Options, target: Any, drop: Sequence[str]) -> Source:
    """Open a file, in memory or in blocks."""
    engine: Any = options.engine
    return open_table(found.path, target, drop, options.memory_limit, weight=options.weight, engine=engine)


def prepare_h5ad(found: Input, options: Options, account: Account) -> PreparedTable:
    """Make an h5ad file ready: target, weight and groups are columns of its observations."""
    check_installed("anndata", "omics", f"reading {found.name}")
    import anndata

    try:
        adata = anndata.read_h5ad(found.files[0], backed="r")
    except Exception as error:  # h5py and anndata raise almost anything for a damaged file
        raise ValueError(f"{found.name} must be a complete .h5ad file: {str(error).splitlines()[0]}") from None
    try:
        columns = {str(name): column_of_objects(plain_values(adata.obs[name])) for name in adata.obs.columns}
        ids, names = np.array([str(name) for name in adata.obs_names]), [str(name) for name in adata.var_names]
        groups = None if options.groups is None else obs_column(adata, "groups", options.groups, found.name)
    finally:
        adata.file.close()
    target = options.target if options.target is not None else guess_in_obs(columns, found, options, account)
    dropped = dropped_names(names, options, account)
    source = opened(found, options, target, dropped)
    beside = Beside(None if target is None else str(target), groups, ids)
    with_role = {target, options.weight, options.groups}
    account.put_aside([name for name in columns if name not in with_role], "is a column of obs")
    others = {name: column for name, column in columns.items() if name not in (target, options.weight)}
    return chosen_from(source, found, options, account, beside, others, is_chosen=True)


def plain_values(column: Any) -> list[Any]:
    """Return the values of a pandas column as Python objects, None if missing."""
    values = column.astype(object).tolist()
    return [None if value is None or value != value else value for value in values]


def guess_in_obs(columns: dict[str, RawColumn], found: Input, options: Options, account: Account) -> str | None:
    """Guess the target among the columns of the observations."""
    free = {name: column for name, column in columns.items() if name not in options.roles.values()}
    target = guessed_target(free, f"{found.name}.obs", account)
    if target is None and options.needs_target:
        raise no_target(free, f"{found.name}.obs", "")
    return target


def dropped_names(names: Sequence[str], options: Options, account: Account) -> list[str]:
    """Return the features that are dropped or not chosen; target, weights and groups are not among the features."""
    kept = set(possible_features(names, None, replace(options, id=None, weight=None, groups=None), account))
    return [name for name in names if name not in kept]


def chosen_from(
    source: Source,
    found: Input,
    options: Options,
    account: Account,
    beside: Beside,
    others: dict[str, RawColumn] | None = None,
    is_chosen: bool = False,
) -> PreparedTable:
    """Choose the features of a source; one that is not in memory is taken as it is."""
    if isinstance(source, TableSource):
        labels = source.y
        if labels is not None and labels.ndim == 1:
            check_classes(labels, beside.target or "the target", found.name, account)
        if source.feature_names is not None or source.n_features <= MAX_NAMED_FEATURES:
            source = varying(source, found, options, account, is_chosen)
            if labels is not None and labels.ndim == 1:
                named = source.feature_names or []
                account.warnings += leak_warnings(source.to_matrix(), named, labels, beside.target)
                account.warnings += same_partition(others or {}, labels, beside.target)
    elif (options.drop or options.only) and not is_chosen:
        raise ValueError(f"drop and only must be left out for {found.name}, as its columns have no names")
    source.target_name = beside.target
    notes = tuple(account.guesses), tuple(account.set_aside), tuple(account.warnings)
    return PreparedTable(source, found.name, beside.target, *notes, beside.groups, beside.ids)


def varying(source: TableSource, found: Input, options: Options, account: Account, is_chosen: bool) -> TableSource:
    """Return a table with the features that vary and were not dropped; all of them have names."""
    X = source.to_matrix()
    names = [f"x{j}" for j in range(X.shape[1])] if source.feature_names is None else list(source.feature_names)
    dropped = set() if is_chosen else set(dropped_names(names, options, account))
    low, high = extremes(X)
    if np.isinf(low).any() or np.isinf(high).any():
        j = int(np.flatnonzero(np.isinf(low) | np.isinf(high))[0])
        column = X.tocsc()[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]
        row = int(np.flatnonzero(np.isinf(column))[0])
        raise ValueError(
            f"column {quoted(names[j])} of {found.name} must be finite, got {column[row]} in row {row + 1}"
        )
    constant = np.flatnonzero(~(low < high)).tolist()
    for j in constant:
        if names[j] not in dropped:
            reason = "has no values" if np.isnan(low[j]) else f"has the same value, {low[j]:g}, in all rows"
            account.put_aside([names[j]], reason)
    left_out = {*constant, *(j for j, name in enumerate(names) if name in dropped)}
    kept = [j for j in range(len(names)) if j not in left_out]
    if not kept:
        raise ValueError(f"{found.name} must have at least one feature that varies, got none")
    X = X if len(kept) == len(names) else X.tocsc()[:, kept].tocsr() if sparse.issparse(X) else X[:, kept]
    return table_source(X, source.y, source.sample_weight, [names[j] for j in kept])


def extremes(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the least and greatest value of each column, without missing ones."""
    if not sparse.issparse(X):
        return np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    columns = X.tocsc()
    low, high = (np.asarray(reduce(axis=0).todense()).ravel() for reduce in (columns.nanmin, columns.nanmax))
    return low, high
