"""Probabilistic latent semantic analysis of tokens with two topics, relevancy and irrelevancy.

The model is P(t|f) = P(t|z1) p_f + P(t|z2) (1 - p_f) with p_f = P(z1|f). The paper writes the joint distribution
P(f, t) in terms of P(z) and P(f|z). The maximum-likelihood estimate of P(f) is always the fraction of the counts that
belong to f, so both forms are the same model with the same steps of expectation-maximisation (EM).

Counts have the shape tokens x features. So neighbours in memory are features, and the inner loops are vectorised.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ilfs.arrays import Floats
from ilfs.kernels.plsa import expect, maximise_relevance
from ilfs.solvers.paths import inner

MIN_DIVISOR = np.finfo(np.float64).tiny  # keeps divisors above zero
MIN_FRACTION_LEFT = 0.1  # an extrapolation leaves at least this fraction of the distance of each p to 0 and 1


@dataclass(frozen=True)
class Topics:
    """The two topics, relevancy (z1) and irrelevancy (z2), and the probability of z1 in each feature."""

    relevance: Floats
    """P(z1|f) of every feature."""
    tokens: Floats
    """P(t|z), 2 x tokens."""
    weights: Floats
    """P(z)."""
    loglik: Floats
    """Log-likelihood, penalised if there is a prior, at the start and after each step."""
    converged: bool


class Parameters(NamedTuple):
    """P(z1|f) and P(t|z)."""

    p: Floats
    tokens: Floats


class Model:
    """Objective and EM step of two topics for given counts, with pseudo-counts as prior.

    `relevance_prior` is the number of pseudo-counts of each topic in every feature. `token_prior` is the number of
    pseudo-counts of all tokens in each topic, distributed over the tokens like the ramps. With `mirrored`, the topics
    are mirror images: P(t|z1) of a token is P(t|z2) of the opposite token. With the defaults, a step is the paper's.
    """

    def __init__(
        self, counts: Floats, relevance_prior: float = 0.0, token_prior: float = 0.0, mirrored: bool = False
    ) -> None:
        self.counts, self.total = counts, counts.sum(axis=0)
        self.start = Parameters(np.full(counts.shape[1], 0.5), ramps(counts.shape[0]))
        self.relevance_prior, self.token_prior = relevance_prior, token_prior * self.start.tokens
        self.has_prior, self.mirrored = relevance_prior > 0 or token_prior > 0, mirrored
        self._mixture = np.empty_like(counts)

    def step(self, at: Parameters) -> tuple[float, Parameters]:
        """Compute the objective at given parameters, and the parameters after one EM step from there."""
        relevant, expected = np.empty_like(at.p), np.empty_like(at.tokens)
        expect(self.counts, at.tokens, at.p, self._mixture, relevant, expected)
        loglik = inner(self.counts.ravel(), np.log(self._mixture, out=self._mixture).ravel())
        if self.has_prior:  # log densities: Beta for each p, Dirichlet for the tokens of each topic
            loglik += self.relevance_prior * float(np.sum(np.log(at.p * (1.0 - at.p))))
            loglik += inner(self.token_prior.ravel(), np.log(at.tokens).ravel())
        # A feature without counts or pseudo-counts keeps its p: there is nothing to estimate it from.
        weight = self.total + 2.0 * self.relevance_prior
        p = np.divide(relevant + self.relevance_prior, weight, out=at.p.copy(), where=weight > 0)
        return loglik, Parameters(p, self.normalised(expected + self.token_prior))

    def normalised(self, tokens: Floats) -> Floats:
        """Scale each topic to a sum of 1, after making the topics mirror images if required."""
        # The sum of both mirrored counts: each token of z1 is also an observation of the opposite token of z2.
        if self.mirrored:
            tokens = tokens + tokens[::-1, ::-1]
        return np.asarray(tokens / np.maximum(tokens.sum(axis=1, keepdims=True), MIN_DIVISOR))

    def topic_weights(self, p: Floats) -> Floats:
        """Compute P(z), the fraction of all counts that each topic has."""
        relevant = inner(self.total, p) / max(float(self.total.sum()), MIN_DIVISOR)
        return np.array([relevant, 1.0 - relevant])


def learned_topics(counts: Floats, *, max_iter: int, tol: float) -> Topics:
    """Estimate the topics by maximum likelihood, with the paper's steps; stop when no p moves by more than `tol`.

    With ``tol=0`` exactly `max_iter` steps are made: a given number of steps is then the rule, not a limit.
    """
    model = Model(counts)
    return _follow(model, _plain(model), max_iter, tol)


def shrunk_topics(counts: Floats, *, relevance_prior: float, token_prior: float, max_iter: int, tol: float) -> Topics:
    """Estimate mirrored topics by maximum posterior, with accelerated steps; `tol` is as in `learned_topics`."""
    model = Model(counts, relevance_prior, token_prior, mirrored=True)
    return _follow(model, _accelerated(model), max_iter, tol)


def anchored_topics(counts: Floats) -> Topics:
    """Estimate the relevance of each feature with P(t|z) fixed at the ramps."""
    # With fixed topics the likelihood is a sum of concave functions of one p each, and Newton's method maximises them.
    model = Model(counts)
    before, _ = model.step(model.start)
    p = maximise_relevance(counts, model.start.tokens)
    after, _ = model.step(Parameters(p, model.start.tokens))
    return Topics(p, model.start.tokens, model.topic_weights(p), np.array([before, after]), True)


def ramps(n_tokens: int) -> Floats:
    """Compute the initial P(t|z): the densities 2 rho and 2 (1 - rho) on [0, 1], integrated over equal intervals."""
    # The integral of 2 rho from (t - 1) / n to t / n is (2t - 1) / n^2: proportional to the odd numbers.
    odd = np.arange(1.0, 2 * n_tokens, 2.0)
    return np.asarray(np.vstack([odd, odd[::-1]]) / odd.sum())


Trace = Iterator[tuple[float, Parameters, float]]  # objective, parameters, largest change of any p in the next step


def _follow(model: Model, trace: Trace, max_iter: int, tol: float) -> Topics:
    """Follow a trace until no p moves by more than `tol`, or for `max_iter` steps."""
    loglik: list[float] = []
    moves = np.inf
    while moves > tol and len(loglik) <= max_iter:
        value, at, moves = next(trace)
        loglik.append(value)
    return Topics(at.p, at.tokens, model.topic_weights(at.p), np.array(loglik), moves <= tol)


def _plain(model: Model) -> Trace:
    """Iterate plain EM steps."""
    at = model.start
    while True:
        loglik, after = model.step(at)
        yield loglik, at, _largest(after.p - at.p)
        at = after


def _accelerated(model: Model) -> Trace:
    """Iterate accelerated EM steps: two plain steps, then an extrapolation (SQUAREM; Varadhan and Roland, 2008)."""
    at = model.start
    loglik, one = model.step(at)
    while True:
        yield loglik, at, _largest(one.p - at.p)
        loglik, two = model.step(one)
        yield loglik, one, _largest(two.p - one.p)
        at, one = two, leap(model, at, one, two)
        leapt, after = model.step(one)
        # Keep the extrapolated point only if the objective does not fall; so it is monotone, as in plain EM.
        if leapt >= loglik:
            loglik, at, one = leapt, one, after
        else:
            loglik, one = model.step(at)


def leap(model: Model, zero: Parameters, one: Parameters, two: Parameters) -> Parameters:
    """Extrapolate three successive points of an EM sequence.

    With velocity v = one - zero and change w = (two - one) - v, the new point is zero + 2 s v + s^2 w, where the length
    s is |v| / |w|. A length of 1 gives the point ``two``.
    """
    velocity = [b - a for a, b in zip(zero, one, strict=True)]
    change = [c - b - v for b, c, v in zip(one, two, velocity, strict=True)]
    n_features = max(int(np.count_nonzero(model.total)), 1)  # one without counts never moves
    length = _norm(velocity, n_features) / max(_norm(change, n_features), MIN_DIVISOR)
    p, tokens = (a + 2 * length * v + length**2 * w for a, v, w in zip(zero, velocity, change, strict=True))
    # At p = 0 or 1 the logarithm of the prior is infinite, and without a prior EM cannot leave that point.
    p = np.clip(p, MIN_FRACTION_LEFT * two.p, 1.0 - MIN_FRACTION_LEFT * (1.0 - two.p))
    # Normalise again: a long extrapolation magnifies the rounding errors in the sums of P(t|z).
    return Parameters(p, model.normalised(tokens) if tokens.min() > 0 else two.tokens)


def _norm(parts: list[Floats], n_features: int) -> float:
    """Compute the length of a move: the root of the mean square over features plus the sum of squares over tokens.

    The mean keeps the few token probabilities from being negligible beside thousands of features.
    """
    p, tokens = parts
    return float(np.sqrt(np.sum(p**2) / n_features + np.sum(tokens**2)))


def _largest(moves: Floats) -> float:
    return float(np.abs(moves).max(initial=0.0))
