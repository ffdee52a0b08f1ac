"""Comparison of two stabilities: cases by hand, and the level of the test by simulation."""

import numpy as np
import pytest

from ilfs.benchmark.significance.stability import equal_stability
from ilfs.stability_indices import StabilityIndex, nogueira_stability


def test_stabilities_without_variance_have_p_value_0_or_1():
    same = StabilityIndex(1.0, 0.0)
    assert equal_stability(same, same).p_value == 1
    assert equal_stability(same, StabilityIndex(0.5, 0.0)).p_value == 0
    apart = equal_stability(StabilityIndex(0.7, 0.0009), StabilityIndex(0.8, 0.0016))
    assert apart.statistic == pytest.approx(-2)


def test_the_test_keeps_its_level():
    rng = np.random.default_rng(4)
    p = np.concatenate([np.full(5, 0.9), np.full(45, 0.05)])
    found = [nogueira_stability([np.flatnonzero(rng.random(50) < p) for _ in range(40)], 50) for _ in range(400)]
    rejected = np.mean([equal_stability(*pair).p_value < 0.05 for pair in zip(found[::2], found[1::2], strict=True)])
    assert rejected <= 0.10
