"""ILFS by its definition, as a reference for the tests: slow, one value at a time, independent of the library."""

import numpy as np
from scipy.optimize import minimize_scalar


def representativeness(X, y, weight=None, *, evidence="posterior", leave_one_out=True):
    """Return how well each feature represents each sample, in [0, 1]; NaN for missing values and rows of weight 0."""
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    rho = np.full(X.shape, np.nan)
    for f in range(X.shape[1]):
        here = ~np.isnan(X[:, f]) & (weight > 0)
        x, c, w = X[here, f].astype(float), y[here], weight[here]
        rho[here, f] = [_rho_of_value(x, c, w, i, evidence, leave_one_out) for i in range(len(x))]
    return rho


def _rho_of_value(x, c, w, i, evidence, leave_one_out):
    classes = np.unique(c)
    means = {k: np.average(x[c == k], weights=w[c == k]) for k in classes}
    own_mean = means[c[i]]
    if leave_one_out and w[c == c[i]].sum() > 1:
        without = w - np.eye(len(w))[i]
        own_mean = np.average(x[c == c[i]], weights=without[c == c[i]])
    own = (x[i] - own_mean) ** 2
    rest = np.mean([(x[i] - means[k]) ** 2 for k in classes if k != c[i]])
    if evidence == "distance":
        return rest / (rest + own)
    scatter = sum(w[j] * (x[j] - means[c[j]]) ** 2 for j in range(len(x)))
    variance = scatter / (w.sum() - len(classes))
    return 1 / (1 + np.exp(-(rest - own) / (2 * variance)))


def token_counts(rho, y, weight=None, *, edges, balanced=True):
    """Return the histogram of every column, as an array of features x tokens."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    counts = np.empty((rho.shape[1], len(edges) - 1))
    for f in range(rho.shape[1]):
        here = ~np.isnan(rho[:, f])
        c, w = y[here], weight[here].copy()
        if balanced:
            classes = np.unique(c)
            fair = {k: w.sum() / (len(classes) * w[c == k].sum()) for k in classes}
            w *= [fair[k] for k in c]
        counts[f] = np.histogram(rho[here, f], bins=edges, weights=w)[0]
    return counts


def ramps(n_tokens):
    """Return the start values of P(t|z): two linear ramps."""
    up = np.arange(n_tokens) + 0.5
    return np.array([up, up[::-1]]) / up.sum()


def paper_em(Q, n_steps):
    """Run EM in the paper's P(z), P(f|z), P(t|z) on counts Q (features x tokens); return P(z1|f), P(t|z), P(z)."""
    n_features, n_tokens = Q.shape
    Pz, Pf_z, Pt_z = np.full(2, 0.5), np.full((2, n_features), 1 / n_features), ramps(n_tokens)
    for _ in range(n_steps):
        joint = Pz[:, None, None] * Pf_z[:, :, None] * Pt_z[:, None, :]
        Pz_ft = joint / joint.sum(axis=0)
        given = Q * Pz_ft
        Pt_z = given.sum(axis=1) / given.sum(axis=(1, 2))[:, None]
        Pf_z = given.sum(axis=2) / given.sum(axis=(1, 2))[:, None]
        Pz = given.sum(axis=(1, 2)) / Q.sum()
    joint = Pz[:, None] * Pf_z
    return joint[0] / joint.sum(axis=0), Pt_z, Pz


def map_em(Q, relevance_prior, token_prior, n_steps):
    """Run plain EM with pseudo-counts for P(z|f) and P(t|z), with P(t|z2) mirroring P(t|z1); return P(z1|f), P(t|z)."""
    p, Pt_z = np.full(len(Q), 0.5), ramps(Q.shape[1])
    for _ in range(n_steps):
        p, Pt_z = map_step(Q, relevance_prior, token_prior, p, Pt_z)
    return p, Pt_z


def map_step(Q, relevance_prior, token_prior, p, Pt_z):
    Pz_f = np.array([p, 1 - p])
    joint = Pz_f[:, :, None] * Pt_z[:, None, :]
    given = Q * joint / joint.sum(axis=0)
    relevant = given.sum(axis=2) + relevance_prior
    tokens = given.sum(axis=1) + token_prior * ramps(Q.shape[1])
    both = tokens[0] + tokens[1][::-1]
    return relevant[0] / relevant.sum(axis=0), np.array([both, both[::-1]]) / both.sum()


def log_likelihood(q, p, Pt_z):
    """Return the log-likelihood of the token counts q of one feature."""
    seen = q > 0
    return float(np.sum(q[seen] * np.log((p * Pt_z[0] + (1 - p) * Pt_z[1])[seen])))


def anchored_relevance(Q):
    """Return the P(z1|f) that maximises the likelihood of each feature, with P(t|z) fixed at the ramps."""
    Pt_z = ramps(Q.shape[1])
    return np.array([_maximum(lambda p, q=q: log_likelihood(q, p, Pt_z)) for q in Q])


def _maximum(function):
    inside = minimize_scalar(lambda p: -function(p), bounds=(0, 1), method="bounded", options={"xatol": 1e-11}).x
    return max((0.0, inside, 1.0), key=function)


def path_sum(p, r):
    """Return (I - r A)^-1 - I with A = p p'."""
    identity = np.eye(len(p))
    return np.linalg.inv(identity - r * np.outer(p, p)) - identity


def correlations(X, weight=None):
    """Return the correlations of all pairs of columns over the rows that have both values; 0 if undefined."""
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    rho = np.eye(X.shape[1])
    for i in range(X.shape[1]):
        for j in range(i):
            here = ~np.isnan(X[:, i]) & ~np.isnan(X[:, j]) & (weight > 0)
            rho[i, j] = rho[j, i] = _correlation(X[here, i], X[here, j], weight[here])
    return rho


def _correlation(a, b, w):
    if w.sum() <= 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    a, b = (x - np.average(x, weights=w) for x in (a.astype(float), b.astype(float)))
    return (w * a * b).sum() / np.sqrt((w * a * a).sum() * (w * b * b).sum())


def first_of_the_best(values):
    """Return the first key whose value equals the largest up to rounding."""
    return min(j for j, value in values.items() if value >= max(values.values()) * (1 - 1e-9))


def picked_by_novelty(relevance, rho, forced=()):
    """Pick by the largest relevance times 1 - max rho^2, forced ones first; return the picks and their values."""
    picks, values = [], []
    while True:
        left = set(forced) - set(picks)
        value = {
            j: relevance[j] * min([1 - rho[i, j] ** 2 for i in picks], default=1)
            for j in left or set(range(len(relevance))) - set(picks)
        }
        value = {j: v for j, v in value.items() if left or v > 1e-12 * relevance[j]}
        if not value:
            return picks, values
        picks.append(first_of_the_best(value))
        values.append(value[picks[-1]])


def unit_columns(X, weight=None):
    """Return columns of mean 0 and length 1, with rows multiplied by the square roots of their weights."""
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    Z = (X - np.average(X, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    return Z / np.linalg.norm(Z, axis=0)


def ridge_losses(Z, T, ridge):
    """Return the loss of a ridge regression of each column of T on Z.

    It is a least-squares problem with one more row for each coefficient.
    """
    if not Z.shape[1]:
        return (T**2).sum(axis=0)
    rows = np.vstack([Z, np.sqrt(ridge) * np.eye(Z.shape[1])])
    targets = np.vstack([T, np.zeros((Z.shape[1], T.shape[1]))])
    weights = np.linalg.lstsq(rows, targets)[0]
    return ((targets - rows @ weights) ** 2).sum(axis=0)


def picked_by_gain(Z, T, ridge, n_picks, forced=()):
    """Try every candidate at every step, forced ones first; return the picks and the decrease of each column's loss."""
    picks, gains = [], []
    while len(picks) < n_picks:
        before = ridge_losses(Z[:, picks], T, ridge)
        left = set(forced) - set(picks) or set(range(Z.shape[1])) - set(picks)
        falls = {j: before - ridge_losses(Z[:, [*picks, j]], T, ridge) for j in left}
        picks.append(first_of_the_best({j: fall.sum() for j, fall in falls.items()}))
        gains.append(falls[picks[-1]])
    return picks, np.array(gains)


def residual_columns(Z, F, features):
    """Return the residuals of the further columns by least squares on the columns of their features."""
    shape_of = {features[t, 0]: t for t in range(len(features)) if features[t, 1] < 0}
    left = []
    for t, needed in enumerate(features):
        own = [i for i in needed if i >= 0]
        parents = [Z[:, own]] + ([F[:, [shape_of[i] for i in own if i in shape_of]]] if len(own) > 1 else [])
        parents = np.column_stack(parents)
        left.append(F[:, t] - parents @ np.linalg.lstsq(parents, F[:, t])[0])
    return np.column_stack(left) if left else F


def scaled_losses(Z, T, ridge):
    """Return the losses of a ridge regression in which each column has its own penalty, which scales it."""
    ridge = np.asarray(ridge)
    return ridge_losses(Z / np.sqrt(ridge), T, 1.0)


def picked_by_terms(Z, R, T, features, ridge, ridges):
    """Try every move at every step: a feature with its own terms, or all features of a set.

    Columns of R are further terms, which need the features in a row of ``features`` (-1 for none). Return the picks,
    the values of their moves, and the decrease of the loss by the own terms of each feature before its move.
    """
    n, picks, values, gains = Z.shape[1], [], [], []
    needed = [{int(i) for i in row if i >= 0} for row in features]
    every, prices = np.column_stack([Z, R]), np.concatenate([np.full(n, ridge), ridges])

    def available(picked):
        return [*picked, *[n + t for t, own in enumerate(needed) if own <= set(picked)]]

    def loss(terms):
        return scaled_losses(every[:, terms], T, prices[terms]).sum()

    while len(picks) < n:
        now = available(picks)
        before = loss(now)
        own = {
            i: before - loss(now + [i] + [n + t for t, one in enumerate(needed) if one == {i}])
            for i in set(range(n)) - set(picks)
        }
        single = {n + t: before - loss([*now, n + t]) for t in range(len(needed)) if n + t not in now}
        moves = {(i,): i for i in own} | {
            tuple(sorted(one - set(picks))): n + t
            for t, one in reversed(list(enumerate(needed)))
            if len(one - set(picks)) > 1
        }
        value = {}
        for members, number in moves.items():
            new = [t for t, one in enumerate(needed) if len(one) > 1 and one <= {*picks, *members} and n + t not in now]
            value[number] = (sum(own[i] for i in members) + sum(single[n + t] for t in new)) / len(members)
        best = first_of_the_best(value)
        members = [best] if best < n else sorted(needed[best - n] - set(picks), key=lambda i: (-own[i], i))
        picks += members
        values += [value[best]] * len(members)
        gains += [own[i] for i in members]
    return picks, np.array(values), np.array(gains)
