"""p-values by permutations of the labels: reproducible, the same on every engine, and right at their level."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import planted
from metamorphic import small_blocks as blocks_of
from scipy import sparse, stats
from sklearn.base import clone

from ilfs import ILFS, FisherScore, MutualInformation, Novelty, ReliefF, list_methods
from ilfs.permutations import statistic_of
from ilfs.registry import classes_with
from ilfs.selector import Scores
from ilfs.sources import Batch, BatchReader, BatchSource, table_source

EDGES = np.linspace(-2, 3, 8)
SELECTORS = {
    "ilfs": ILFS("fdr", n_candidates=8),
    "plain": ILFS("fdr", redundancy=None),
    "paper": ILFS.paper("fdr"),
    "fisher": FisherScore("fdr"),
    "equal": FisherScore("fdr", weighting="equal"),
    "mi": MutualInformation("fdr"),
    "edges": MutualInformation("fdr", edges=EDGES),
    "bound": MutualInformation("fdr", estimate="lower_bound"),
    "corrected": MutualInformation("fdr", correction="miller-madow"),
}
every = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)
STREAMED = {name: SELECTORS[name] for name in ("ilfs", "plain", "fisher", "edges")}  # same bits as in memory
streamed = pytest.mark.parametrize("selector", STREAMED.values(), ids=STREAMED)


class Reader(BatchReader):
    """Reader of an array, in batches of given heights, that records its passes."""

    def __init__(self, X, y, heights, weight=None):
        self.X, self.y, self.weight, self.heights, self.passes = X, y, weight, heights, []
        self.n_features, self.is_sparse, self.has_labels, self.dtype = X.shape[1], False, True, np.dtype(X.dtype)

    def batches(self, columns, max_rows):
        self.passes.append(columns)
        start = 0
        for height in self.heights:
            rows = slice(start, start + height)
            X = self.X[rows] if columns is None else self.X[rows][:, columns]
            yield Batch(X, self.y[rows], None if self.weight is None else self.weight[rows], height)
            start += height


def table(n_samples=90, n_features=25, n_classes=2, shift=2.0, seed=0):
    X, y = planted(n_samples, n_features, 4, n_classes, shift, seed)
    return X, y


def same(one, other):
    np.testing.assert_array_equal(one.p_values_, other.p_values_)
    np.testing.assert_array_equal(one.q_values_, other.q_values_)
    assert one.chance_p_value_ == other.chance_p_value_
    assert one.false_discovery_bound_ == other.false_discovery_bound_


def labels_of(source):
    """Return the class codes of all rows under all labellings, read block by block."""
    return np.hstack([np.array([one.codes for one in block.labels]) for block in source.blocks()])


class TestPermutedLabels:
    def test_the_first_labelling_is_observed_and_the_others_have_as_many_rows_of_each_class(self):
        X, y = table(n_classes=3)
        codes = labels_of(table_source(X, y).with_permutations(7))
        assert codes.shape == (8, 90)
        np.testing.assert_array_equal(codes[0], y)
        assert all((np.bincount(one) == np.bincount(y)).all() for one in codes)
        assert len({tuple(one) for one in codes}) == 8

    @pytest.mark.parametrize("heights", [[90], [1, 30, 0, 59], [13] * 6 + [12]], ids=str)
    def test_a_stream_has_the_labels_of_a_table_in_memory(self, heights):
        X, y = table(n_classes=3)
        weight = np.random.default_rng(2).integers(0, 3, 90).astype(float)
        groups = np.arange(90) // 15
        names = np.array(["c", "a", "b"])[y]
        with blocks_of(32):
            memory = table_source(X, names, weight).with_permutations(5, 3, groups)
            stream = BatchSource(Reader(X, names, heights, weight)).with_permutations(5, 3, groups)
            np.testing.assert_array_equal(labels_of(stream), labels_of(memory))
        for one, other in zip(stream.labellings, memory.labellings, strict=True):
            np.testing.assert_array_equal(one.rows, other.rows)
            np.testing.assert_allclose(one.total, other.total)

    def test_they_do_not_depend_on_the_names_of_labels_and_groups(self):
        X, y = table(n_classes=3)
        groups = np.arange(90) // 30
        first = labels_of(table_source(X, y).with_permutations(4, groups=groups))
        names, other_groups = np.array(["z", "m", "a"]), np.array(["y", "x", "w"])
        second = labels_of(table_source(X, names[y]).with_permutations(4, groups=other_groups[groups]))
        np.testing.assert_array_equal(second, 2 - first)

    def test_labels_stay_within_groups(self):
        X, y = table(n_classes=3)
        groups = np.random.default_rng(0).integers(0, 7, 90)
        codes = labels_of(table_source(X, y).with_permutations(6, groups=groups))
        for group in range(7):
            counts = [np.bincount(one[groups == group], minlength=3).tolist() for one in codes]
            assert counts == counts[:1] * 7

    def test_rows_of_weight_0_are_absent(self):
        X, y = table()
        weight = (np.arange(90) % 4 > 0).astype(float)
        codes = labels_of(table_source(X, y, weight).with_permutations(3))
        assert (codes[:, weight == 0] == -1).all()
        kept = weight > 0
        np.testing.assert_array_equal(codes[:, kept], labels_of(table_source(X[kept], y[kept]).with_permutations(3)))

    def test_a_byte_per_row_and_permutation_is_stored(self):
        X, y = table()
        assert table_source(X, y).with_permutations(20).permuted.codes.nbytes == 20 * 90

    def test_more_than_256_classes_take_two_bytes(self):
        source = table_source(np.zeros((300, 1)), np.arange(300)).with_permutations(2)
        assert source.permuted.codes.dtype == np.uint16
        assert sorted(labels_of(source)[1].tolist()) == list(range(300))

    def test_labels_of_an_indicator_matrix_move_together(self):
        X, _ = table()
        Y = np.random.default_rng(0).integers(0, 2, (90, 3))
        codes = labels_of(table_source(X, Y).with_permutations(2))
        assert codes.shape == (9, 90)
        patterns = sorted(map(tuple, Y.tolist()))
        for number in (1, 2):
            assert sorted(map(tuple, codes[3 * number : 3 * number + 3].T.tolist())) == patterns

    def test_columns_shuffled_with_the_same_seed_have_other_permutations(self):
        X, y = table(n_features=20, shift=3.0)
        shuffled = np.random.default_rng(0).permuted(X, axis=0)
        codes = labels_of(table_source(X, y).with_permutations(20))[1:]
        rows = np.random.default_rng(0).permuted(np.tile(np.arange(90)[:, None], 20), axis=0)
        assert not any((one == y[rows[:, j]]).all() for one in codes for j in range(20))
        assert FisherScore("fdr").fit(np.hstack([X, shuffled]), y).get_support()[:4].all()

    def test_all_orders_within_groups_are_equally_likely(self):
        source = table_source(np.zeros((4, 1)), np.arange(4))
        codes = labels_of(source.with_permutations(3000, groups=np.array([1, 0, 1, 1])))[1:]
        assert (codes[:, 1] == 1).all()
        counts = np.unique(codes, axis=0, return_counts=True)[1]
        assert counts.size == 6
        assert stats.chisquare(counts).pvalue > 1e-3


class TestResults:
    @every
    def test_planted_features_are_found(self, selector):
        X, y = table(n_samples=150)
        done = clone(selector).fit(X, y)
        assert done.n_permutations_ == 20
        assert set(range(4)) <= set(np.flatnonzero(done.get_support()))
        assert done.get_support().sum() <= 6
        assert done.is_better_than_chance_
        assert done.chance_p_value_ == pytest.approx(1 / 21)
        assert 0 <= done.false_discovery_bound_ <= 0.6

    @every
    def test_permutations_do_not_change_scores_and_order(self, selector):
        X, y = table()
        done, plain = clone(selector).fit(X, y), clone(selector).set_params(n_features_to_select=3).fit(X, y)
        np.testing.assert_array_equal(done.scores_, plain.scores_)
        np.testing.assert_array_equal(done.order_, plain.order_)
        assert not hasattr(plain, "p_values_")

    @every
    @pytest.mark.parametrize("n_samples", [90, 700])  # few, and enough to compute all permutations at once
    @pytest.mark.parametrize("kind", ["normal", "integers", "missing"])
    def test_p_values_are_those_of_separate_fits(self, selector, n_samples, kind):
        X, y = table(n_samples, n_features=12, shift=0.3)
        if kind == "integers":
            X = np.round(X)
        elif kind == "missing":
            X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
        done = clone(selector).fit(X, y)
        codes = labels_of(table_source(X, y).with_permutations(20))[1:]
        plain = clone(selector).set_params(n_features_to_select=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = [clone(plain).fit(X, labels) for labels in (y, *codes)]
        statistic, *null = [one.relevance_ if isinstance(one, ILFS) else one.scores_ for one in fits]
        allowed = np.maximum(1e-9 * np.abs(statistic), 1e-11)
        expected = [
            (1 + (np.array(null) >= one - tol).sum()) / 241 for one, tol in zip(statistic, allowed, strict=True)
        ]
        np.testing.assert_allclose(done.p_values_, expected)

    @every
    def test_threads_do_not_change_them(self, selector):
        X, y = planted(400, 700, 4)  # enough values for a second thread
        same(clone(selector).set_params(n_jobs=1).fit(X, y), clone(selector).set_params(n_jobs=2).fit(X, y))

    @streamed
    @pytest.mark.parametrize("heights", [[90], [1, 30, 0, 59]], ids=str)
    def test_a_stream_gives_the_p_values_of_memory(self, selector, heights):
        X, y = table(n_classes=3)
        weight, groups = np.random.default_rng(5).uniform(0.5, 2, 90), np.arange(90) // 30
        with blocks_of(32):
            memory = clone(selector).fit(X, y, sample_weight=weight, groups=groups)
            stream = clone(selector).fit(BatchSource(Reader(X, y, heights, weight)), groups=groups)
        same(stream, memory)

    @every
    def test_rows_of_a_stream_are_read_as_often_as_without_permutations(self, selector):
        X, y = table()
        with_null, plain = Reader(X, y, [40, 50]), Reader(X, y, [40, 50])
        clone(selector).fit(BatchSource(with_null))
        clone(selector).set_params(n_features_to_select=None).fit(BatchSource(plain))
        assert len(with_null.passes) == len(plain.passes) == 1 + selector.n_reads

    @every
    def test_names_of_labels_do_not_change_them(self, selector):
        X, y = table(n_classes=3)
        done, renamed = clone(selector).fit(X, y), clone(selector).fit(X, np.array(["z", "m", "a"])[y])
        np.testing.assert_allclose(renamed.p_values_, done.p_values_)

    @pytest.mark.parametrize("name", ["ilfs", "fisher", "mi", "bound"])
    def test_sparse_and_dense_tables_give_the_same(self, name):
        X, y = table()
        X = np.where(np.abs(X) > 0.5, X, 0.0)
        one, other = clone(SELECTORS[name]).fit(X, y), clone(SELECTORS[name]).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(one.p_values_, other.p_values_)

    @every
    def test_weight_0_is_the_same_as_leaving_the_row_out(self, selector):
        X, y = table()
        weight = (np.arange(90) % 5 > 0).astype(float)
        kept = weight > 0
        same(clone(selector).fit(X, y, sample_weight=weight), clone(selector).fit(X[kept], y[kept]))

    @every
    def test_uninformative_features_have_p_1_and_do_not_count(self, selector):
        X, y = table()
        more = np.column_stack([X, np.ones((90, 30)), np.full(90, np.nan)])
        done, expected = clone(selector).fit(more, y), clone(selector).fit(X, y)
        assert (done.p_values_[25:] == 1).all()
        assert (done.q_values_[25:] == 1).all()
        if not isinstance(selector, ILFS):  # the topics of ILFS are learned from all features
            np.testing.assert_allclose(done.q_values_[:25], expected.q_values_)

    def test_a_generator_gives_other_permutations_in_every_fit(self):
        X, y = table(shift=0.3)
        selector = FisherScore("fdr", random_state=np.random.default_rng(0))
        first = selector.fit(X, y).p_values_
        assert (selector.fit(X, y).p_values_ != first).any()
        seeded = FisherScore("fdr", random_state=np.random.default_rng(0)).fit(X, y)
        np.testing.assert_array_equal(seeded.p_values_, first)

    @every
    def test_an_integer_gives_the_same_in_every_fit(self, selector):
        X, y = table()
        done = clone(selector).fit(X, y)
        same(done, clone(selector).fit(X, y))
        assert (clone(selector).set_params(random_state=1).fit(X, y).p_values_ != done.p_values_).any()


class TestSeveralLabels:
    @pytest.mark.parametrize("name", ["ilfs", "plain", "fisher", "mi", "edges"])
    def test_each_label_and_all_labels_are_tested(self, name):
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(120, 20)), rng.integers(0, 2, (120, 3))
        X[:, 0] += 2 * Y[:, 0]
        X[:, 1] += 2 * Y[:, 2]
        Y[:, 1] = 1
        with pytest.warns(UserWarning, match=r"labels \[1\] of y are the same for all samples"):
            done = clone(SELECTORS[name]).fit(X, Y)
        first, last = done.per_label_[0], done.per_label_[2]
        np.testing.assert_allclose(
            done.p_values_, np.minimum(2 * np.minimum(first.p_values_, last.p_values_), 1.0), rtol=1e-12
        )
        assert 0 in np.flatnonzero(first.get_support())
        assert {0, 1} <= set(np.flatnonzero(done.get_support()))
        assert done.is_better_than_chance_
        assert not any("_test" in vars(one) for one in (done, first, last))

    @pytest.mark.parametrize("name", ["ilfs", "fisher", "edges", "mi"])
    def test_they_are_read_together_and_give_the_same_on_a_stream(self, name):
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(90, 12)), rng.integers(0, 2, (90, 3))
        reader = Reader(X, Y, [40, 50])
        selector = clone(SELECTORS[name]).fit(BatchSource(reader))
        assert len(reader.passes) == 1 + selector.n_reads
        np.testing.assert_allclose(selector.p_values_, clone(selector).fit(X, Y).p_values_)


class TestRule:
    def test_the_support_is_the_set_of_small_q_values_and_not_the_first_of_the_order(self):
        X, y = planted(60, 200, 20, shift=1.0)
        done = ILFS("fdr", fdr=0.2).fit(X, y)
        np.testing.assert_array_equal(done.get_support(), done.q_values_ <= 0.2)
        assert done.transform(X).shape == (60, np.count_nonzero(done.q_values_ <= 0.2))

    def test_nothing_is_selected_with_the_warning_of_scikit_learn(self):
        X, y = np.random.default_rng(1).normal(size=(40, 30)), np.arange(40) % 2
        done = ILFS("fdr").fit(X, y)
        assert not done.get_support().any()
        assert done.false_discovery_bound_ == 0.0
        with pytest.warns(UserWarning, match="No features were selected"):
            assert done.transform(X).shape == (40, 0)

    def test_a_smaller_rate_needs_more_permutations(self):
        X, y = table()
        assert FisherScore("fdr", fdr=0.01).fit(X, y).n_permutations_ == 100
        assert FisherScore("fdr", fdr=0.5).fit(X, y).n_permutations_ == 20
        assert FisherScore(fdr=0.5, n_permutations=7).fit(X, y).n_permutations_ == 7

    def test_too_few_permutations_are_raised_with_a_warning(self):
        X, y = table()
        with pytest.warns(UserWarning, match=r"^n_permutations=5 is too small for fdr=0.05, .*: 20 permutations"):
            assert FisherScore(n_permutations=5).fit(X, y).n_permutations_ == 20

    def test_families_are_headed_by_the_selected_features(self):
        X, y = planted(80, 30, 6, shift=1.5)
        X[:, 10] = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=80)
        done = ILFS("fdr").fit(X, y)
        selected = [column for column in done.order_.tolist() if done.get_support()[column]]
        assert list(done.families()) == selected

    def test_the_ranking_table_has_p_and_q_values(self):
        X, y = table()
        done = ILFS("fdr").fit(X, y)
        np.testing.assert_array_equal(done.table(3)["q_value"], done.q_values_[done.order_[:3]])

    def test_methods_without_p_values_list_those_that_have_them(self):
        X, y = table()
        assert classes_with("null") == "ILFS, FisherScore, MutualInformation"
        for selector in (ReliefF("fdr"), Novelty(FisherScore(), "fdr")):
            message = rf"needs p-values, which {type(selector).__name__} does not have: .*\(ILFS, FisherScore, Mutual"
            with pytest.raises(ValueError, match=message):
                selector.fit(X, y)

    def test_the_registry_states_which_methods_have_p_values(self):
        assert all(method.load()._has_null is method.null for method in list_methods())

    def test_the_rule_set_after_the_fit_needs_another_fit(self):
        X, y = table()
        done = FisherScore(3).fit(X, y).set_params(n_features_to_select="fdr")
        with pytest.raises(ValueError, match=r"^n_features_to_select='fdr' needs the q-values .*: fit again$"):
            done.get_support()

    def test_partial_fit_is_not_available_with_permutations(self):
        assert hasattr(FisherScore(), "partial_fit")
        assert not hasattr(FisherScore("fdr"), "partial_fit")
        assert not hasattr(MutualInformation(edges=EDGES, n_permutations=20), "partial_fit")


class TestGroups:
    def test_a_feature_that_only_tells_groups_apart_is_not_found(self):
        rng = np.random.default_rng(0)
        donor = np.repeat(np.arange(6), 30)
        y = (rng.random(180) < np.array([0.2, 0.8])[donor % 2]).astype(int)
        X = rng.normal(size=(180, 30))
        X[:, 0] += 2 * (donor % 2)  # follows the donors, not the labels within a donor
        X[:, 1] += 2 * y
        assert {0, 1} <= set(np.flatnonzero(FisherScore("fdr").fit(X, y).get_support()))
        found = np.flatnonzero(FisherScore("fdr").fit(X, y, groups=donor).get_support())
        assert 1 in found
        assert 0 not in found

    @every
    def test_p_values_of_features_that_tell_groups_apart_are_those_of_chance(self, selector):
        rng = np.random.default_rng(1)
        donor = np.repeat(np.arange(6), 40)
        y = (rng.random(240) < np.array([0.3, 0.7])[donor % 2]).astype(int)
        X = rng.normal(size=(240, 200))
        X[:, :20] += rng.normal(scale=5, size=(6, 20))[donor]
        X[:, 199] += 1.5 * y
        X = np.round(X, 1)
        fitted = clone(selector).set_params(n_features_to_select="fdr", random_state=0).fit(X, y, groups=donor)
        of_donors, of_noise = fitted.p_values_[:20], fitted.p_values_[20:199]
        assert (of_donors <= 0.05).mean() <= 0.2  # three standard errors above 0.05
        assert (of_noise <= 0.05).mean() <= 0.1
        assert fitted.get_support()[199]

    @every
    def test_groups_of_one_class_each_are_refused(self, selector):
        X, y = table()
        with pytest.raises(
            ValueError, match=r"^groups must contain a group with samples of two classes, got one class"
        ):
            clone(selector).fit(X, y, groups=y)

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            (np.zeros(89), r"^groups must have shape \(90,\), a group for each row of X, got \(89,\)$"),
            (np.r_[np.nan, np.zeros(89)], r"^groups must have a value for each row, got none in row 0$"),
            (["a", None] * 45, r"^groups must have a value for each row, got none in row 1$"),
        ],
    )
    def test_wrong_groups_are_refused(self, groups, message):
        X, y = table()
        for data in ((X, y), (BatchSource(Reader(X, y, [90])),)):
            with pytest.raises(ValueError, match=message):
                FisherScore("fdr").fit(*data, groups=groups)

    def test_the_index_of_groups_must_be_that_of_the_table(self):
        X, y = table()
        with pytest.raises(ValueError, match=r"^groups must have the index of X"):
            FisherScore("fdr").fit(pd.DataFrame(X), y, groups=pd.Series(y, index=np.arange(90)[::-1]))

    def test_groups_are_ignored_without_permutations(self):
        X, y = table()
        assert not hasattr(FisherScore().fit(X, y, groups=y), "p_values_")


class TestParameters:
    @pytest.mark.parametrize("name", ["ilfs", "fisher", "mi"])
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_permutations": -1}, "^n_permutations must be an integer >= 0, got -1$"),
            ({"n_permutations": 2.5}, "^n_permutations must be an integer >= 0, got 2.5$"),
            ({"n_permutations": True}, "^n_permutations must be an integer >= 0, got True$"),
            ({"fdr": 0}, "^fdr must be a number strictly between 0 and 1, got 0$"),
            ({"fdr": 1.0}, "^fdr must be a number strictly between 0 and 1, got 1.0$"),
            ({"random_state": -1}, "^random_state must be an integer >= 0, a numpy.random.Generator or None, got -1$"),
            (
                {"random_state": "a"},
                "^random_state must be an integer >= 0, a numpy.random.Generator or None, got 'a'$",
            ),
            (
                {"n_features_to_select": "all"},
                r"a fraction in \(0, 1\] \(1.0: all\), 'fdr', 'auto'(, 'absorption')? or None \(half\), got 'all'$",
            ),
        ],
    )
    def test_wrong_parameters_are_refused(self, name, parameters, message):
        X, y = table()
        with pytest.raises(ValueError, match=message):
            clone(SELECTORS[name]).set_params(**parameters).fit(X, y)

    def test_the_statistic_of_a_feature_with_the_lowest_tie_break_is_missing(self):
        np.testing.assert_array_equal(statistic_of(Scores(np.array([1.0, 0.0]), np.array([0.0, -np.inf]))), [1, np.nan])


def simulated(selector, n_repeats, n_true, n_samples=40, n_features=100):
    """Return the verdict and the false discovery proportion of each of several simulated tables."""
    verdicts, proportions = [], []
    for seed in range(n_repeats):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(n_samples) % 2)
        X = rng.normal(size=(n_samples, n_features))
        X[:, :n_true] += 1.5 * y[:, None]
        done = clone(selector).set_params(random_state=seed).fit(X, y)
        found = done.q_values_ <= 0.1
        verdicts.append(done.is_better_than_chance_)
        proportions.append(found[n_true:].sum() / max(found.sum(), 1))
    return np.array(verdicts), np.array(proportions)


def check_levels(selector, n_repeats):
    verdicts, proportions = simulated(selector, n_repeats, n_true=0)
    assert verdicts.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_repeats)
    assert proportions.mean() <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / n_repeats)
    verdicts, proportions = simulated(selector, n_repeats, n_true=10)
    assert verdicts.mean() >= 0.9
    assert proportions.mean() <= 0.1 + 3 * proportions.std() / np.sqrt(n_repeats)


LEVELS = {name: SELECTORS[name] for name in ("plain", "fisher", "mi")}


@pytest.mark.parametrize("selector", LEVELS.values(), ids=LEVELS)
def test_levels_hold_in_40_simulated_tables(selector):
    check_levels(selector, 40)


@pytest.mark.slow
@pytest.mark.parametrize("selector", LEVELS.values(), ids=LEVELS)
def test_levels_hold_in_200_simulated_tables(selector):
    check_levels(selector, 200)
