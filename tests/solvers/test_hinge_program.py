import numpy as np
import pytest
from scipy.optimize import linprog

from ilfs.solvers.hinge_program import INTERCEPT, HingeProgram, spaced_at_random

ENOUGH = 100_000


def table(kind, n_samples, n_features, seed=0):
    """Samples of two classes that overlap or not, with values that tie or not."""
    rng = np.random.default_rng(seed)
    label = np.where(np.arange(n_samples) % 3, 1.0, -1.0)
    X = rng.normal(size=(n_samples, n_features))
    X[:, :3] += (3.0 if kind == "separable" else 0.6) * label[:, None]
    if kind == "integers":
        X = np.round(X)
    if kind == "bits":
        X = (X > 0.5).astype(float)
    if kind == "pixels":  # mostly zeros
        X = np.maximum(X - 1, 0)
    if kind == "twice":  # every column and every sample occurs twice
        X[:, n_features // 2 :] = X[:, : n_features - n_features // 2]
        X[n_samples // 2 :], label[n_samples // 2 :] = (
            X[: n_samples - n_samples // 2],
            label[: n_samples - n_samples // 2],
        )
    return X, label, np.where(label > 0, 1 / (label > 0).sum(), 1 / (label < 0).sum())


def program_of(X, label, bound):
    program = HingeProgram(label, bound)
    program.add(np.arange(X.shape[1]), X.T * label)
    return program


def objective(program, weight, cost):
    loss = np.maximum(1 - weight @ program.columns, 0)
    return program.bound @ loss + cost @ np.abs(weight)


def by_linprog(program, cost):
    """Optimal value of the whole program in standard form, by SciPy."""
    S = program.columns.T
    done = linprog(
        np.concatenate([cost, cost, program.bound]),
        A_ub=np.hstack([-S, S, -np.eye(len(S))]),
        b_ub=-np.ones(len(S)),
        method="highs",
    )
    assert done.status == 0
    return done.fun


KINDS = ["overlapping", "separable", "integers", "bits", "twice", "pixels"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(9, 4), (40, 12), (150, 20), (30, 90)])
@pytest.mark.parametrize("fraction", [0.6, 0.1, 0.001])
def test_optimum_equals_that_of_a_general_solver(kind, shape, fraction):
    program = program_of(*table(kind, *shape))
    cost = np.append(0.0, np.full(shape[1], fraction * program.cost.max()))
    assert program.move(cost, ENOUGH)
    weight = program.weights()
    assert objective(program, weight, cost) == pytest.approx(by_linprog(program, cost), abs=1e-9)
    assert objective(program, weight, cost) == pytest.approx(program.dual.sum(), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_duals_and_weights_satisfy_complementary_slackness(kind):
    program = program_of(*table(kind, 60, 15))
    rng = np.random.default_rng(1)
    cost = np.append(0.0, rng.uniform(0.02, 0.3, 15))
    assert program.move(cost, ENOUGH)
    weight, slope = program.weights(), program.columns @ program.dual
    assert (program.dual >= -1e-12).all()
    assert (program.dual <= program.bound + 1e-12).all()
    assert (np.abs(slope) <= cost + 1e-12).all()
    used = weight != 0
    np.testing.assert_allclose(slope[used], (cost * np.sign(weight))[used], atol=1e-12)
    loss = 1 - weight @ program.columns
    np.testing.assert_allclose(program.dual[loss > 1e-6], program.bound[loss > 1e-6])
    np.testing.assert_allclose(program.dual[loss < -1e-6], 0.0)


def test_result_does_not_depend_on_earlier_costs():
    X, label, bound = table("overlapping", 50, 30)
    direct, winding = program_of(X, label, bound), program_of(X, label, bound)
    cost = np.append(0.0, np.full(30, 0.1))
    assert direct.move(cost, ENOUGH)
    for seed in range(5):
        assert winding.move(np.append(0.0, np.random.default_rng(seed).uniform(0.01, 1.0, 30)), ENOUGH)
    assert winding.move(cost, ENOUGH)
    np.testing.assert_allclose(winding.weights(), direct.weights(), atol=1e-12)


def test_columns_added_one_by_one_give_the_same_weights():
    X, label, bound = table("overlapping", 50, 30)
    together, apart = program_of(X, label, bound), HingeProgram(label, bound)
    cost = np.full(30, 0.1)
    for some in np.split(np.random.default_rng(0).permutation(30), 5):
        apart.add(some, X[:, some].T * label)
        assert apart.move(np.append(0.0, cost[apart.feature[1:]]), ENOUGH)
    assert together.move(np.append(0.0, cost), ENOUGH)
    weight = np.zeros(30)
    weight[apart.feature[1:]] = apart.weights()[1:]
    np.testing.assert_allclose(weight, together.weights()[1:], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fraction", [0.6, 0.1, 0.001])
def test_starting_from_some_samples_reaches_the_optimum_of_all(kind, fraction):
    X, label, bound = table(kind, 150, 20)
    plain = program_of(X, label, bound)
    cost = np.append(0.0, np.full(20, fraction * plain.cost.max()))
    rows = np.flatnonzero(np.arange(150) % 4 < 2)
    few_bound = np.where(label[rows] > 0, 1 / (label[rows] > 0).sum(), 1 / (label[rows] < 0).sum())
    few = program_of(X[rows], label[rows], few_bound)
    assert few.move(cost, ENOUGH)
    lifted = HingeProgram.lifted(few, rows, label, bound, X.T * label)
    assert lifted.move(cost, ENOUGH)
    assert plain.move(cost, ENOUGH)
    assert not lifted.tilt.any()
    value = objective(plain, plain.weights(), cost)
    assert objective(lifted, lifted.weights(), cost) == pytest.approx(value, abs=1e-9)
    assert lifted.dual.sum() == pytest.approx(value, abs=1e-9)
    if kind == "overlapping":
        np.testing.assert_allclose(lifted.weights(), plain.weights(), atol=1e-12)


def test_initial_weights_are_zero_and_costs_are_differences_of_class_means():
    X, label, bound = table("overlapping", 30, 6)
    program = program_of(X, label, bound)
    difference = X[label > 0].mean(axis=0) - X[label < 0].mean(axis=0)
    np.testing.assert_allclose(program.cost[1:], np.abs(difference))
    assert program.feature[0] == INTERCEPT
    assert not program.weights().any()
    assert program.hinge(program.weights()) == pytest.approx(2.0)


def test_optimal_value_is_concave_along_the_path():
    X, label, bound = table("overlapping", 40, 8)
    program = program_of(X, label, bound)
    top, values = program.cost.max(), []
    for fraction in np.linspace(1.0, 0.02, 200):
        cost = np.append(0.0, np.full(8, fraction * top))
        assert program.move(cost, ENOUGH)
        values.append(objective(program, program.weights(), cost))
    # The optimal value is a minimum of functions that are linear in the costs, so it is concave.
    assert (np.diff(values, 2) <= 1e-12).all()


def test_move_returns_false_if_it_needs_more_pivots():
    program = program_of(*table("overlapping", 60, 15))
    assert not program.move(np.append(0.0, np.full(15, 0.01)), 3)
    assert program.n_pivots == 3


def test_of_proportional_columns_the_cheaper_one_gets_the_weight():
    X, label, bound = table("overlapping", 40, 5)
    X = np.column_stack([X, X[:, 0], 2 * X[:, 1]])  # a copy, and one that needs half the weight
    program = program_of(X, label, bound)
    cost = np.append(0.0, np.full(7, 0.05))
    assert program.move(cost, ENOUGH)
    weight = program.weights()[1:]
    assert weight[1] == 0.0
    assert (weight[0] == 0.0) != (weight[5] == 0.0)
    assert objective(program, program.weights(), cost) == pytest.approx(by_linprog(program, cost), abs=1e-9)


def test_jitter_is_random_and_spaced():
    numbers = spaced_at_random(1000)
    assert np.diff(np.sort(numbers)).min() > 0.4 / 1000
    assert 0 <= numbers.min() < numbers.max() < 1
    assert abs(np.corrcoef(numbers, np.arange(1000))[0, 1]) < 0.1
