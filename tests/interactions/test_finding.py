import numpy as np
import pandas as pd
import pytest
from helpers import load
from scipy import sparse
from scipy.stats import chi2

from ilfs.execution import LabelledRows
from ilfs.interactions import find_interactions, pairs, sets, triples
from ilfs.interactions.bits import PackedBits
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
