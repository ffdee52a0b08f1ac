"""The result of a method does not depend on the engine, the source or the blocks of rows."""

import pickle

import numpy as np
import pytest
from helpers import planted
from metamorphic import small_blocks as blocks_of
from scipy import sparse
from second_engine import IteratedSource, SecondEngine
from sklearn.base import clone

from ilfs import CFS, ILFS, FisherScore, InfFS, MutualInformation, Novelty
from ilfs.execution import Fold, Read, fold_of, limits
from ilfs.execution.merging import FAN_IN, MergeTree, merge_parts
from ilfs.sources import table_source
from ilfs.statistics import Association, Classes, ClassMoments, Moments, Products, RowLabels, Tokens, encode_labels

SELECTORS = {
    "gain": ILFS(n_candidates=8),
    "novelty": ILFS(redundancy="novelty", n_candidates=8),
    "paths": ILFS(redundancy=None),
    "paper": ILFS.paper(),
    "pooled": ILFS(intervals="pooled", n_candidates=8),
    "fisher": FisherScore(),
    "novelty of fisher": Novelty(FisherScore(), n_candidates=8),
    "gain of ilfs": Novelty(ILFS(redundancy=None), redundancy="gain", n_candidates=8),
}
selectors = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def table(n_samples=130, n_features=12, n_classes=3, seed=0):
    """Features with zeros and missing values, classes, and weights, some of which are 0."""
    rng = np.random.default_rng(seed)
    X, y = planted(n_samples, n_features, n_classes=n_classes, seed=seed)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, -1] = 1.0
    return X, np.array(list("abc"))[y], rng.integers(0, 4, size=n_samples) / 2


def heights(n_samples, height):
    """Heights of blocks: all equal, except that the last one may be smaller."""
    return [min(height, n_samples - top) for top in range(0, n_samples, height)]


def fit(selector, X, y, heights, weight=None, n_processes=0):
    return clone(selector)._fit_fold(SecondEngine(IteratedSource(X, y, heights, weight), n_processes))


def assert_same(found, expected, exactly=False):
    np.testing.assert_array_equal(found.order_, expected.order_)
    if exactly:
        np.testing.assert_array_equal(found.scores_, expected.scores_)
    else:
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-12, atol=1e-12)


@selectors
@forms
@pytest.mark.parametrize("uneven", [[130], [1, 60, 2, 67], [13] * 10, [129, 1]], ids=str)
def test_blocks_of_any_height_give_the_same_order(selector, form, uneven):
    X, y, weight = table()
    assert_same(fit(selector, form(X), y, uneven, weight), clone(selector).fit(form(X), y, sample_weight=weight))


@selectors
@pytest.mark.parametrize("height", [7, 16, 64])
def test_equal_block_boundaries_give_equal_bits(selector, height):
    X, y, weight = table(n_samples=70 * 7)
    with blocks_of(height):
        expected = clone(selector).fit(X, y, sample_weight=weight)
        found = fit(selector, X, y, heights(len(X), height), weight)
    assert_same(found, expected, exactly=True)


@selectors
def test_equal_block_boundaries_give_equal_bits_in_a_sparse_table(selector):
    X, y, weight = table()
    X = sparse.csr_array(X)
    assert_same(fit(selector, X, y, [130], weight), clone(selector).fit(X, y, sample_weight=weight), exactly=True)


@pytest.mark.parametrize("selector", [SELECTORS["gain"], SELECTORS["novelty of fisher"]], ids=["ilfs", "novelty"])
@forms
def test_processes_give_the_same_bits(selector, form):
    X, y, weight = table()
    uneven = [50, 1, 79]
    alone = fit(selector, form(X), y, uneven, weight)
    assert_same(fit(selector, form(X), y, uneven, weight, n_processes=2), alone, exactly=True)


def test_the_real_block_height_gives_the_same_bits():
    X, y = planted(n_samples=20_000, n_features=6, shift=0.2)
    found = fit(ILFS(), X, y, heights(len(X), 8192))
    assert_same(found, ILFS(n_jobs=2).fit(X, y), exactly=True)


class TestSeveralLabels:
    def labels(self, n_labels=5):
        X, _, weight = table()
        return X, np.random.default_rng(1).integers(0, 2, size=(len(X), n_labels)), weight

    @selectors
    def test_several_labels_need_as_many_reads_as_one_label(self, selector):
        X, Y, weight = self.labels()
        one, several = IteratedSource(X, Y[:, 0], [130], weight), IteratedSource(X, Y, [130], weight)
        clone(selector)._fit_fold(SecondEngine(one))
        clone(selector)._fit_fold(SecondEngine(several))
        assert several.n_passes == one.n_passes

    def test_ilfs_reads_three_times_whatever_the_number_of_labels(self):
        X, Y, weight = self.labels(n_labels=30)
        source = IteratedSource(X, Y, [60, 70], weight)
        ILFS()._fit_fold(SecondEngine(source))
        assert source.n_passes == 3

    @selectors
    @forms
    def test_several_labels_give_the_same_scores_as_separate_fits(self, selector, form):
        X, Y, weight = self.labels()
        fitted = clone(selector).fit(form(X), Y, sample_weight=weight)
        assert sorted(fitted.per_label_) == list(range(5))
        for label, one in fitted.per_label_.items():
            assert_same(one, clone(selector).fit(form(X), Y[:, label], sample_weight=weight))

    @selectors
    def test_several_labels_give_the_same_scores_on_another_engine(self, selector):
        X, Y, weight = self.labels()
        found = fit(selector, X, Y, [30, 100], weight)
        expected = clone(selector).fit(X, Y, sample_weight=weight)
        assert_same(found, expected)
        np.testing.assert_allclose(found.scores_per_label_, expected.scores_per_label_, rtol=1e-12, atol=1e-12)


OTHERS = {
    "mi": MutualInformation(n_bins=5),
    "mi, auto": MutualInformation(correction="miller-madow"),
    "mi, width": MutualInformation(bins="width", n_bins=4),
    "mi, edges": MutualInformation(edges=[-0.5, 0.0, 0.5, 1.5]),
    "novelty of mi": Novelty(MutualInformation(n_bins=5), n_candidates=8),
}
WITHOUT_LABELS = {
    "cfs": CFS(),
    "inf_fs": InfFS(correlation="pearson"),
    "inf_fs, range": InfFS(correlation="pearson", scale="range"),
}


class TestMethodsThatPreferRows:
    """Methods that use all rows if they are in memory, and statistics of blocks otherwise."""

    @pytest.mark.parametrize("selector", OTHERS.values(), ids=OTHERS)
    @forms
    @pytest.mark.parametrize("uneven", [[130], [1, 60, 2, 67], [13] * 10], ids=str)
    def test_mutual_information_from_blocks_equals_that_from_all_rows(self, selector, form, uneven):
        X, y, weight = table()
        X[:, 2] = np.round(np.nan_to_num(X[:, 2]))  # few distinct values
        assert_same(fit(selector, form(X), y, uneven, weight), clone(selector).fit(form(X), y, sample_weight=weight))

    @pytest.mark.parametrize("selector", OTHERS.values(), ids=OTHERS)
    def test_mutual_information_of_several_labels_equals_that_from_all_rows(self, selector):
        X, _, weight = table()
        Y = np.random.default_rng(1).integers(0, 2, size=(len(X), 4))
        assert_same(fit(selector, X, Y, [50, 80], weight), clone(selector).fit(X, Y, sample_weight=weight))

    @pytest.mark.parametrize("selector", OTHERS.values(), ids=OTHERS)
    @forms
    def test_a_column_without_values_is_like_a_constant_one(self, selector, form):
        X, y, weight = table()
        X[:, 4] = np.nan
        assert_same(fit(selector, form(X), y, [50, 80], weight), clone(selector).fit(form(X), y, sample_weight=weight))

    @pytest.mark.parametrize("selector", WITHOUT_LABELS.values(), ids=WITHOUT_LABELS)
    @forms
    @pytest.mark.parametrize("uneven", [[130], [1, 60, 2, 67]], ids=str)
    def test_scores_from_correlations_of_all_pairs_equal_those_from_all_rows(self, selector, form, uneven):
        X, y, _ = table()
        X = np.nan_to_num(X)
        expected = clone(selector).fit(X)
        found = fit(selector, form(X), y, uneven)
        np.testing.assert_array_equal(found.order_, expected.order_)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9, atol=1e-11)

    def test_the_sample_does_not_depend_on_the_blocks(self, monkeypatch):
        monkeypatch.setattr("ilfs.methods.mutual_information.MAX_SAMPLED_ROWS", 512)
        X, y = planted(n_samples=3000, n_features=5)
        one, other = (fit(MutualInformation(), X, y, blocks) for blocks in ([3000], [7, 1500, 1493]))
        np.testing.assert_array_equal(one.scores_, other.scores_)
        exact = MutualInformation().fit(X, y)
        assert not np.array_equal(one.scores_, exact.scores_)
        np.testing.assert_allclose(one.scores_, exact.scores_, atol=0.02)

    def test_spearman_correlation_needs_all_rows(self):
        X, y, _ = table()
        with pytest.raises(ValueError, match="choose correlation='pearson' to read rows in blocks"):
            fit(InfFS(), np.nan_to_num(X), y, [130])

    @pytest.mark.parametrize("selector", WITHOUT_LABELS.values(), ids=WITHOUT_LABELS)
    def test_missing_values_are_refused(self, selector):
        X, y, _ = table()
        with pytest.raises(ValueError, match="Input X contains NaN, in 11 of 12 columns"):
            fit(selector, X, y, [60, 70])

    @pytest.mark.parametrize("selector", [CFS(), InfFS(correlation="pearson")], ids=["cfs", "inf_fs"])
    def test_too_many_pairs_are_refused_with_the_numbers(self, selector, monkeypatch):
        monkeypatch.setattr(limits, "free_bytes", lambda: 8000)
        with pytest.raises(ValueError, match=r"of all pairs .* 12 features need 0.0 GB, the limit is 0.0 GB"):
            fit(selector, np.random.default_rng(0).normal(size=(20, 12)), np.arange(20) % 2, [20])

    @pytest.mark.parametrize("selector", [*OTHERS.values(), *WITHOUT_LABELS.values()])
    def test_infinity_is_rejected_with_its_column(self, selector):
        X, y, _ = table()
        X = np.nan_to_num(X)
        X[100, 3] = np.inf
        with pytest.raises(ValueError, match="column 3 of X holds infinity"):
            fit(selector, X, y, [60, 70])


class TestDescriptions:
    def descriptions(self):
        X, y, _ = table()
        moments = fold_of(table_source(X, y))(Moments())
        edges = np.linspace(0, 1, 7)
        association = Association.from_moments(moments.of_columns(np.arange(4)))
        return {"moments": Moments(), "tokens": Tokens(moments, edges), "products": Products(association)}

    @pytest.mark.parametrize("name", ["moments", "tokens", "products"])
    def test_a_pickled_description_gives_the_same_statistic(self, name):
        X, y, _ = table()
        fold, description = fold_of(table_source(X, y)), self.descriptions()[name]
        columns = np.arange(4) if name == "products" else None
        found = fold(pickle.loads(pickle.dumps(description)), columns)
        expected = fold(description, columns)
        for field in vars(expected):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))

    def test_a_pickled_description_contains_no_derived_values(self):
        X, y, _ = table()
        tokens = self.descriptions()["tokens"]
        before = len(pickle.dumps(tokens))
        fold_of(table_source(X, y))(tokens)
        assert "contrast" in vars(tokens)
        assert len(pickle.dumps(tokens)) == before


class TestMerging:
    class Text(str):
        """A statistic that shows how it was merged."""

        def merge(self, other):
            return type(self)(f"({self}{other})")

    def merged(self, n, n_leaves=1):
        tree = MergeTree(n_leaves)
        for i in range(n):
            tree.add(self.Text(i % 10))
        return tree.result()

    def test_few_blocks_are_merged_first_to_last(self):
        assert self.merged(4) == "(((01)2)3)"

    def test_leaves_of_a_block_come_first(self):
        assert self.merged(5, n_leaves=2) == "(((01)(23))4)"

    def test_groups_of_blocks_are_merged_first(self, monkeypatch):
        monkeypatch.setattr("ilfs.execution.merging.FAN_IN", 3)
        assert self.merged(8) == "((((01)2)((34)5))(67))"

    def test_a_level_keeps_one_statistic(self):
        tree = MergeTree()
        for i in range(FAN_IN**2 + 1):
            tree.add(self.Text("x" if i else ""))
        assert sum(merged is not None for merged in tree._merged) == 2

    def test_merging_no_blocks_is_an_error(self):
        with pytest.raises(ValueError, match="needs at least one block of rows, got none"):
            MergeTree().result()

    def test_parts_are_merged_separately(self):
        assert merge_parts(zip("abba", map(self.Text, "1234"), strict=True)) == {"a": "(14)", "b": "(23)"}


def test_several_statistics_are_computed_in_one_read():
    X, y, _ = table()
    source = IteratedSource(X, y, [130])
    fold = SecondEngine(source)
    moments, again, chosen = fold.read(
        [Read(Moments()), Read(Moments(), labelling=None), Read(Moments(), np.arange(2))]
    )
    assert source.n_passes == 1
    assert isinstance(moments, ClassMoments)
    assert (moments.count.shape, again.count.shape, chosen.count.shape) == ((3, 12), (1, 12), (3, 2))
    np.testing.assert_allclose(again.count[0], moments.count.sum(axis=0))


@pytest.mark.parametrize("engine", ["memory", "second"])
def test_groups_of_rows_and_permuted_labels_are_read_at_once(engine):
    X, y, _ = table()
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, size=len(y))
    classes, labels = encode_labels(y)
    in_groups = [RowLabels(np.where(group == g, labels.codes, -1), labels.weight, 3) for g in range(3)]
    permuted = RowLabels(rng.permutation(labels.codes), labels.weight, 3)
    source = table_source(X, y) if engine == "memory" else IteratedSource(X, y, [100, 30])
    row_labels = (*in_groups, permuted)
    source.labellings = tuple(Classes.count(classes.labels, [one]) for one in row_labels)
    source.labels = source._labels = row_labels
    fold = fold_of(source) if engine == "memory" else SecondEngine(source)
    *of_groups, of_permuted = fold.read([Read(Moments(), labelling=labelling) for labelling in range(4)])
    for g, found in enumerate(of_groups):
        expected = fold_of(table_source(X[group == g], y[group == g]))(Moments())
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
        np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-9)
    expected = fold_of(table_source(X, permuted.codes))(Moments())
    np.testing.assert_allclose(of_permuted.mean, expected.mean, rtol=1e-12)


def test_a_fold_without_labels_has_one_class():
    fold = fold_of(table_source(np.ones((3, 2)), sample_weight=np.array([1.0, 0.0, 2.0])))
    assert isinstance(fold, Fold)
    assert fold.classes.total.tolist() == [3.0]
    assert fold(Moments()).count.tolist() == [[3.0, 3.0]]


def test_one_class_is_refused_on_any_engine():
    with pytest.raises(ValueError, match="y must have at least two classes, got one class, 'a'"):
        fit(FisherScore(), np.eye(3), np.array(["a", "a", "a"]), [3])


def test_columns_of_another_engine_are_named_in_errors():
    X, y, _ = table()
    X[100, 3] = np.inf
    with pytest.raises(ValueError, match=r"column 3 of X holds infinity"):
        fit(ILFS(), X, y, [60, 70])


def test_a_block_may_lack_some_classes():
    X, y = planted(n_samples=60, n_features=4)
    order = np.argsort(y, kind="stable")
    assert encode_labels(y[order][:30])[0].n_classes == 1
    assert_same(fit(ILFS(), X[order], y[order], [30, 30]), ILFS().fit(X[order], y[order]))
