"""Stability over half-samples: each is the fit on its rows, for every kind of table; guarantees by simulation."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import planted
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, f_classif

import ilfs
from ilfs import CFS, ILFS, FisherScore, InfFS, LaplacianScore, MutualInformation, Novelty, ReliefF
from ilfs.selection import RankEnsemble, resampling, stability
from ilfs.selection.half_samples import half_samples
from ilfs.sources import Source, batches, stream_source, table_source, tables
from ilfs.stability_indices import kuncheva_index, nogueira_stability
from ilfs.statistics.labels import encode_labels

X, Y = planted(n_samples=90, n_features=24, n_informative=4, shift=0.8, seed=3)
NAMES = np.array(["red", "green"])[Y]
ARGUMENTS = {"n_resamples": 6, "k": 5}


def halves_of(y, weight=None, **options):
    return half_samples([encode_labels(np.asarray(y), weight)[1]], ARGUMENTS["n_resamples"], **options)


def fits_on_halves(selector, X, y, halves, **more):
    """The best columns of plain fits on the rows of each half-sample."""
    orders = []
    for rows in halves:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here = {name: values[rows] for name, values in more.items()}
            orders.append(selector.fit(X[rows], None if y is None else y[rows], **here).order_)
    return np.array(orders)


def assert_equal(found, expected):
    for name in ("order", "subsets", "selection_frequency", "family_frequency", "rank_low", "rank_high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    for name in ("nogueira", "kuncheva", "families"):
        assert getattr(found, name).value == pytest.approx(getattr(expected, name).value, abs=1e-12)


class TestEqualsFitsOnTheRows:
    @pytest.mark.parametrize(
        "selector",
        [
            ILFS(),
            ILFS(redundancy="novelty"),
            ILFS(redundancy=None),
            ILFS.paper(),
            FisherScore(),
            Novelty(FisherScore()),
            MutualInformation(),
            MutualInformation(edges=[-1.0, 0.0, 1.0]),
            ReliefF(),
        ],
        ids=str,
    )
    def test_with_labels(self, selector):
        found = stability(selector, X, NAMES, **ARGUMENTS)
        orders = fits_on_halves(selector, X, NAMES, halves_of(Y))
        np.testing.assert_array_equal(found.subsets, orders[:, :5])
        np.testing.assert_array_equal(found.order, selector.fit(X, NAMES).order_)
        ranks = np.argsort(orders, axis=1) + 1
        np.testing.assert_allclose(found.rank_median, np.median(ranks, axis=0))
        assert found.nogueira == nogueira_stability(list(orders[:, :5]), 24)
        assert found.kuncheva.value == pytest.approx(kuncheva_index(list(orders[:, :5]), 24))
        np.testing.assert_allclose(found.selection_frequency, (ranks <= 5).mean(axis=0))

    @pytest.mark.parametrize("selector", [CFS(), InfFS(), LaplacianScore()], ids=str)
    def test_without_labels(self, selector):
        halves = half_samples([table_source(X).row_labels(None)], 6)
        expected = fits_on_halves(selector, X, None, halves)[:, :5]
        np.testing.assert_array_equal(stability(selector, X, **ARGUMENTS).subsets, expected)
        np.testing.assert_array_equal(stability(selector, X, Y, **ARGUMENTS).subsets, expected)

    def test_missing_values_and_sparse_tables(self):
        holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
        counts = np.random.default_rng(1).poisson(0.5 + 0.5 * Y[:, None], X.shape).astype(float)
        for table in (holes, sparse.csr_array(counts), sparse.csc_array(counts)):
            rows = table.tocsr() if sparse.issparse(table) else table
            for selector in (ILFS(), FisherScore()):
                expected = fits_on_halves(selector, rows, Y, halves_of(Y))[:, :5]
                np.testing.assert_array_equal(stability(selector, table, Y, **ARGUMENTS).subsets, expected)

    def test_weights(self):
        weight = np.random.default_rng(2).integers(0, 4, len(Y)).astype(float)
        halves = halves_of(Y, weight)
        assert not halves[:, weight == 0].any()
        for selector in (ILFS(), FisherScore()):
            expected = fits_on_halves(selector, X, Y, halves, sample_weight=weight)[:, :5]
            found = stability(selector, X, Y, sample_weight=weight, **ARGUMENTS)
            np.testing.assert_array_equal(found.subsets, expected)

    @pytest.mark.parametrize("selector", [ILFS(), ILFS(redundancy=None), FisherScore(), ReliefF()], ids=str)
    def test_several_labels(self, selector):
        labels = np.random.default_rng(3).random((90, 3)) < 0.4
        labels[:, 0] |= X[:, 0] > 1
        halves = half_samples([encode_labels(column)[1] for column in labels.T], 6)
        expected = fits_on_halves(selector, X, labels.astype(int), halves)[:, :5]
        np.testing.assert_array_equal(stability(selector, X, labels.astype(int), **ARGUMENTS).subsets, expected)

    def test_a_half_may_lack_a_class(self):
        groups = np.repeat(np.arange(9), 10)  # a group has rows of several classes, and one class is in one group
        y = np.where(groups == 4, "rare", NAMES)
        halves = halves_of(y, groups=groups)
        assert len({tuple(np.unique(y[rows])) for rows in halves}) == 2
        for selector in (ILFS(), FisherScore()):
            found = stability(selector, X, y, groups=groups, **ARGUMENTS)
            np.testing.assert_array_equal(found.subsets, fits_on_halves(selector, X, y, halves)[:, :5])

    def test_selectors_of_other_packages(self):
        found = stability(SelectKBest(f_classif), X, Y, **ARGUMENTS)
        expected = [np.argsort(-f_classif(X[rows], Y[rows])[0])[:5] for rows in halves_of(Y)]
        np.testing.assert_array_equal(found.subsets, expected)

    def test_meta_selectors_and_names(self):
        assert_equal(stability("fisher", X, Y, **ARGUMENTS), stability(FisherScore(), X, Y, **ARGUMENTS))
        found = stability(RankEnsemble(["fisher", "mi"]), X, Y, **ARGUMENTS)
        np.testing.assert_array_equal(
            found.subsets, fits_on_halves(RankEnsemble(["fisher", "mi"]), X, Y, halves_of(Y))[:, :5]
        )

    def test_the_number_to_compare_is_that_of_the_selector_unless_given(self):
        def compared(selector, X=X, **options):
            return stability(selector, X, Y, n_resamples=4, **options).k

        assert compared(ILFS(10)) == compared(SelectKBest(f_classif)) == 10
        assert compared(ILFS(10), k=3) == 3
        assert (
            compared(ILFS()) == compared(FisherScore(0.2)) == compared(ILFS("absorption")) == compared("fisher") == 20
        )
        assert compared(FisherScore(), X[:, :5]) == 4
        with pytest.raises(ValueError, match="the number of features, 24, got 30 from the selector: give a smaller k"):
            compared(FisherScore(30))
        with pytest.raises(ValueError, match="k must be less than the number of features, 1, got 1"):
            compared(FisherScore(), X[:, :1])

    def test_permutations_and_the_number_of_features_are_not_used(self):
        plain = stability(FisherScore(), X, Y, **ARGUMENTS)
        assert_equal(stability(FisherScore("fdr", n_permutations=30), X, Y, **ARGUMENTS), plain)
        assert_equal(stability(FisherScore(2), X, Y, **ARGUMENTS), plain)


class TestTables:
    @pytest.fixture(autouse=True)
    def low_blocks(self, monkeypatch):
        monkeypatch.setattr(tables, "BLOCK_ROWS", 32)
        monkeypatch.setattr(batches, "SPARSE_BLOCK_ROWS", 32)

    @pytest.mark.parametrize("selector", [ILFS(), FisherScore(), MutualInformation(edges=[0.0, 1.0])], ids=str)
    def test_streams_give_the_result_of_the_table_in_memory(self, selector, tmp_path):
        frame = pl.DataFrame({f"f{j}": X[:, j] for j in range(24)} | {"kind": NAMES})
        frame.write_parquet(tmp_path / "rows.parquet", row_group_size=40)
        frame.write_csv(tmp_path / "rows.csv")
        expected = stability(selector, frame.drop("kind"), NAMES, **ARGUMENTS)
        for name in ("rows.parquet", "rows.csv"):
            source = ilfs.read(tmp_path / name, target="kind", memory_limit=4000)
            assert not isinstance(source, tables.TableSource)
            found = stability(selector, source, **ARGUMENTS)
            assert_equal(found, expected)
            assert found.feature_names.tolist() == expected.feature_names.tolist()

    @pytest.mark.parametrize("selector", [ILFS(), FisherScore(), CFS()], ids=str)
    def test_dask_tables_give_the_result_of_the_table_in_memory(self, selector):
        da = pytest.importorskip("dask.array", reason="Dask is not installed")
        expected = stability(selector, X, NAMES, **ARGUMENTS)
        chunks = da.from_array(X, chunks=(32, 10))
        assert_equal(stability(selector, chunks, NAMES, **ARGUMENTS), expected)
        assert_equal(stability(selector, chunks, da.from_array(NAMES, chunks=32), **ARGUMENTS), expected)

    def test_a_stream_is_read_as_often_as_for_one_fit(self):
        reads = []
        for fit in (ILFS().fit, lambda source: stability(ILFS(), source, **ARGUMENTS)):
            source = CountingSource(table_source(X, Y))
            fit(source)
            reads.append(source.n_reads)
        assert reads == [3, 4]  # one more for the correlations of the chosen features

    def test_more_resamples_than_fit_in_memory_take_further_reads(self, monkeypatch):
        expected = stability(ILFS(), X, Y, **ARGUMENTS)
        monkeypatch.setattr(resampling, "MAX_STATISTICS_BYTES", 3 * 8 * (24 * 24 + 2 * 24**2))
        assert resampling.plans_at_a_time(24, 2) == 3
        assert_equal(stability(ILFS(), X, Y, **ARGUMENTS), expected)

    def test_methods_that_need_all_rows_refuse_a_stream(self):
        with pytest.raises(TypeError, match=r"stability of ReliefF needs all rows in memory.*ILFS"):
            stability(ReliefF(), CountingSource(table_source(X, Y)), **ARGUMENTS)

    def test_a_summary_is_refused(self):
        summary = FisherScore().fit(X, Y).summary_
        with pytest.raises(TypeError, match="stability needs rows to draw halves of them, got a summary of rows"):
            stability(FisherScore(), summary, **ARGUMENTS)

    def test_frames_and_names(self):
        frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(24)])
        found = stability(ILFS(), frame.assign(kind=NAMES), "kind", **ARGUMENTS)
        assert_equal(found, stability(ILFS(), X, NAMES, **ARGUMENTS))
        assert found.feature_names[3] == "gene 3"
        assert stability(ILFS(), X, Y, **ARGUMENTS).feature_names[3] == "x3"


class CountingSource(Source):
    """Rows that are read in blocks; counts the reads."""

    def __init__(self, table, subsets=None):
        self._table = table if subsets is None else table.with_subsets(subsets)
        self.n_features, self.is_sparse, self.feature_names = table.n_features, False, None
        self.labellings, self.all_rows, self.has_labels = self._table.labellings, table.all_rows, True
        self.counter = [0]

    @property
    def n_reads(self):
        return self.counter[0]

    def blocks(self, columns=None):
        self.counter[0] += 1
        return self._table.blocks(columns)

    def encoded_labels(self):
        return self._table.encoded_labels()

    def with_subsets(self, subsets):
        one = CountingSource(self._table, subsets)
        one.counter = self.counter
        return one


class TestProgress:
    @pytest.mark.parametrize("selector", [ILFS(), FisherScore(), ReliefF(), SelectKBest(f_classif)], ids=str)
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_fractions_grow_up_to_one_and_do_not_change_the_result(self, selector, n_jobs):
        fractions = []
        found = stability(selector, X, Y, n_jobs=n_jobs, progress=fractions.append, **ARGUMENTS)
        assert fractions == sorted(set(fractions))
        assert fractions[0] > 0
        assert fractions[-1] == 1
        assert_equal(found, stability(selector, X, Y, **ARGUMENTS))

    def test_a_refit_is_a_step(self):
        fractions = []
        stability(ReliefF(), X, Y, progress=fractions.append, **ARGUMENTS)
        np.testing.assert_allclose(fractions, np.arange(1, 9) / 8)  # all rows, six halves, correlations

    def test_the_reads_of_a_stream_are_reported_to_both_listeners(self, monkeypatch):
        monkeypatch.setattr(tables, "BLOCK_ROWS", 32)
        frame = pl.DataFrame({f"f{j}": X[:, j] for j in range(24)} | {"kind": NAMES}).lazy()
        fractions, reads = [], []
        source = stream_source(frame, "kind", None, reads_labels=True)
        source.progress = reads.append
        stability(ILFS(), source, progress=fractions.append, **ARGUMENTS)
        of_rows = [one for one in reads if one.number]
        np.testing.assert_allclose(fractions, [(one.number - 1 + one.fraction) / 4 for one in of_rows])
        assert {one.number for one in of_rows} == {1, 2, 3, 4}

    def test_dask_tables_report_their_reads(self):
        da = pytest.importorskip("dask.array", reason="Dask is not installed")
        fractions = []
        stability(FisherScore(), da.from_array(X, chunks=(32, 24)), Y, progress=fractions.append, **ARGUMENTS)
        np.testing.assert_allclose(fractions, np.arange(1, 7) / 6)  # three partitions, read twice

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_an_interrupt_ends_the_fits(self, n_jobs):
        """Refits after the interrupt would append to the list of the fractions."""
        fractions = []

        def interrupt(fraction):
            fractions.append(fraction)
            if len(fractions) == 3:
                raise KeyboardInterrupt

        for selector in (ILFS(), ReliefF()):
            fractions.clear()
            with pytest.raises(KeyboardInterrupt):
                stability(selector, X, Y, n_jobs=n_jobs, progress=interrupt, **ARGUMENTS)
            assert len(fractions) == 3

    @pytest.mark.parametrize("selector", ["ILFS()", "ReliefF()"])
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_a_signal_ends_a_long_run_at_once(self, selector, n_jobs):
        done = subprocess.run([sys.executable, "-c", INTERRUPTED, selector, str(n_jobs)], check=True, timeout=300)
        assert done.returncode == 0


# A run of minutes, and a signal as Ctrl-C sends it, a tenth of a second after its first report.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from ilfs import ILFS, ReliefF
from ilfs.selection import stability

def begin(fraction):
    global timer
    if timer is None:
        timer = threading.Timer(0.1, send)
        timer.start()

def send():
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(2000, 1000))
    selector, timer, sent = eval(sys.argv[1]), None, None
    try:
        stability(selector, X, X[:, 0] > 0, n_resamples=2000, n_jobs=int(sys.argv[2]), progress=begin)
    except KeyboardInterrupt:
        assert time.monotonic() - sent < 5, time.monotonic() - sent
    else:
        raise AssertionError("not interrupted")
"""


class TestRandomNumbers:
    def test_result_does_not_depend_on_the_number_of_jobs(self):
        for selector in (ILFS(), ReliefF()):
            assert_equal(
                stability(selector, X, Y, n_jobs=2, **ARGUMENTS), stability(selector, X, Y, n_jobs=1, **ARGUMENTS)
            )

    def test_seeds(self):
        first = stability(FisherScore(), X, Y, **ARGUMENTS)
        assert_equal(stability(FisherScore(), X, Y, **ARGUMENTS), first)
        other = stability(FisherScore(), X, Y, random_state=1, **ARGUMENTS)
        assert (other.subsets != first.subsets).any()
        generator = np.random.default_rng(0)
        assert (stability(FisherScore(), X, Y, random_state=generator, **ARGUMENTS).subsets != first.subsets).any()

    def test_groups_stay_together(self):
        # Noise that many copies of a row share looks stable, unless the copies are kept in the same half.
        rng = np.random.default_rng(5)
        rows, labels = rng.standard_normal((24, 200)), np.arange(24) % 2
        many, y, groups = np.repeat(rows, 40, axis=0), np.repeat(labels, 40), np.repeat(np.arange(24), 40)
        options = {"n_resamples": 20, "k": 5}
        apart = stability(FisherScore(), many, y, **options).nogueira.value
        together = stability(FisherScore(), many, y, groups=groups, **options)
        assert apart > 0.7
        assert together.nogueira.value < 0.2
        halves = half_samples([encode_labels(labels)[1]], 20)
        expected = [FisherScore().fit(rows[one], labels[one]).order_[:5] for one in halves]
        np.testing.assert_array_equal(together.subsets, expected)


class TestFamilies:
    def test_copies_replace_each_other(self):
        # Each half chooses by chance one of two noisy copies of every informative feature.
        rng = np.random.default_rng(6)
        y = np.arange(120) % 2
        signal = rng.standard_normal((120, 3)) + 1.5 * y[:, None]
        copies = np.repeat(signal, 2, axis=1) + 0.2 * rng.standard_normal((120, 6))
        table = np.hstack([copies, rng.standard_normal((120, 60))])
        found = stability(ILFS(redundancy="novelty"), table, y, k=3)
        assert found.nogueira.value < 0.8
        assert found.families.value > 0.95
        np.testing.assert_allclose(found.family_frequency[:6], 1.0)
        pairs = found.selection_frequency[:6].reshape(3, 2).sum(axis=1)
        np.testing.assert_allclose(pairs, 1.0)

    def test_family_frequency_matches_brute_force(self):
        mixed = X @ np.random.default_rng(7).standard_normal((24, 24))
        found = stability(FisherScore(), mixed, Y, family_correlation=0.3, **ARGUMENTS)
        related = np.abs(np.corrcoef(mixed, rowvar=False)) >= 0.3
        for column in range(24):
            chosen = np.mean([related[column, subset].any() for subset in found.subsets])
            if found.selection_frequency[column]:
                assert found.family_frequency[column] == pytest.approx(chosen)
            else:
                assert np.isnan(found.family_frequency[column])

    def test_numbers_of_relatives_are_estimated_from_a_sample(self, monkeypatch):
        mixed = np.repeat(X, 10, axis=1) + 0.3 * np.random.default_rng(8).standard_normal((90, 240))
        exact = stability(FisherScore(), mixed, Y, **ARGUMENTS).families.value
        monkeypatch.setattr(resampling, "MAX_SAMPLED_COLUMNS", 120)
        assert stability(FisherScore(), mixed, Y, **ARGUMENTS).families.value == pytest.approx(exact, abs=0.05)

    def test_with_a_correlation_of_1_only_copies_are_a_family(self):
        found = stability(FisherScore(), X, Y, family_correlation=1, **ARGUMENTS)
        assert found.families.value == pytest.approx(found.kuncheva.value)
        assert found.families.variance == pytest.approx(found.kuncheva.variance)

    def test_constant_columns_are_related_to_none(self):
        table = X.copy()
        table[:, 4:] = 1.0
        found = stability(FisherScore(), table, Y, n_resamples=6, k=4)
        assert found.family_frequency[:4].tolist() == [1.0] * 4
        assert np.isnan(found.family_frequency[4:]).all()  # they are never chosen


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_resamples": 1}, "n_resamples must be an integer >= 2, got 1"),
            ({"n_resamples": 5}, "n_resamples must be even with complementary_pairs=True, got 5"),
            ({"k": 0}, "k must be an integer >= 1, got 0"),
            ({"k": 24}, "k must be less than the number of features, 24, got 24"),
            ({"family_correlation": 2}, "family_correlation must be a number from 0 to 1, got 2"),
            ({"complementary_pairs": 1}, "complementary_pairs must be True or False, got 1"),
            ({"groups": np.zeros(3)}, r"groups must have shape \(90,\)"),
            ({"selector": "fischer"}, "fischer"),
            ({"selector": ILFS}, "selector must be a selector or the name of a method"),
            ({"selector": ILFS(n_tokens=1)}, "n_tokens must be an integer >= 2, got 1"),
            ({"y": np.zeros(90)}, "y must have at least two classes"),
            ({"n_jobs": 0}, "n_jobs"),
        ],
    )
    def test_invalid_parameters_are_refused(self, change, message):
        arguments = {"selector": FisherScore(), "X": X, "y": Y} | ARGUMENTS | change
        with pytest.raises(ValueError, match=message):
            stability(**arguments)

    def test_weights_are_refused_by_methods_without_them(self):
        with pytest.raises(TypeError, match="sample_weight needs a selector that supports it, ReliefF does not"):
            stability(ReliefF(), X, Y, sample_weight=np.ones(90), **ARGUMENTS)

    def test_halves_of_one_class_are_refused(self):
        groups = np.array([0] * 10 + [1] * 40 + [2] * 40)
        y = np.array([0] * 9 + [1] * 81)
        with pytest.raises(ValueError, match="groups must give two classes to each half of the rows, got a half with"):
            stability(FisherScore(), X, y, groups=groups, **ARGUMENTS)

    def test_infinity_names_the_column(self):
        table = pd.DataFrame(X.copy(), columns=[f"gene {j}" for j in range(24)])
        table.loc[3, "gene 7"] = np.inf
        for selector in (FisherScore(), ReliefF()):
            with pytest.raises(ValueError, match="gene 7"):
                stability(selector, table, Y, **ARGUMENTS)

    def test_neither_selector_nor_data_are_changed(self):
        selector, table = ILFS(3), X.copy()
        stability(selector, table, Y, **ARGUMENTS)
        assert not hasattr(selector, "order_")
        np.testing.assert_array_equal(table, X)


def null_data(rng, n_rows, n_features, n_informative, shift):
    y = np.arange(n_rows) % 2
    table = rng.standard_normal((n_rows, n_features))
    table[:, :n_informative] += shift * y[:, None]
    return table, y


@pytest.mark.slow
@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
@pytest.mark.parametrize("selector", [FisherScore(), ILFS(redundancy=None)], ids=str)
def test_expected_false_positives_are_bounded(selector, assumption):
    # 200 repeats, 100 features of which 5 are informative: the mean number of false positives, plus two standard
    # errors, stays below the bound at every threshold.
    rng, false = np.random.default_rng(0), {0.6: [], 0.75: [], 0.9: []}
    for _ in range(200):
        found = stability(selector, *null_data(rng, 60, 100, 5, 1.0), n_resamples=50, k=10)
        for threshold, numbers in false.items():
            numbers.append((found.selected(threshold) >= 5).sum())
    for threshold, numbers in false.items():
        bound = found.expected_false_positives(threshold, assumption)
        assert np.mean(numbers) + 2 * np.std(numbers) / np.sqrt(200) <= bound


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [True, False])
def test_intervals_cover_the_value_for_very_many_half_samples(pairs):
    # One data set; its value for 4000 half-samples stands for the limit. 300 results of 50 half-samples each.
    rng = np.random.default_rng(1)
    table, y = null_data(rng, 80, 60, 6, 0.7)
    table[:, 6:12] = table[:, :6] + 0.4 * rng.standard_normal((80, 6))  # relatives of the informative features
    options = {"k": 6, "complementary_pairs": pairs}
    limit = stability(FisherScore(), table, y, n_resamples=4000, random_state=99, **options)
    assert limit.families.value > limit.kuncheva.value + 0.02
    found = [stability(FisherScore(), table, y, random_state=seed, **options) for seed in range(300)]
    for name in ("nogueira", "kuncheva", "families"):
        truth = getattr(limit, name).value
        intervals = [getattr(one, name).interval() for one in found]
        covered = np.mean([low <= truth <= high for low, high in intervals])
        assert 0.90 <= covered <= 0.99, name


def test_breast_cancer_picks_change_but_their_families_do_not():
    data = load_breast_cancer()
    found = stability(ILFS(), data.data, data.target, k=3)
    assert found.families.interval()[0] > found.nogueira.interval()[1]


def test_constant_features_are_never_chosen():
    X = np.zeros((40, 30))
    X[:, 5:8] = np.random.default_rng(0).normal(size=(40, 3))
    y = np.arange(40) % 2
    assert stability(FisherScore(), X, y, k=3, n_resamples=4).selection_frequency[5:8].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="at most the number of features with two different values, 3, got 4"):
        stability(FisherScore(), X, y, k=4, n_resamples=4)
