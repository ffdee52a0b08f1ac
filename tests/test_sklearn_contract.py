"""Every selector in several configurations through scikit-learn's own checks; no failure is expected."""

import pytest
from configurations import CONFIGURATIONS
from sklearn.utils.estimator_checks import parametrize_with_checks


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
