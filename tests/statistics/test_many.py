"""Statistics under many labellings at once equal those under each labelling."""

import pickle

import numpy as np
import pytest
from metamorphic import small_blocks
from scipy import sparse

from ilfs.execution import Read, at_once, fold_of, run_plan, together
from ilfs.execution.blockwise import sparse_block
from ilfs.execution.plan import ask, combined_read
from ilfs.sources import Batch, BatchReader, BatchSource, table_source
from ilfs.statistics import DistinctValues, Moments, Profile, Shapes, Tokens, many
from ilfs.statistics.labels import ManyLabels, RowLabels, joint_labels, joint_size
from ilfs.statistics.many import ManyMoments, ManyProfiles, ManyShapes, ManyTokens, combined

N_ROWS, N_PERMUTATIONS = 700, 9
LABELLINGS = tuple(range(1, N_PERMUTATIONS + 1))
rng = np.random.default_rng(0)


def normal(y):
    return rng.normal(size=(y.size, 43)) + 3.0


def far_from_zero(y):
    return rng.normal(size=(y.size, 12)) + 1e7


def heavy_tails(y):
    return rng.standard_cauchy(size=(y.size, 40))


def skewed(y):
    return rng.lognormal(sigma=2.0, size=(y.size, 20))


def effects(y):
    """All thresholds are reached under the observed labels, which are one of the labellings."""
    return rng.normal(size=(y.size, 20)) + np.outer(y, np.linspace(0, 8, 20))


def integers(y):
    return rng.integers(-2, 3, size=(y.size, 33)).astype(float)


def binary(y):
    return (rng.random((y.size, 24)) < np.linspace(0.002, 0.998, 24)).astype(float)


def tenths(y):
    return rng.integers(1, 7, size=(y.size, 16)) / 10


def missing(y):
    X = rng.normal(size=(y.size, 24))
    X[rng.random(X.shape) < np.linspace(0, 1, 24)] = np.nan
    X[:-1, 3] = np.nan
    X[:, 5] = np.nan
    return X


def rare_counts(y):
    X = rng.poisson(np.linspace(0.001, 2, 24), size=(y.size, 24)) * rng.lognormal(size=(y.size, 24))
    X[:, 0] = 0.0
    X[::7, 20] = -X[::7, 20]
    X[::11, 21] = np.nan
    return X


def rare_signs(y):
    """If both of the values that are not 0 are of one class, the means of all classes are 0 and a class is constant."""
    X = np.zeros((y.size, 30))
    for column in X.T:
        column[rng.choice(y.size, 2, replace=False)] = [1, -1]
    return X


def nearly_constant(y):
    X = np.ones((y.size, 10)) * 0.1
    X[0, 1], X[-1, 2], X[:2, 3], X[: y.size // 2, 4] = 7.0, -0.3, 0.2, 0.7
    X[:, 5] = np.where(y > 0, 0.3, 0.1)  # constant within the observed classes
    return X


TABLES = (
    normal,
    far_from_zero,
    heavy_tails,
    skewed,
    effects,
    integers,
    binary,
    tenths,
    missing,
    rare_counts,
    rare_signs,
    nearly_constant,
)
tables = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "singles": lambda X: X.astype(np.float32),
    "single columns": lambda X: np.asfortranarray(X.astype(np.float32)),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "sparse": sparse.csr_array,
    "sparse singles": lambda X: sparse.csc_array(X.astype(np.float32)),
    "stored zeros": lambda X: with_stored_zeros(sparse.csc_array(X)),
}


def with_stored_zeros(X):
    """Store the first zero of each column."""
    dense = X.toarray()
    columns = np.flatnonzero((dense == 0).any(axis=0))
    rows = (dense == 0).argmax(axis=0)[columns]
    found = X.tocoo()
    data, i = np.append(found.data, np.zeros(columns.size)), np.append(found.row, rows)
    return sparse.csc_array((data, (i, np.append(found.col, columns))), shape=X.shape)


def labels(n_classes, n_rows=N_ROWS, unbalanced=False):
    y = np.arange(n_rows) % n_classes
    return np.where(np.arange(n_rows) % 10 < 7, 0, y) if unbalanced else y


def fold(X, y, weight=None, groups=None):
    return fold_of(table_source(X, y, weight).with_permutations(N_PERMUTATIONS, groups=groups))


def separately(engine, descriptions, labellings=LABELLINGS):
    reads = [Read(one, None, number) for one, number in zip(descriptions, labellings, strict=True)]
    return list(engine.read(reads))


def tokens_of(engine, labellings=LABELLINGS, n_tokens=6, **options):
    moments = separately(engine, [Moments()] * len(labellings), labellings)
    return [Tokens(one, np.linspace(0, 1, n_tokens + 1), **options) for one in moments]


def check_tokens(engine, each, labellings=LABELLINGS):
    at_once = engine(ManyTokens(tuple(each)), labelling=labellings)
    for one, other in zip(at_once.parts, separately(engine, each, labellings), strict=True):
        np.testing.assert_array_equal(one.at_least, other.at_least)


@pytest.fixture
def is_counted(monkeypatch):
    """Fail unless tokens were counted at once, or not, as a test expects."""
    calls = []
    monkeypatch.setattr(many, "MIN_STORED_AT_ONCE", 1)
    count = ManyTokens._count
    monkeypatch.setattr(ManyTokens, "_count", lambda self, block: calls.append(block) or count(self, block))
    return calls


class TestTokens:
    @tables
    @pytest.mark.parametrize("n_classes", [2, 3, 5])
    def test_counts_are_those_of_each_labelling(self, table, n_classes, is_counted):
        y = labels(n_classes)
        engine = fold(table(y), y)
        labellings = (0, *LABELLINGS)
        check_tokens(engine, tokens_of(engine, labellings), labellings)
        assert is_counted

    @tables
    @pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
    def test_counts_do_not_depend_on_the_layout(self, table, layout, is_counted):
        y = labels(2, unbalanced=True)
        engine = fold(layout(table(y)), y)
        check_tokens(engine, tokens_of(engine))
        assert is_counted

    @pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("table", [normal, integers, heavy_tails, missing, rare_counts])
    @pytest.mark.parametrize(
        "options",
        [{"leave_one_out": False}, {"balanced": False}, {"n_tokens": 2}, {"n_tokens": 7}, {"n_tokens": 60}],
        ids=str,
    )
    def test_counts_are_right_for_all_options(self, table, options, layout, is_counted):
        y = labels(2, unbalanced=True)
        engine = fold(layout(table(y)), y)
        check_tokens(engine, tokens_of(engine, **options))
        assert is_counted

    @pytest.mark.parametrize("n_rows", [512, 513, 575, 576, 577, 1024, 1100])
    def test_any_number_of_rows_is_counted(self, n_rows, is_counted):
        y = labels(2, n_rows)
        engine = fold(integers(y), y)
        check_tokens(engine, tokens_of(engine))
        assert is_counted

    @pytest.mark.parametrize(
        ("n_rows", "options", "weight", "convert"),
        [
            (400, {}, None, np.asarray),
            (N_ROWS, {"evidence": "distance"}, None, np.asarray),
            (N_ROWS, {}, np.linspace(0.5, 2, N_ROWS), np.asarray),
            (N_ROWS, {}, np.arange(N_ROWS) % 2.0, np.asarray),
            (N_ROWS, {}, np.linspace(0.5, 2, N_ROWS), sparse.csr_array),
        ],
        ids=["few rows", "distance", "weights", "left out", "sparse with weights"],
    )
    def test_other_data_are_counted_under_each_labelling(self, n_rows, options, weight, convert, is_counted):
        y = labels(3, n_rows)
        engine = fold(convert(integers(y)), y, weight)
        check_tokens(engine, tokens_of(engine, **options))
        assert not is_counted

    @tables
    def test_sparse_rows_of_weight_0_are_left_out(self, table, is_counted):
        y, weight = labels(3), (np.arange(N_ROWS) % 5 > 0).astype(float)
        engine = fold(sparse.csr_array(table(y)), y, weight)
        check_tokens(engine, tokens_of(engine))
        assert is_counted

    @pytest.mark.parametrize("n_classes", [2, 3, 6])
    def test_sparse_columns_are_counted_under_many_labellings(self, n_classes, is_counted):
        """More labellings than are counted in one call."""
        y = labels(n_classes)
        engine = fold_of(table_source(sparse.csr_array(rare_counts(y)), y).with_permutations(40))
        check_tokens(engine, tokens_of(engine, tuple(range(41))), tuple(range(41)))
        assert is_counted

    def test_sparse_columns_with_few_values_are_counted_under_each_labelling(self, is_counted, monkeypatch):
        monkeypatch.setattr(many, "MIN_STORED_AT_ONCE", 50)
        y = labels(2)
        X = np.where(rng.random((y.size, 30)) < 0.05, 1.5, 0.0)
        engine = fold(sparse.csr_array(X), y)
        check_tokens(engine, tokens_of(engine))
        assert not is_counted

    def test_many_classes_are_counted_under_each_labelling(self, is_counted):
        y = labels(20)
        engine = fold(normal(y), y)
        check_tokens(engine, tokens_of(engine))
        assert not is_counted


class TestMoments:
    @tables
    @pytest.mark.parametrize("n_classes", [2, 3, 30])
    @pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sparse.csc_array])
    def test_they_are_those_of_each_labelling(self, table, n_classes, layout):
        y = labels(n_classes)
        X = table(y)
        engine = fold(layout(X), y)
        at_once = engine(ManyMoments(), labelling=LABELLINGS)
        # Sparse columns: all distances from the first value are added in a chain, and so are their squares. The first
        # value may be n times further from the mean than the others.
        eps = np.finfo(float).eps if layout is sparse.csc_array else 0.0
        largest = np.nan_to_num(np.abs(X)).max()
        for one, other in zip(at_once.parts, separately(engine, [Moments()] * N_PERMUTATIONS), strict=True):
            np.testing.assert_array_equal(one.count, other.count)
            atol = 1e-13 * np.abs(other.mean).max() + N_ROWS * eps * largest
            np.testing.assert_allclose(one.mean, other.mean, rtol=1e-15, atol=atol)
            # A mean is rounded, by up to eps / 2 of its size. So the deviations from it are, too, once per merged mean.
            rounding = np.finfo(float).eps * np.abs(other.mean) * np.sqrt(other.count * other.scatter)
            relative = 1e-12 + other.count**2 * eps
            assert (np.abs(one.scatter - other.scatter) <= 4 * rounding + relative * other.scatter).all()

    def test_weights_are_used_and_weight_0_is_left_out(self):
        y, weight = labels(2), np.arange(N_ROWS) % 3.0
        engine = fold(normal(y), y, weight)
        at_once = engine(ManyMoments(), labelling=LABELLINGS)
        for one, other in zip(at_once.parts, separately(engine, [Moments()] * N_PERMUTATIONS), strict=True):
            np.testing.assert_allclose(one.count, other.count, rtol=1e-12)
            np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)
            np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-10)

    def test_a_column_that_is_constant_in_a_class_has_scatter_0(self):
        y = labels(2)
        source = table_source(np.empty((N_ROWS, 0)), y).with_permutations(N_PERMUTATIONS)
        codes = np.array([source.block_labels(number, slice(0, N_ROWS)).codes for number in LABELLINGS])
        X = np.where(codes.T == 1, 0.1, 0.7)  # column i is perfect under permutation i
        at_once = fold(X, y)(ManyMoments(), labelling=LABELLINGS)
        for number, one in enumerate(at_once.parts):
            np.testing.assert_array_equal(one.scatter[:, number], 0.0)
            np.testing.assert_array_equal(one.mean[:, number], [0.7, 0.1])

    def test_infinity_is_refused_with_its_column(self):
        X, y = normal(labels(2)), labels(2)
        X[600, 7] = np.inf
        with pytest.raises(ValueError, match="column 7 holds infinity"):
            fold(X, y)(ManyMoments(), labelling=LABELLINGS)


class TestProfilesAndShapes:
    @tables
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sparse.csc_array])
    def test_profiles_are_those_of_each_labelling(self, table, n_classes, layout):
        y = labels(n_classes)
        X = table(y)
        engine = fold(layout(X), y)
        at_once = engine(ManyProfiles(), labelling=LABELLINGS)
        largest = np.nan_to_num(np.abs(X)).max()
        for one, other in zip(at_once.parts, separately(engine, [Profile()] * N_PERMUTATIONS), strict=True):
            for name in ("count", "zeros", "negative"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            np.testing.assert_allclose(one.mean, other.mean, rtol=1e-14, atol=N_ROWS * np.finfo(float).eps * largest)

    @tables
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("layout", [np.ascontiguousarray, sparse.csc_array])
    def test_shapes_are_those_of_each_labelling(self, table, n_classes, layout):
        y = labels(n_classes)
        engine = fold(layout(table(y)), y)
        shapes = Shapes.from_moments(engine(Moments()))
        at_once = engine(ManyShapes(shapes), labelling=LABELLINGS)
        for one, other in zip(at_once.parts, separately(engine, [shapes] * N_PERMUTATIONS), strict=True):
            for name, values in vars(one).items():
                np.testing.assert_allclose(values, getattr(other, name), rtol=1e-10, atol=1e-9)

    @pytest.mark.parametrize("make", [ManyMoments, ManyProfiles])
    def test_labellings_of_other_weights_are_counted_in_turn(self, make):
        """Labellings may be subsets of the rows, as those of stability selection."""
        y = labels(2)
        weights = np.ones(N_ROWS), (np.arange(N_ROWS) % 2).astype(float)
        each = [RowLabels(np.where(weight > 0, y, -1), weight, 2) for weight in weights]
        (block,) = table_source(sparse.csr_array(integers(y)), y).blocks()
        whole = sparse_block(block, ManyLabels.from_each(each))
        assert not whole.labels.is_uniform
        for one, row_labels in zip(make()(whole).parts, each, strict=True):
            np.testing.assert_array_equal(one.count.sum(axis=0), row_labels.weight.sum())

    def test_shapes_with_other_means_are_not_combined(self):
        one, other = Shapes(np.zeros(3), np.ones(3)), Shapes(np.full(3, 1e-6), np.ones(3))
        close = Shapes(np.full(3, 1e-12), np.ones(3))
        assert isinstance(combined([one, close]), ManyShapes)
        assert combined([one, other]) is None
        assert combined([one, Moments()]) is None


class TestLabels:
    def test_joint_codes_are_the_digits_of_the_classes(self):
        each = [RowLabels(np.array(codes), np.ones(4), 3) for codes in ([0, 1, 2, -1], [2, 0, 1, -1], [1, 1, 0, -1])]
        joint = joint_labels(each)
        assert joint.codes.tolist() == [0 + 6 + 9, 1 + 0 + 9, 2 + 3 + 0, -1]
        assert joint.n_classes == 27

    @pytest.mark.parametrize(
        ("n_classes", "n_rows", "size"), [(2, 8192, 7), (2, 400, 3), (2, 10, 1), (3, 8192, 4), (200, 8192, 1)]
    )
    def test_combinations_have_some_rows(self, n_classes, n_rows, size):
        assert joint_size(n_classes, n_rows) == size

    @pytest.mark.parametrize(
        ("n_classes", "dtype"), [(2, np.int8), (128, np.int8), (129, np.int16), (40_000, np.int32)]
    )
    def test_kept_labels_take_few_bytes(self, n_classes, dtype):
        each = [RowLabels(np.array([0, n_classes - 1, -1]), np.array([1.0, 1.0, 0.0]), n_classes)] * 3
        narrow = ManyLabels.from_each(each).narrowed()
        assert {one.codes.dtype for one in narrow.each} == {np.dtype(dtype)}
        for one, wide in zip(narrow.each, each, strict=True):
            np.testing.assert_array_equal(one.widened().codes, wide.codes)
            assert one.widened().codes.dtype == np.int64
        np.testing.assert_array_equal(joint_labels(narrow.each[:2]).codes, joint_labels(each[:2]).codes)

    def test_bits_are_the_rows_of_a_class(self):
        codes = np.arange(150) % 3
        many_labels = ManyLabels.from_each([RowLabels(codes, np.ones(150), 3), RowLabels(2 - codes, np.ones(150), 3)])
        for group, expected in zip(many_labels.bits, [0, 1, 2, 2, 1, 0], strict=True):
            rows = [row for row in range(192) if int(group[row // 64]) >> row % 64 & 1]
            assert rows == np.flatnonzero(codes == expected).tolist()


class Reader(BatchReader):
    """Reader of an array in batches of 100 rows."""

    def __init__(self, X, y):
        self.X, self.y, self.n_features = X, y, X.shape[1]
        self.is_sparse, self.has_labels, self.dtype = False, True, X.dtype

    def batches(self, columns, max_rows):
        for start in range(0, len(self.X), 100):
            X = self.X[start : start + 100]
            yield Batch(X if columns is None else X[:, columns], self.y[start : start + 100], None, len(X))


class TestEngines:
    def plans(self):
        return [ask(Moments(), labelling=number) for number in LABELLINGS]

    def test_a_stream_has_the_bits_of_memory(self, monkeypatch):
        monkeypatch.setattr(many, "MIN_ROWS_AT_ONCE", 50)
        y = labels(2)
        X = integers(y)
        with small_blocks(256):
            memory = fold(X, y)
            stream = fold_of(BatchSource(Reader(X, y)).with_permutations(N_PERMUTATIONS))
            for description in (ManyMoments(), ManyTokens(tuple(tokens_of(memory)))):
                one, other = (engine(description, labelling=LABELLINGS) for engine in (memory, stream))
                for part, same in zip(one.parts, other.parts, strict=True):
                    for name, values in vars(part).items():
                        np.testing.assert_array_equal(values, getattr(same, name))

    def test_threads_do_not_change_a_bit(self):
        y = labels(2)
        X = np.tile(normal(y), (1, 40))
        source = table_source(X, y).with_permutations(N_PERMUTATIONS)
        one, two = fold_of(source, n_jobs=1), fold_of(source, n_jobs=2)
        first, second = (engine(ManyMoments(), labelling=LABELLINGS) for engine in (one, two))
        each = tuple(Tokens(part, np.linspace(0, 1, 7)) for part in first.parts)
        for part, same in zip(first.parts, second.parts, strict=True):
            np.testing.assert_array_equal(part.scatter, same.scatter)
            np.testing.assert_array_equal(part.mean, same.mean)
        counts = [engine(ManyTokens(each), labelling=LABELLINGS) for engine in (one, two)]
        for part, same in zip(*(count.parts for count in counts), strict=True):
            np.testing.assert_array_equal(part.at_least, same.at_least)

    def test_plans_make_one_request(self):
        (read,) = at_once(self.plans()).send(None)
        assert isinstance(read.description, ManyMoments)
        assert read.labelling == LABELLINGS
        assert len(together(self.plans()).send(None)) == N_PERMUTATIONS

    def test_their_results_are_those_of_together(self):
        y = labels(3)
        engine = fold(normal(y), y)
        one, other = (run_plan(way(self.plans()), engine) for way in (at_once, together))
        for part, same in zip(one, other, strict=True):
            np.testing.assert_allclose(part.mean, same.mean, rtol=1e-12)

    @pytest.mark.parametrize(
        "reads",
        [
            [Read(Moments(), None, 1)],
            [Read(Moments(), None, 1), Read(Moments(), None, None)],
            [Read(Moments(), np.arange(2), 1), Read(Moments(), np.arange(2), 2)],
            [Read(DistinctValues(2), None, 1), Read(DistinctValues(2), None, 2)],
            [Read(DistinctValues(2), None, 1), Read(Moments(), None, 2)],
        ],
        ids=["one", "no labels", "columns", "other", "mixed"],
    )
    def test_other_requests_are_not_combined(self, reads):
        assert combined_read(reads) is None

    def test_descriptions_can_be_pickled(self):
        y = labels(2)
        engine = fold(normal(y), y)
        description = ManyTokens(tuple(tokens_of(engine)))
        description.contrast  # noqa: B018  left out of the pickle
        check = pickle.loads(pickle.dumps(description))
        assert "contrast" not in vars(check)
        one, other = (engine(some, labelling=LABELLINGS) for some in (check, description))
        np.testing.assert_array_equal(one.parts[0].at_least, other.parts[0].at_least)
