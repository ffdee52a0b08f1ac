"""Selectors that suites may name by a short name.

A module of its own, so that the code that evaluates a choice of features does not import the methods: a change of one
method must not make the results of the others stale (`ilfs.benchmark.provenance.describe`).
"""

from sklearn.base import BaseEstimator

from ilfs.benchmark.baselines import BASELINES
from ilfs.methods import METHODS, HallCFS

NAMED: dict[str, type[BaseEstimator]] = {**METHODS, "hall_cfs": HallCFS, **BASELINES}
