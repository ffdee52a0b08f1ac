"""Every configuration passes scikit-learn's estimator checks, with no expected failure."""

import pytest
from configurations import CONFIGURATIONS
from sklearn.utils.estimator_checks import parametrize_with_checks


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(CONFIGURATIONS)
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)
