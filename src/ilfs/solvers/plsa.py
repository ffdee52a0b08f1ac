"""Probabilistic latent semantic analysis of tokens with two topics, relevancy and irrelevancy.

P(t|f) = P(t|z1) p_f + P(t|z2) (1 - p_f) with p_f = P(z1|f). The paper writes the joint P(f, t) with P(z) and P(f|z); as
P(f) is always the share of the counts that f has, that is the same model and the same steps.

Counts are tokens x features here, so that neighbours in memory are features and the loops over them use whole vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ilfs.arrays import Floats
from ilfs.kernels.plsa import expect, maximise_relevance
from ilfs.solvers.paths import inner

SMALLEST = np.finfo(np.float64).tiny  # keeps divisors above zero


@dataclass(frozen=True)
class Topics:
    """Relevancy (z1) and irrelevancy (z2), and how much of each a feature has."""

    relevance: Floats
    """P(z1|f) of every feature."""
    tokens: Floats
    """P(t|z), 2 x tokens."""
    weights: Floats
    """P(z)."""
    loglik: Floats
    """(Penalised) log-likelihood at the start and after each step."""
    converged: bool


class Parameters(NamedTuple):
    """P(z1|f) and P(t|z)."""

    p: Floats
    tokens: Floats


class Model:
    """Two topics over given counts, with pseudo-counts as prior.

    `relevance_prior` is the number of pseudo-counts of each topic in every feature, `token_prior` that of all tokens in
    each topic, spread over them as the ramps are. `mirrored` topics are each other's mirror images: what a token says
    for relevancy, the opposite one says against it. With none of these a step is the paper's.
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
        """The objective at these parameters, and the parameters after one step of expectation-maximisation."""
        relevant, expected = np.empty_like(at.p), np.empty_like(at.tokens)
        expect(self.counts, at.tokens, at.p, self._mixture, relevant, expected)
        loglik = inner(self.counts.ravel(), np.log(self._mixture, out=self._mixture).ravel())
        if self.has_prior:
            loglik += self.relevance_prior * float(np.sum(np.log(at.p * (1.0 - at.p))))
            loglik += inner(self.token_prior.ravel(), np.log(at.tokens).ravel())
        weight = self.total + 2.0 * self.relevance_prior
        p = np.divide(relevant + self.relevance_prior, weight, out=at.p.copy(), where=weight > 0)
        return loglik, Parameters(p, self.normalised(expected + self.token_prior))

    def normalised(self, tokens: Floats) -> Floats:
        """The nearest topics: not negative, rows that sum to one, and mirror images if they have to be."""
        if self.mirrored:
            tokens = tokens + tokens[::-1, ::-1]
        return np.asarray(tokens / np.maximum(tokens.sum(axis=1, keepdims=True), SMALLEST))

    def topic_weights(self, p: Floats) -> Floats:
        """P(z): the share of all counts that each topic has."""
        share = inner(self.total, p) / max(float(self.total.sum()), SMALLEST)
        return np.array([share, 1.0 - share])


def learned_topics(counts: Floats, *, max_iter: int, tol: float) -> Topics:
    """Plain maximum likelihood, by the paper's steps from the ramps; stops when no p moves by more than `tol`."""
    model = Model(counts)
    return _follow(model, _plain(model), max_iter, tol)


def shrunk_topics(counts: Floats, *, relevance_prior: float, token_prior: float, max_iter: int, tol: float) -> Topics:
    """Maximum of the posterior with mirrored topics, by accelerated steps; `tol` as in `learned_topics`."""
    model = Model(counts, relevance_prior, token_prior, mirrored=True)
    return _follow(model, _accelerated(model), max_iter, tol)


def anchored_topics(counts: Floats) -> Topics:
    """P(t|z) kept at the ramps: each p is then the maximum of a concave function of its own (Newton's method)."""
    model = Model(counts)
    before, _ = model.step(model.start)
    p = maximise_relevance(counts, model.start.tokens)
    after, _ = model.step(Parameters(p, model.start.tokens))
    return Topics(p, model.start.tokens, model.topic_weights(p), np.array([before, after]), True)


def ramps(n_tokens: int) -> Floats:
    """P(t|z) at the start: the densities 2 rho and 2 (1 - rho) on [0, 1], summed over equal intervals."""
    odd = np.arange(1.0, 2 * n_tokens, 2.0)
    return np.asarray(np.vstack([odd, odd[::-1]]) / odd.sum())


Trace = Iterator[tuple[float, Parameters, float]]  # objective, parameters, how far the next step moves any p


def _follow(model: Model, trace: Trace, max_iter: int, tol: float) -> Topics:
    """Follow a trace until it settles or has made max_iter steps."""
    loglik: list[float] = []
    moves = np.inf
    while moves > tol and len(loglik) <= max_iter:
        value, at, moves = next(trace)
        loglik.append(value)
    return Topics(at.p, at.tokens, model.topic_weights(at.p), np.array(loglik), moves <= tol)


def _plain(model: Model) -> Trace:
    """One step after the other."""
    at = model.start
    while True:
        loglik, after = model.step(at)
        yield loglik, at, _largest(after.p - at.p)
        at = after


def _accelerated(model: Model) -> Trace:
    """Two steps, then a leap along the parabola through the three points, unless it loses (Varadhan, Roland 2008)."""
    at = model.start
    loglik, one = model.step(at)
    while True:
        yield loglik, at, _largest(one.p - at.p)
        loglik, two = model.step(one)
        yield loglik, one, _largest(two.p - one.p)
        at, one = two, leap(model, at, one, two)
        leapt, after = model.step(one)
        if leapt >= loglik:
            loglik, at, one = leapt, one, after
        else:
            loglik, one = model.step(at)


def leap(model: Model, zero: Parameters, one: Parameters, two: Parameters) -> Parameters:
    """Where three successive points of a slowly converging sequence are heading."""
    velocity = [b - a for a, b in zip(zero, one, strict=True)]
    change = [c - b - v for b, c, v in zip(one, two, velocity, strict=True)]
    n_features = max(int(np.count_nonzero(model.total)), 1)  # without counts a feature does not move, and is not there
    length = _norm(velocity, n_features) / max(_norm(change, n_features), SMALLEST)
    p, tokens = (a + 2 * length * v + length**2 * w for a, v, w in zip(zero, velocity, change, strict=True))
    # never more than nine tenths of the way to the edge
    p = np.clip(p, 0.1 * two.p, 1.0 - 0.1 * (1.0 - two.p))
    # a long leap magnifies the rounding of the rows' sums
    return Parameters(p, model.normalised(tokens) if tokens.min() > 0 else two.tokens)


def _norm(parts: list[Floats], n_features: int) -> float:
    """Length of a move; the mean over features, lest twelve numbers drown among thousands."""
    p, tokens = parts
    return float(np.sqrt(np.sum(p**2) / n_features + np.sum(tokens**2)))


def _largest(moves: Floats) -> float:
    return float(np.abs(moves).max(initial=0.0))
