"""Baselines that suites may call by a short name, besides the methods of `ilfs.registry`.

A module of its own, so that the code that evaluates a choice of features does not import the baselines: a change of one
of them must not make the results of the others stale (`ilfs.benchmark.provenance.describe`).
"""

from sklearn.base import BaseEstimator

from ilfs.benchmark.baselines import BASELINES

NAMED: dict[str, type[BaseEstimator]] = dict(BASELINES)
