"""FSV against a general LP solver, brute force over all vertices and the authors' toolbox; invariances."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from configurations import CONFIGURATIONS
from helpers import DATA, NO_DATA, load, oracle, peak_megabytes, planted
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ilfs import FSV
from ilfs.execution import columns
from ilfs.methods import fsv
from ilfs.solvers.hinge_program import HingeProgram


def overlapping(n_samples, n_features, seed=0, shift=0.7):
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 2
    X = rng.normal(size=(n_samples, n_features))
    X[:, : min(3, n_features)] += shift * y[:, None]
    return X, y


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def mean_hinges(Z, y, weight, intercept):
    loss = np.maximum(1 - np.where(y, 1, -1) * (Z @ weight + intercept), 0)
    return loss[y == 1].mean() + loss[y == 0].mean()


def objective(Z, y, weight, intercept, penalty, alpha=5.0):
    concave = np.sum(1 - np.exp(-alpha * np.abs(weight)))
    return (1 - penalty) * mean_hinges(Z, y, weight, intercept) + penalty * concave


def minimum_value(Z, y, cost, penalty):
    """Minimum of (1 - penalty) mean hinges + cost |w| over all planes, by a general LP solver."""
    m = len(Z)
    S = np.where(y, 1.0, -1.0)[:, None] * np.column_stack([Z, np.ones(m)])
    p = (1 - penalty) / np.where(y, (y == 1).sum(), (y == 0).sum())
    c = np.append(cost, 0.0)
    A = np.hstack([-S, S, -np.eye(m)])
    return linprog(np.concatenate([c, c, p]), A_ub=A, b_ub=-np.ones(m), method="highs").fun


def first_program(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return FSV(max_iter=1, **parameters).fit(X, y)


SHAPES = [(40, 6), (200, 15), (25, 120)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shift", [0.0, 0.7, 6.0])
@pytest.mark.parametrize("penalty", [0.05, 0.001])
def test_the_first_program_is_solved_exactly(shape, shift, penalty):
    X, y = overlapping(*shape, shift=shift)
    done = first_program(X, y, penalty=penalty)
    Z, weight = standardised(X), done.weights_[0]
    value = (1 - penalty) * mean_hinges(Z, y, weight, done.intercepts_[0]) + penalty * 5.0 * np.abs(weight).sum()
    assert value == pytest.approx(minimum_value(Z, y, np.full(shape[1], penalty * 5.0), penalty), abs=1e-9)
    assert np.abs(done.duality_gap_).max() < 1e-9


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shift", [0.0, 0.7, 6.0])
@pytest.mark.parametrize("penalty", [0.05, 0.01])
def test_the_objective_never_rises_and_ends_at_a_stationary_point(shape, shift, penalty):
    X, y = overlapping(*shape, shift=shift)
    done = FSV(penalty=penalty, tol=1e-12).fit(X, y)
    Z, weight, intercept = standardised(X), done.weights_[0], done.intercepts_[0]
    assert (np.diff(done.objective_[0]) <= 1e-12).all()
    assert done.objective_[0][-1] == pytest.approx(objective(Z, y, weight, intercept, penalty))
    # stationary: no plane is better if the concave penalty is replaced by its tangent
    cost = penalty * 5.0 * np.exp(-5.0 * np.abs(weight))
    here = (1 - penalty) * mean_hinges(Z, y, weight, intercept) + cost @ np.abs(weight)
    assert here == pytest.approx(minimum_value(Z, y, cost, penalty), abs=1e-9)


def lowest_vertex(Z, y, penalty):
    """Global optimum by enumeration of all vertices.

    The objective is concave wherever no loss and no weight changes sign, so its minimum is at a vertex: a point where
    as many losses and weights vanish as there are unknowns.
    """
    m, n = Z.shape
    losses = np.column_stack([np.where(y, 1.0, -1.0)[:, None] * np.column_stack([Z, np.ones(m)]), np.ones(m)])
    planes = np.vstack([losses, np.eye(n, n + 2)])
    systems = planes[np.array(list(combinations(range(m + n), n + 1)))]
    systems = systems[np.abs(np.linalg.det(systems[:, :, :-1])) > 1e-9]
    points = np.linalg.solve(systems[:, :, :-1], systems[:, :, -1:])[:, :, 0]
    values = [objective(Z, y, point[:-1], point[-1], penalty) for point in points]
    return points[np.argmin(values)], min(values)


def test_the_objective_is_at_least_the_global_optimum_and_often_equals_it():
    penalty, found = 0.1, []
    for seed in range(12):
        X, y = overlapping(8, 5, seed=seed, shift=2.0)
        done = FSV(penalty=penalty).fit(X, y)
        point, value = lowest_vertex(standardised(X), y, penalty)
        assert done.objective_[0][-1] >= value - 1e-12
        found.append(np.allclose(done.weights_[0], point[:-1], atol=1e-9))
        if found[-1]:
            np.testing.assert_array_equal(done.weights_[0] != 0, np.abs(point[:-1]) > 1e-9)
    assert sum(found) >= 7  # only a stationary point is guaranteed; it is often the global optimum


@pytest.mark.parametrize(
    ("name", "configuration", "n_programs"),
    [
        ("syn2c_60x40", "fsv", 2),
        ("syn2c_60x40", "fsv_numF10", 3),
        ("syn3c_90x30", "fsv", 3),
        ("allaml_72x400", "fsv", 2),
        ("allaml_72x400", "fsv_numF10", 3),
        ("colon_62x300", "fsv", 3),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_of_separable_classes_equal_those_of_the_authors_toolbox(name, configuration, n_programs):
    # all these sets are separable; rounding errors decide whether the toolbox stops after two or three programs
    X, y, weights, _ = oracle(name, configuration)
    done = FSV(penalty=1e-5, standardize=False, max_iter=n_programs).fit(X, y)
    scale = np.abs(weights).max()
    np.testing.assert_allclose(np.abs(done.weights_[0]) / scale, np.abs(weights) / scale, atol=1e-6)
    assert mean_hinges(X, y > 0, done.weights_[0], done.intercepts_[0]) < 1e-6


def test_the_first_unused_feature_is_the_next_to_enter():
    X, y = planted(n_samples=80, n_features=30, n_informative=6, shift=0.8)
    few, many = 0.08, 0.002  # penalties with which few and many features are used

    def used(penalty):
        return set(np.flatnonzero(first_program(X, y, penalty=penalty).weights_[0]).tolist())

    before = used(few)
    for _ in range(40):
        middle = (few * many) ** 0.5
        few, many = (middle, many) if used(middle) == before else (few, middle)
    (new,) = used(many) - before
    for rest in ("programs", "last"):
        done = first_program(X, y, penalty=few * (1 + 1e-6), rest=rest)
        assert done.order_[len(before)] == new
        assert 0.999 < done.scores_[new] <= 1.0


def test_scores_separate_used_dropped_and_never_used_features():
    X, y = planted(n_samples=60, n_features=200, n_informative=8, shift=1.0)
    done, first = FSV(n_planes=1).fit(X, y), first_program(X, y, n_planes=1)
    in_use = done.weights_[0] != 0
    np.testing.assert_allclose(done.scores_[in_use], 2 + np.abs(done.weights_[0, in_use]))
    dropped = (first.weights_[0] != 0) & ~in_use
    assert dropped.any()
    assert ((done.scores_[dropped] > 1.5) & (done.scores_[dropped] < 2)).all()
    never = done.scores_ <= 1
    assert never.sum() > 100
    np.testing.assert_allclose(done.scores_[never], first.scores_[never])
    last = FSV(rest="last").fit(X, y)
    np.testing.assert_array_equal(last.weights_, done.weights_)
    assert (last.scores_[~in_use] <= 1).all()


def half_ratio_penalty(done):
    """Penalty with half the lambda / (1 - lambda) of a fitted plane."""
    ratio = done.penalties_[0] / (1 - done.penalties_[0]) / 2
    return ratio / (1 + ratio)


def test_each_round_of_planes_excludes_the_features_of_earlier_rounds():
    X, y = planted(n_samples=60, n_features=200, n_informative=8, shift=1.0)
    done, place = FSV(n_planes=4).fit(X, y), 0
    for here in (np.arange(200), np.sort(done.order_[done.plane_sizes_[0][:2].sum() :])):
        half = FSV(n_planes=1).fit(X[:, here], y)
        fourth = FSV(penalty=half_ratio_penalty(half)).fit(X[:, here], y)
        size = half.n_supported_
        np.testing.assert_array_equal(done.order_[place : place + size], here[half.order_[:size]])
        more = np.setdiff1d(here[fourth.order_[: fourth.n_supported_]], done.order_[: place + size])
        assert set(done.order_[place + size : place + size + more.size]) == set(more)
        place += size + more.size
    assert done.n_supported_ == done.plane_sizes_[0].sum() == place == (done.scores_ > 1).sum()
    ends = np.cumsum(done.plane_sizes_[0])
    for p, features in enumerate(np.split(done.order_, ends)[:4]):
        assert (done.scores_[features] > 1 + 1 / (p + 2)).all()
        assert p == 0 or (done.scores_[features] < 1 + 1 / (p + 1)).all()


def test_planes_are_fitted_until_enough_features_have_had_weight():
    X, y = planted(n_samples=60, n_features=500, n_informative=8, shift=1.0)
    done, one = FSV().fit(X, y), FSV(n_planes=1).fit(X, y)
    sizes = done.plane_sizes_[0]
    assert sizes.sum() == done.n_supported_ >= fsv.MIN_SUPPORTED_FEATURES > sizes[:-1].sum()
    assert one.n_supported_ == sizes[0] < fsv.MIN_SUPPORTED_FEATURES
    np.testing.assert_array_equal(done.weights_, one.weights_)  # attributes describe the first plane
    np.testing.assert_array_equal(done.order_[: sizes[0]], one.order_[: sizes[0]])
    for single in (FSV(penalty=0.02), FSV(rest="last")):
        assert len(single.fit(X, y).plane_sizes_[0]) == 1


def test_planes_end_when_all_features_have_had_weight():
    X, y = overlapping(60, 12)
    done = FSV().fit(X, y)
    assert done.n_supported_ == done.plane_sizes_[0].sum() == 12


def test_the_required_number_of_features_is_divided_among_classes():
    X, y = planted(n_samples=90, n_features=400, n_classes=3, shift=2.0)
    done = FSV().fit(X, y)
    for sizes in done.plane_sizes_:
        assert sizes.sum() >= fsv.MIN_SUPPORTED_FEATURES / 3 > sizes[:-1].sum()


def test_the_automatic_penalty_is_half_of_the_ratio_at_which_no_feature_is_used():
    X, y = overlapping(60, 20)
    Z = standardised(X)
    highest = np.abs(Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0)).max() / 5.0
    (penalty,) = FSV().fit(X, y).penalties_
    assert penalty / (1 - penalty) == pytest.approx(highest / 2)
    for fraction, n_used in ((1.0001, 0), (0.9999, 1)):
        ratio = fraction * highest
        done = first_program(X, y, penalty=ratio / (1 + ratio))
        assert done.support_sizes_.tolist() == [n_used]


def test_if_no_feature_is_used_the_order_follows_the_difference_of_class_means():
    X, y = overlapping(60, 20)
    Z = standardised(X)
    done = FSV(penalty=0.9).fit(X, y)
    assert done.support_sizes_.tolist() == [0]
    distance = np.abs(Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0))
    np.testing.assert_array_equal(done.order_, np.argsort(-distance))


def test_several_classes_are_fitted_one_against_the_rest():
    X, y = planted(n_samples=90, n_features=40, n_classes=3, shift=2.0)
    done = FSV().fit(X, y)
    assert done.weights_.shape == (3, 40)
    alone = [FSV().fit(X, y == k) for k in range(3)]
    for k, one in enumerate(alone):
        np.testing.assert_array_equal(done.weights_[k], one.weights_[0])
        np.testing.assert_array_equal(done.objective_[k], one.objective_[0])
    in_use = (done.weights_ != 0).any(axis=0)
    np.testing.assert_allclose(done.scores_[in_use], 2 + np.abs(done.weights_[:, in_use]).sum(axis=0))
    assert set(done.order_[: in_use.sum()].tolist()) == set(np.flatnonzero(in_use).tolist())
    assert done.n_iter_ == max(one.n_iter_ for one in alone)


@pytest.mark.parametrize("standardize", [True, False])
def test_weights_and_intercept_reproduce_the_objective(standardize):
    X, y = overlapping(60, 20)
    X = 5 * X + 100
    done = FSV(penalty=0.02, standardize=standardize).fit(X, y)
    Z = (X - done.mean_) / done.scale_
    value = objective(Z, y, done.weights_[0], done.intercepts_[0], 0.02)
    assert value == pytest.approx(done.objective_[0][-1], abs=1e-12)
    assert done.support_sizes_[0] == (done.weights_ != 0).sum() > 0


def test_unit_and_offset_do_not_matter_if_standardised():
    X, y = overlapping(60, 20)
    done = FSV().fit(X, y)
    other = FSV().fit(X * np.logspace(-3, 3, 20) - 50 * np.logspace(-3, 3, 20), y)
    np.testing.assert_allclose(other.scores_, done.scores_, rtol=1e-8)
    raw = FSV(standardize=False).fit(X, y)
    np.testing.assert_allclose(FSV(standardize=False).fit(X - 1e5, y).scores_, raw.scores_, rtol=1e-6)
    assert not np.allclose(raw.scores_, done.scores_)


def test_a_large_offset_loses_no_precision():
    X, y = overlapping(60, 20)
    far = X + 1e7
    np.testing.assert_allclose(FSV().fit(far, y).scores_, FSV().fit(far - 1e7, y).scores_, rtol=1e-9)


def test_swapping_the_classes_changes_the_sign_of_the_weights():
    X, y = overlapping(60, 20)
    one, two = FSV().fit(X, y), FSV().fit(X, 1 - y)
    np.testing.assert_allclose(two.weights_, -one.weights_, atol=1e-9)
    np.testing.assert_allclose(two.intercepts_, -one.intercepts_, atol=1e-9)
    np.testing.assert_allclose(two.scores_, one.scores_, atol=1e-9)


def test_repeating_every_sample_changes_nothing():
    X, y = overlapping(40, 15)
    one, two = FSV().fit(X, y), FSV().fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(two.weights_, one.weights_, atol=1e-9)


def test_only_one_of_two_equal_columns_is_used():
    X, y = overlapping(60, 10)
    X[:, 7] = X[:, 0]
    done = FSV(penalty=0.02).fit(X, y)
    assert (done.weights_[0, [0, 7]] != 0).sum() == 1
    without = FSV(penalty=0.02).fit(np.delete(X, 7, axis=1), y)
    assert done.objective_[0][-1] == pytest.approx(without.objective_[0][-1])


def test_a_class_may_have_one_sample():
    X, _ = overlapping(12, 30)
    done = FSV().fit(X, np.arange(12) == 4)
    assert done.support_sizes_[0] >= 1
    assert np.abs(done.duality_gap_).max() < 1e-9


def test_equal_class_means_give_a_warning():
    X, _ = overlapping(30, 4)
    with pytest.warns(UserWarning, match="no feature has different means in two classes: the planes use no feature"):
        done = FSV().fit(np.vstack([X, X]), np.repeat([0, 1], 30))
    assert done.support_sizes_.tolist() == [0]
    assert done.scores_.max() < 1e-9


def test_too_few_programs_give_a_convergence_warning():
    X, y = overlapping(60, 20)
    with pytest.warns(ConvergenceWarning, match="1 of 1 planes did not converge in max_iter=1 linear programs"):
        FSV(max_iter=1, n_planes=1).fit(X, y)


def test_an_unsolved_program_gives_a_convergence_warning(monkeypatch):
    X, y = overlapping(60, 20)
    move = HingeProgram.move
    monkeypatch.setattr(HingeProgram, "move", lambda program, cost, _: move(program, cost, 5))
    with pytest.warns(ConvergenceWarning, match="a linear program was not solved to optimality for 1 of 1 planes"):
        done = FSV(penalty=0.001).fit(X, y)
    assert done.duality_gap_[0] > 1e-3
    assert sorted(done.order_) == list(range(20))


def test_scores_do_not_depend_on_blocks_and_threads(monkeypatch):
    X, y = planted(n_samples=100, n_features=300, n_classes=3)
    one = FSV(n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(FSV(n_jobs=3).fit(X, y).scores_, one.scores_)
    monkeypatch.setattr(columns, "DENSE_BLOCK_VALUES", 1000)
    small = FSV(n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(FSV(n_jobs=3).fit(X, y).scores_, small.scores_)
    np.testing.assert_allclose(small.scores_, one.scores_, rtol=1e-9)


def test_weights_do_not_depend_on_how_many_features_enter_at_once(monkeypatch):
    X, y = overlapping(60, 300)
    plain = FSV(penalty=0.01).fit(X, y)
    monkeypatch.setattr(fsv, "MIN_BATCH_FEATURES", 1)
    monkeypatch.setattr(fsv, "N_COST_LEVELS", 1)
    np.testing.assert_allclose(FSV(penalty=0.01).fit(X, y).weights_, plain.weights_, atol=1e-9)


@pytest.mark.parametrize("penalty", ["auto", 0.005])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_solving_a_subsample_first_does_not_change_the_result(monkeypatch, penalty, form):
    X, y = overlapping(1500, 30)
    plain = FSV(penalty=penalty).fit(form(X), y)
    lifted = []
    original = HingeProgram.lifted
    monkeypatch.setattr(HingeProgram, "lifted", lambda *program: lifted.append(program) or original(*program))
    monkeypatch.setattr(fsv, "MAX_DIRECT_SAMPLES", 200)
    monkeypatch.setattr(fsv, "MIN_SUBSAMPLE_PER_CLASS", 10)
    monkeypatch.setattr(fsv, "SUBSAMPLE_DIVISOR", 3)  # 1500, 500, 166
    done = FSV(penalty=penalty).fit(form(X), y)
    assert {rows.size for _, rows, *_ in lifted} == {500, 166}
    np.testing.assert_allclose(done.scores_, plain.scores_, atol=1e-9)
    np.testing.assert_allclose(done.weights_, plain.weights_, atol=1e-9)
    assert abs(done.duality_gap_[0]) < 1e-9


def test_no_subsample_is_solved_first_if_all_features_are_noise(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 400)), np.arange(1500) % 2
    monkeypatch.setattr(fsv, "MAX_DIRECT_SAMPLES", 200)
    monkeypatch.setattr(HingeProgram, "lifted", None)
    assert FSV(max_iter=1, tol=0.9).fit(X, y).support_sizes_[0] > 10


def test_sparse_and_dense_tables_give_the_same_weights():
    X = sparse.random_array((80, 500), density=0.05, random_state=np.random.default_rng(0), format="csr")
    y = np.arange(80) % 2
    one, two = FSV(penalty=0.01).fit(X, y), FSV(penalty=0.01).fit(X.toarray(), y)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha must be a number strictly between 0 and inf, got 0"),
        ({"alpha": "large"}, "alpha must be a number strictly between 0 and inf, got 'large'"),
        ({"penalty": 0.0}, "penalty must be 'auto' or a number strictly between 0 and 1, got 0.0"),
        ({"penalty": 1}, "penalty must be 'auto' or a number strictly between 0 and 1, got 1"),
        ({"penalty": "best"}, "penalty must be 'auto' or a number strictly between 0 and 1, got 'best'"),
        ({"standardize": 1}, "standardize must be True or False, got 1"),
        ({"rest": "first"}, "rest must be 'programs' or 'last', got 'first'"),
        ({"n_planes": 0}, "n_planes must be an integer >= 1, got 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"tol": -1}, "tol must be a number strictly between 0 and 1, got -1"),
    ],
)
def test_invalid_parameters_raise(parameters, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        FSV(**parameters).fit(*overlapping(20, 4))


CONTRACT = [selector for selector in CONFIGURATIONS if isinstance(selector, FSV)]


def discrete(seed):
    """Table of bits, small integers or counts in two or three classes, sometimes with equal columns or rows."""
    rng = np.random.default_rng(seed)
    n_samples, n_features = [(30, 8), (40, 15), (25, 30), (60, 12)][seed // 8 % 4]
    y = rng.permutation(np.arange(n_samples) % (2 + seed // 4 % 2))
    shift = 0.3 * np.outer(y == 0, np.arange(n_features) % 3 == 0)
    X = [
        lambda: rng.random(shift.shape) < 0.5,
        lambda: rng.integers(0, 4, shift.shape),
        lambda: rng.poisson(0.7, shift.shape),
        lambda: rng.random(shift.shape) < 0.3 + shift,
    ][seed % 4]().astype(float)
    if seed % 3 == 0:
        X[:, [n_features // 2, -1]] = X[:, :2]
    if seed % 5 == 0:
        X[-3:], y[-3:] = X[:3], y[:3]
    return X, y


def other_forms(X, y, seed):
    """Yield the same table with permuted rows, other class names or another storage."""
    rng = np.random.default_rng(seed)
    rows, names = rng.permutation(len(y)), rng.permutation(y.max() + 1)
    yield "rows", X[rows], y[rows], 1
    yield "rows backwards", X[::-1], y[::-1], 1
    yield "names", X, names[y], 1
    yield "names swapped", X, y.max() - y, 1
    yield "compressed rows", sparse.csr_array(X), y, 1
    yield "compressed columns, rows", sparse.csc_matrix(X[rows]), y[rows], 1
    yield "Fortran", np.asfortranarray(X), y, 1
    yield "threads", X, y, 2


def check_order_is_invariant(seed):
    X, y = discrete(seed)
    for selector in CONTRACT:
        order = clone(selector).fit(X, y).order_
        for name, *table, n_jobs in other_forms(X, y, seed):
            other = clone(selector).set_params(n_jobs=n_jobs).fit(*table).order_
            np.testing.assert_array_equal(other, order, err_msg=f"{selector}, seed {seed}: {name}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("seed", range(24))
def test_the_same_one_of_many_optima_is_always_found(seed):
    check_order_is_invariant(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("first", range(100, 500, 100))
def test_the_same_one_of_many_optima_is_always_found_in_hundreds_of_tables(first):
    for seed in range(first, first + 100):
        check_order_is_invariant(seed)


def test_permuting_the_columns_permutes_the_scores():
    X, y = discrete(7)
    order = np.random.default_rng(1).permutation(X.shape[1])
    one, two = FSV().fit(X, y), FSV().fit(X[:, order], y)
    np.testing.assert_allclose(two.scores_, one.scores_[order], rtol=1e-9)


def test_many_classes_need_few_kernel_calls(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(120, 4)), np.arange(120) % 60
    calls, follow = [], HingeProgram._follow
    monkeypatch.setattr(HingeProgram, "_follow", lambda *program: calls.append(program) or follow(*program))
    FSV().fit(X, y)
    # A call makes up to 64 pivots; each of the 60 classes needs about 100 of them.
    assert len(calls) < 60 * 30


@pytest.mark.skipif(not DATA, reason=NO_DATA)
@pytest.mark.parametrize("name", ["colon", "leukemia", "prostate", "srbct"])
def test_planes_of_gene_expression_data_are_optimal_and_use_few_features(name):
    X, y = load(name)
    done = FSV().fit(X, y)
    assert 1 <= done.support_sizes_.min() <= done.support_sizes_.max() <= 5
    assert np.abs(done.duality_gap_).max() < 1e-8
    assert max(np.diff(objective).max() for objective in done.objective_) <= 1e-12
    assert done.n_supported_ >= fsv.MIN_SUPPORTED_FEATURES


def test_peak_memory_is_about_one_table():
    # the table takes 80 MB
    assert peak_megabytes("FSV(n_jobs=2)", 5_000, 2_000) < 90


@pytest.mark.parametrize("factor", [1.0, 1e20, 1e-25])
def test_sparse_float32_of_any_magnitude_equals_dense(factor):
    X, y = overlapping(60, 8)
    X = (np.where(np.random.default_rng(1).random(X.shape) < 0.5, X, 0) * factor).astype(np.float32)
    np.testing.assert_allclose(FSV().fit(sparse.csr_array(X), y).scores_, FSV().fit(X, y).scores_, rtol=1e-9)


def test_the_memory_layout_does_not_decide_which_of_equal_columns_is_used():
    X, y = np.linspace(0, 1, 50)[:, None] * np.ones(3), np.arange(50) % 2
    assert FSV().fit(np.asfortranarray(X), y).order_[0] == FSV().fit(X, y).order_[0] == 0
