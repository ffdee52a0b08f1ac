"""Compare all twelve methods on one table: their time, their best features, and the correlation of their rankings.

python examples/compare_methods.py
"""

import time
import warnings

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from ilfs import METHODS


def main():
    cancer = load_breast_cancer()
    X = StandardScaler().fit_transform(cancer.data)  # some methods use distances, which depend on units
    rankings = {}
    print(f"{'method':<8} {'seconds':>8}  the three best features")
    for name, method in METHODS.items():
        selector = method(n_features_to_select=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(X, cancer.target)  # kernels are compiled or loaded here
            start = time.perf_counter()
            selector.fit(X, cancer.target)
        rankings[name] = selector.ranking_
        best = ", ".join(cancer.feature_names[selector.order_[:3]])
        print(f"{name:<8} {time.perf_counter() - start:8.3f}  {best}")

    print("\nSpearman correlation of the rankings, in %")
    print(" " * 8 + "".join(f"{name:>8}" for name in rankings))
    for name, ranking in rankings.items():
        row = [100 * spearmanr(ranking, other).statistic for other in rankings.values()]
        print(f"{name:<8}" + "".join(f"{value:8.0f}" for value in np.asarray(row)))


if __name__ == "__main__":
    main()
