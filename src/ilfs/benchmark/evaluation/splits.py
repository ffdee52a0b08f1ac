"""Training and test rows of a split: by classes, by groups, by given folds, or as published with the data set."""

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from ilfs.arrays import Integers
from ilfs.datasets import Dataset

TrainAndTest = tuple[Integers, Integers]
MAX_DRAWS = 200  # random divisions of the groups
MAX_COMPARED_DRAWS = 20  # valid divisions, of which the best balanced one is taken


def n_splits_of(table: Dataset, n_splits: int) -> int:
    """Number of splits of a data set: at most its number of folds, if it has any."""
    return n_splits if table.folds is None else min(n_splits, int(table.folds.max()) + 1)


def n_test_of(table: Dataset, test_fraction: float) -> int:
    """Number of test rows of a split: the mean size of a fold if there are folds, else the given fraction."""
    fraction = test_fraction if table.folds is None else 1 / (int(table.folds.max()) + 1)
    return int(np.ceil(fraction * table.n_samples))


def split_rows(table: Dataset, split: int, test_fraction: float, seed: int) -> TrainAndTest:
    """Split the rows of a data set into training and test rows, both ascending.

    Parameters
    ----------
    table : Dataset
        The data set. If it has test rows, there is one split; if it has folds, fold i is the test set of split i; if it
        has groups, none of them is in both parts.
    split : int
        Number of the split.
    test_fraction : float
        Fraction of the samples of each class for testing, if the data set has no test rows and no folds.
    seed : int
        Seed of this split.

    Returns
    -------
    train, test : ndarray of int
        Every class is in both, except that the test rows of a given fold may lack classes.
    """
    if table.test_rows is not None:
        if split:
            raise ValueError(f"data set {table.name} has one split, the published one, got split {split}")
        return np.flatnonzero(~table.test_rows), np.flatnonzero(table.test_rows)
    if table.folds is not None:
        return fold_rows(table, table.folds, split)
    labels = strata(table.y) if table.is_multilabel else table.y
    rng = np.random.default_rng(seed)
    if table.groups is not None:
        return group_rows(table, labels, table.groups, test_fraction, rng)
    check_class_sizes(table, labels, test_fraction)
    shuffle = StratifiedShuffleSplit(1, test_size=test_fraction, random_state=seed)
    train, test = next(shuffle.split(labels, labels))
    return with_every_class(np.sort(train), np.sort(test), labels, rng)


def strata(Y: Integers) -> Integers:
    """Strata for samples with several labels: the rarest label of each sample.

    Strata with a single sample are merged; if there is only one such sample, it joins the largest stratum.
    """
    count = (Y == 1).sum(axis=0)
    rarest = np.where(Y == 1, count, len(Y) + 1).argmin(axis=1)
    stratum = np.where((Y == 1).any(axis=1), rarest, Y.shape[1])
    size = np.bincount(stratum, minlength=Y.shape[1] + 1)
    alone = size[stratum] < 2
    return np.where(alone, -1 if alone.sum() > 1 else size.argmax(), stratum)


def check_class_sizes(table: Dataset, labels: Integers, test_fraction: float) -> None:
    """Raise an error if a class or the table is too small to have every class in training and test rows."""
    values, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < 2:
        name = table.class_names[values[sizes.argmin()]]
        raise ValueError(
            f"class {name!r} of data set {table.name} must have at least 2 samples, one for training and one for "
            "testing, got 1: remove it or join it with another class"
        )
    n_test = int(np.ceil(test_fraction * len(labels)))
    if min(n_test, len(labels) - n_test) < values.size:
        raise ValueError(
            f"data set {table.name} must have at least as many training rows and as many test rows as the "
            f"{values.size} classes, got {len(labels) - n_test} and {n_test}: change test_fraction or join classes"
        )


def with_every_class(train: Integers, test: Integers, labels: Integers, rng: np.random.Generator) -> TrainAndTest:
    """Move random rows between the parts until each has every class; a stratified draw may miss small classes."""
    for k in np.unique(labels):
        if not (labels[test] == k).any():
            train, test = with_one_moved(train, test, labels == k, rng)
        elif not (labels[train] == k).any():
            test, train = with_one_moved(test, train, labels == k, rng)
    return train, test


def with_one_moved(giving: Integers, taking: Integers, movable: Integers, rng: np.random.Generator) -> TrainAndTest:
    """Move one of the movable rows, drawn at random."""
    row = rng.choice(giving[movable[giving]])
    return giving[giving != row], np.sort(np.append(taking, row))


def fold_rows(table: Dataset, folds: Integers, split: int) -> TrainAndTest:
    """Split by given folds: fold i is the test set of split i."""
    if split > folds.max():
        raise ValueError(f"data set {table.name} has {folds.max() + 1} folds, got split {split}")
    train, test = np.flatnonzero(folds != split), np.flatnonzero(folds == split)
    where = f"fold {split} of data set {table.name}"
    if not table.is_multilabel:
        lacking = np.setdiff1d(np.arange(table.n_classes), table.y[train])
        if lacking.size:
            raise ValueError(
                f"{where} must leave training rows of every class, got no rows of {name_of(table, lacking)}"
            )
        if np.unique(table.y[test]).size < 2:
            raise ValueError(f"{where} must have at least two classes, got only {name_of(table, table.y[test])}")
    if table.groups is not None and (both := np.intersect1d(table.groups[train], table.groups[test])).size:
        raise ValueError(f"{where} must not share groups with the other folds, got {both.size} shared")
    return train, test


def name_of(table: Dataset, codes: Integers) -> str:
    """Quoted name of the first of the given classes."""
    return repr(table.class_names[codes[0]])


def group_rows(
    table: Dataset, labels: Integers, groups: Integers, test_fraction: float, rng: np.random.Generator
) -> TrainAndTest:
    """Split by groups, with no group in both parts and every class in both.

    Groups are drawn at random until the test rows are about as many as wanted. Among the first draws that have every
    class in both parts, the one whose class fractions are nearest to the wanted fraction is used.
    """
    codes = np.unique(labels, return_inverse=True)[1]
    table_of_groups = np.zeros((groups.max() + 1, codes.max() + 1), dtype=int)
    np.add.at(table_of_groups, (groups, codes), 1)
    check_groups(table, labels, table_of_groups)
    total, found = table_of_groups.sum(axis=0), []
    for draw in range(MAX_DRAWS):
        drawn = rng.permutation(len(table_of_groups))
        n_rows = np.cumsum(table_of_groups[drawn].sum(axis=1))
        n_taken = 1 + int(np.abs(n_rows - test_fraction * n_rows[-1]).argmin())
        if draw >= MAX_DRAWS // 2:  # no draw of the wanted size worked: try other sizes
            n_taken = int(rng.integers(1, len(drawn)))
        in_test = table_of_groups[drawn[:n_taken]].sum(axis=0)
        if ((in_test > 0) & (in_test < total)).all():
            found.append((float(np.abs(in_test / total - test_fraction).sum()), drawn[:n_taken]))
        if len(found) == MAX_COMPARED_DRAWS or (found and draw >= MAX_DRAWS // 2):
            break
    if not found:
        raise ValueError(
            f"groups of data set {table.name} must leave every class in training and test rows, "
            f"which none of {MAX_DRAWS} random divisions of its {len(table_of_groups)} groups does"
        )
    is_test = np.isin(groups, min(found, key=lambda one: one[0])[1])
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def check_groups(table: Dataset, labels: Integers, table_of_groups: Integers) -> None:
    """Raise an error if a class is in one group only: it would be in the training or in the test rows, not in both."""
    in_groups = (table_of_groups > 0).sum(axis=0)
    if in_groups.min() > 1:
        return
    value = np.unique(labels)[in_groups.argmin()]
    name = repr(table.class_names[value]) if 0 <= value < table.n_classes else "without a common label"
    raise ValueError(
        f"class {name} of data set {table.name} must be in at least two groups, one for training and one for testing, "
        "got one: remove it or choose other groups"
    )
