"""Every selector in several configurations through scikit-learn's own checks; no failure is expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ilfs import ILFS

CONFIGURATIONS = [
    ILFS(),
    ILFS.paper(),
    ILFS(3, evidence="distance", topics="anchored", n_jobs=2),
    ILFS(0.25, intervals="pooled", n_tokens=4, class_weight=None),
    ILFS(topics="learned", leave_one_out=False, max_iter=5),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
