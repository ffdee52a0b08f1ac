import numpy as np
import pandas as pd
import pytest
from helpers import load
from scipy import sparse
from scipy.stats import chi2

import ilfs
from ilfs.execution import LabelledRows
from ilfs.interactions import find_interactions, pairs, sets, triples
from ilfs.interactions.bits import PackedBits
from ilfs.interactions.tails import log10_chi2_tail, log_of_far_tail
from ilfs.sources import table_source

FIELDS = ("columns", "bits", "statistic", "p_values", "adjusted_p_values", "effect", "cuts")


def xor_table(n_samples=300, n_features=12, seed=0, n_true=2):
    """Integers from 0 to 9; the class is the parity of how many of the first columns are above 4."""
    X = np.random.default_rng(seed).integers(0, 10, size=(n_samples, n_features)).astype(float)
    return X, (X[:, :n_true] > 4).sum(axis=1) % 2


def assert_same(found, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name), err_msg=name)
    assert (found.n_tests, found.n_significant) == (other.n_tests, other.n_significant)


def test_xor_of_eight_samples_by_hand():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, dtype=float)
    found = find_interactions(X, ["equal", "differ", "differ", "equal"] * 2, alpha=0.5)
    # Bits and product are balanced and uncorrelated, and the product is the class: 1.5 * 8 * 1 / (1 + 0.5) = 8.
    assert found.statistic.tolist() == [8.0]
    assert found.n_tests == 1  # the size bits are constant
    np.testing.assert_allclose(found.p_values, chi2.sf(8.0, 1))
    # All samples of "equal" have the product +1, where half of them are expected.
    assert found.effect.tolist() == [[-0.5, 0.5]]
    assert found.table()["effect"].tolist() == ["high together with low, or low with high: more often in differ"]


@pytest.mark.parametrize(
    ("values", "cuts"),
    [
        (range(1, 9), [3, 4, 6]),  # mid-ranks 1/16, 3/16, 5/16, ..., 15/16
        (range(1, 8), [3, 4, 5]),  # mid-ranks 1/14, 3/14, ..., 13/14: the median is not above itself
        ([0, 0, 0, 0, 0, 1, 2, 3], [0, 0, 1]),  # mid-ranks 5/16, 11/16, 13/16, 15/16
        ([0, 0, 0, 1, 1, 1, 1, 1], [1, 0, 1]),  # mid-ranks 3/16 and 11/16: the ones are above the median
        ([1, 2, np.nan, 3, 4, np.nan], [2, 2, 3]),  # mid-ranks 1/8, 3/8, 5/8, 7/8
    ],
)
def test_cuts_are_at_mid_ranks_of_a_quarter_a_half_and_three_quarters(values, cuts):
    X = np.array([*values], dtype=float)[:, None]
    rows = LabelledRows.from_source(table_source(X, np.arange(len(X)) % 2), missing=True)
    assert PackedBits.from_rows(rows).cuts.tolist() == [cuts]


def test_true_pair_and_triple_are_found_among_noise():
    found = find_interactions(*xor_table(seed=1), order=3)
    assert found.columns.tolist() == [[0, 1, -1]]
    found = find_interactions(*xor_table(seed=2, n_true=3), order=3)
    assert found.columns.tolist() == [[0, 1, 2]]
    assert found.bits.tolist() == [[0, 0, 0]]
    assert found.n_tests == 24 * 22 // 2 + 12 * 11 * 10 // 6
    assert found.table()["effect"].tolist() == ["none or two high: more often in 0"]


def test_size_bits_find_classes_that_differ_in_where_two_columns_are_extreme_together():
    X = np.random.default_rng(0).normal(size=(400, 10))
    y = (np.abs(X[:, 2]) > 0.7) ^ (np.abs(X[:, 5]) > 0.7)
    found = find_interactions(X, y)
    assert found.columns[0].tolist() == [2, 5, -1]
    assert found.bits[0].tolist() == [1, 1, -1]
    assert found.table()["effect"][0] == "extreme together with moderate, or moderate with extreme: more often in True"


def test_two_rare_independent_columns_do_not_interact_because_one_of_them_is_informative():
    rng = np.random.default_rng(0)
    X = (rng.random((2000, 30)) < 0.1).astype(float)
    y = np.where(X[:, 0] > 0, rng.random(2000) < 0.9, rng.random(2000) < 0.4)
    agree = X[:, 0] == X[:, 1]
    table = np.array([[np.sum(agree & (y == k)) for k in (0, 1)], [np.sum(~agree & (y == k)) for k in (0, 1)]])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / 2000
    assert np.sum((table - expected) ** 2 / expected) > 50  # the product alone depends on the class
    assert len(find_interactions(X, y)) == 0


def test_a_copy_does_not_interact():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1)), rng.integers(0, 2, 200)
    rows = LabelledRows.from_source(table_source(np.hstack([X, X, -X]), y))
    bits = PackedBits.from_rows(rows)
    found = pairs.screen_all_pairs(bits, 1e-300).sets
    assert len(found) > 0  # level bits with size bits of another column
    kinds = bits.kinds[found]
    assert (kinds[:, 0] != kinds[:, 1]).all()


@pytest.mark.parametrize("order", [2, 3])
def test_result_does_not_depend_on_rows_storage_or_threads(order, monkeypatch):
    X, y = xor_table(n_true=order)
    X[:, 5] = np.nan_to_num(np.where(X[:, 5] > 6, X[:, 5], 0))
    found = find_interactions(X, y, order=order)
    assert len(found) > 0
    rows = np.random.default_rng(0).permutation(len(X))
    assert_same(found, find_interactions(X[rows], y[rows], order=order))
    assert_same(found, find_interactions(np.asfortranarray(X), y, order=order))
    assert_same(found, find_interactions(sparse.csr_array(X), y, order=order))
    assert_same(found, find_interactions(pd.DataFrame(X), y, order=order))
    monkeypatch.setattr(pairs, "TASK_BITS", 5)
    assert_same(found, find_interactions(X, y, order=order, n_jobs=2))


def test_names_of_labels_do_not_matter():
    X, y = xor_table()
    found, renamed = find_interactions(X, y), find_interactions(X, np.array(["b", "a"])[y])
    np.testing.assert_array_equal(found.columns, renamed.columns)
    np.testing.assert_allclose(found.statistic, renamed.statistic, rtol=1e-12)
    np.testing.assert_allclose(found.effect, renamed.effect[:, ::-1], rtol=1e-12)


@pytest.mark.parametrize("order", [2, 3])
def test_weights_are_frequencies(order):
    X, y = xor_table(n_true=order)
    X[::7, 3] = np.nan
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    assert_same(
        find_interactions(X, y, order=order, sample_weight=weight),
        find_interactions(X[repeated], y[repeated], order=order),
    )
    with pytest.raises(ValueError, match=r"sample_weight must hold whole numbers if .* got [02]\.5"):
        find_interactions(X, y, sample_weight=np.full(len(X), 0.5) + np.arange(len(X)))


def test_weights_that_would_fill_the_memory_are_refused():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"sum of at most 10,000,000 if .* got a sum of 20,000,000,000"):
        find_interactions(X, y, sample_weight=np.full(20, 1e9))


def test_missing_values_are_left_out_of_each_pair():
    X, y = xor_table()
    complete = find_interactions(X[:200], y[:200])
    X[200:, 0] = np.nan  # the pair of the first two columns has 200 samples left
    with_missing = find_interactions(X, y)
    assert with_missing.columns.tolist() == complete.columns.tolist() == [[0, 1, -1]]
    assert with_missing.statistic[0] < 201
    X[:, 4] = np.nan
    assert find_interactions(X, y).n_tests == 22 * 20 // 2


def test_each_label_of_an_indicator_matrix_is_tested_alone():
    X, first = xor_table()
    second = (X[:, 3] > 4) ^ (X[:, 7] > 4)
    each = [find_interactions(X, y) for y in (first, second)]
    found = find_interactions(X, np.column_stack([first, second, np.zeros(len(X))]).astype(int))
    assert found.n_tests == 2 * each[0].n_tests
    for label, one in enumerate(each):
        of_label = found.of_label(label)
        np.testing.assert_array_equal(of_label.columns, one.columns)
        np.testing.assert_array_equal(of_label.statistic, one.statistic)
        np.testing.assert_allclose(of_label.adjusted_p_values, 2 * one.adjusted_p_values, rtol=1e-12)
    effects = dict(zip(found.labels.tolist(), found.table(classes=["sick", "old", "none"])["effect"], strict=True))
    assert effects[1] == "high together with low, or low with high: more often in old"


def test_too_many_features_for_triples_are_named_in_a_warning(monkeypatch):
    X, y = xor_table(n_features=20)
    monkeypatch.setattr(triples, "MAX_TRIPLE_STEPS", 120 * (6 + 4) + 1)  # C(10, 3) triples, 6 words, 2 classes
    with pytest.warns(UserWarning, match="at most 10 features of 300 samples in 2 classes, got 20: only pairs"):
        found = find_interactions(X, y, order=3)
    assert_same(found, find_interactions(X, y))
    assert (found.orders, found.tested) == ((2,), "pairs")


def test_tested_sets_are_named():
    X, y = xor_table()
    assert find_interactions(X, y).tested == "pairs"
    assert find_interactions(X, y, order=3).tested == "pairs and triples"
    several = find_interactions(X, np.column_stack([y, 1 - y]), order=3)
    assert (several.orders, several.tested) == ((2, 3), "pairs and triples")


def test_sets_of_the_same_features_are_counted_once():
    X = np.random.default_rng(0).normal(size=(600, 6))
    level, size = (X[:, 2] > 0) ^ (X[:, 5] > 0), (np.abs(X[:, 2]) > 0.7) ^ (np.abs(X[:, 5]) > 0.7)
    y = np.where(np.random.default_rng(1).random(600) < 0.5, level, size)
    found = find_interactions(X, y, order=3)
    assert found.columns.tolist() == [[2, 5, -1], [2, 5, -1]]  # by their levels and by their sizes
    assert (found.n_significant, found.n_pairs, found.n_triples) == (2, 1, 0)
    assert repr(found) == "<Interactions: 2 of 80 tests significant (1 pair of features)>"
    both = find_interactions(*xor_table(n_true=3), order=3)
    assert (both.n_pairs, both.n_triples, both.different_sets) == (0, 1, "1 triple of features")
    assert repr(both.table()).startswith("<InteractionTable of 1 set:")


def test_p_values_too_small_for_a_number_are_ordered_and_printed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 6))
    y = (X[:, 0] > 0) ^ (X[:, 3] > 0)
    Y = np.column_stack([y ^ (rng.random(6000) < 0.05), y, y ^ (rng.random(6000) < 0.02)]).astype(int)
    found = find_interactions(X, Y)
    assert found.adjusted_p_values.tolist() == [0, 0, 0]
    assert found.labels.tolist() == [1, 2, 0]
    # One degree of freedom: p = erfc(sqrt(statistic / 2)), about exp(-x^2) / (x sqrt(pi)) for large x.
    expected = -found.statistic / 2 - 0.5 * np.log(np.pi * found.statistic / 2) + np.log(180)
    np.testing.assert_allclose(found.log10_adjusted_p_values, expected / np.log(10), rtol=1e-6)
    lines = str(found.table()).splitlines()
    exponents = [f"e-{int(-logarithm) + 1} " for logarithm in expected / np.log(10)]
    assert all(exponent in line for exponent, line in zip(exponents, lines[1:], strict=True))
    assert lines[0].split() == ["rank", "features", "statistic", "adjusted_p_value", "effect"]


@pytest.mark.parametrize("degrees", [1, 2, 9, 40])
def test_logarithms_of_tails_agree_with_scipy_and_go_on_beyond_it(degrees):
    near = np.array([0.0, 1.0, 100.0, 1200.0])
    np.testing.assert_allclose(log10_chi2_tail(near, degrees), chi2.logsf(near, degrees) / np.log(10), atol=1e-12)
    np.testing.assert_allclose(log_of_far_tail(near[2:], degrees), chi2.logsf(near[2:], degrees), rtol=1e-12)
    # The density is the derivative of the tail.
    far, step = 5000.0, 1e-3
    values = log_of_far_tail(np.array([far - step, far, far + step]), degrees)
    slope = (values[2] - values[0]) / (2 * step)
    np.testing.assert_allclose(np.log(-slope) + values[1], chi2.logpdf(far, degrees), rtol=1e-9)


def test_a_table_that_was_opened_is_searched_without_y(tmp_path):
    X, y = xor_table(n_features=5)
    frame = pd.DataFrame(X).add_prefix("gene ").assign(kind=np.array(["well", "ill"])[y])
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    found = find_interactions(ilfs.read(path, target="kind"))
    assert_same(found, find_interactions(frame, "kind"))
    assert found.table()["features"].tolist() == ["gene 0 & gene 1"]
    with pytest.raises(TypeError, match=r"find_interactions\(ilfs.read\(path, target=...\)\)"):
        find_interactions(path, "kind")
    with pytest.raises(ValueError, match=r"got a table without a target: name its column, ilfs.read"):
        find_interactions(ilfs.read(path, drop="kind"))
    with pytest.raises(TypeError, match="y must be None if X is a source"):
        find_interactions(ilfs.read(path, target="kind"), y)
    with pytest.raises(TypeError, match="X must be in memory, got BatchSource, which is read in blocks"):
        find_interactions(ilfs.read(path, target="kind", memory_limit=2000))
    with pytest.raises(ValueError, match="y must be the class of every row of X"):
        find_interactions(X)


def test_only_the_strongest_sets_are_kept(monkeypatch):
    X, y = load("prostate")
    every = find_interactions(X, y)
    monkeypatch.setattr(sets, "MAX_SETS", 5)
    some = find_interactions(X, y)
    np.testing.assert_array_equal(some.columns, every.columns[:5])
    assert some.n_significant == every.n_significant == 26


def test_strongest_sets_of_each_feature_enter_the_regression():
    X, y = load("prostate")
    found = find_interactions(X, y)
    chosen = found.product_terms(max_per_feature=2, max_pairs=4)
    assert len(chosen.columns) == 4
    assert chosen.columns[0].tolist() == found.columns[0].tolist()
    _, uses = np.unique(chosen.columns[chosen.columns >= 0], return_counts=True)
    assert uses.max() <= 2


def test_bad_input_is_refused_in_one_sentence():
    X, y = xor_table()
    with pytest.raises(ValueError, match="order must be 2 or 3, got 4"):
        find_interactions(X, y, order=4)
    with pytest.raises(ValueError, match="order must be 2 or 3, got True: use 2 to test pairs, 3 to test triples, too"):
        find_interactions(X, y, order=True)
    with pytest.raises(ValueError, match="alpha must be a number strictly between 0 and 1, got 2"):
        find_interactions(X, y, alpha=2)
    with pytest.raises(ValueError, match="y must have at least two classes"):
        find_interactions(X, np.zeros(len(X)))
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="column 'x4' of X"):
        find_interactions(pd.DataFrame(X).add_prefix("x"), y)


def test_table_names_the_features_of_a_data_frame(tmp_path):
    X, y = xor_table()
    frame = pd.DataFrame(X).add_prefix("gene ").assign(kind=np.array(["well", "ill"])[y])
    table = find_interactions(frame, "kind").table()
    assert set(table["features"]) == {"gene 0 & gene 1"}
    assert set(table.to_pandas()["column_2"]) == {1}
    assert "gene 0 & gene 1" in table.to_csv(tmp_path / "found.csv").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_rounds", "n_real"), [("colon", 100, 0), ("srbct", 60, 0), ("madelon", 100, 93)])
def test_permuted_labels_rarely_have_a_significant_set(name, n_rounds, n_real):
    (X, y), rng = load(name), np.random.default_rng(0)
    assert find_interactions(X, y).n_significant == n_real
    n_false = sum(len(find_interactions(X, rng.permutation(y))) > 0 for _ in range(n_rounds))
    assert n_false <= 9  # of 100 at a level of 0.05, with a probability of 0.97


@pytest.mark.slow
def test_sparse_text_has_no_pairs_although_many_products_depend_on_the_class():
    X, y = load("polarity")
    assert find_interactions(X, y).n_significant == 0


def test_rows_too_few_for_any_bit_are_told():
    X = np.random.default_rng(0).normal(size=(3, 5))
    with pytest.warns(UserWarning, match="no feature has at least two samples on each side of its median"):
        assert len(find_interactions(X, [0, 1, 1])) == 0
