"""A selector whose fit takes long, for tests of interruption."""

import time

from sklearn.base import BaseEstimator


class Sleeper(BaseEstimator):
    def fit(self, X, y):
        time.sleep(600)
        return self
