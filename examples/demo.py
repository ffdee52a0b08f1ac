"""Rank the features of scikit-learn's breast cancer data, print the best ones, and write all of them to a CSV file."""

import time
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ilfs import ILFS
from ilfs.report import ranking_text, write_ranking
from ilfs.report.certainty import certainty_sentences

OUT = Path(__file__).resolve().parent.parent / "out"


def accuracy(*steps, X, y):
    """Cross-validated accuracy of a linear SVM after the given steps; features are selected inside each fold."""
    return cross_val_score(make_pipeline(*steps, StandardScaler(), LinearSVC()), X, y, cv=10).mean()


def main():
    data = load_breast_cancer()
    X, y, names = data.data, data.target_names[data.target], list(data.feature_names)
    selector = ILFS(n_features_to_select=8, n_permutations=99)
    selector.fit(X, y)  # the very first fit on a computer also compiles the kernels, which takes some seconds
    start = time.perf_counter()
    selector.fit(X, y)
    milliseconds = 1000 * (time.perf_counter() - start)

    print(f"Breast cancer, {X.shape[0]} tumours x {X.shape[1]} measurements, ranked in {milliseconds:.0f} ms\n")
    print(ranking_text(selector, top=10, input_features=names))
    print()
    for sentence in certainty_sentences(selector):
        print(sentence[0].upper() + sentence[1:])
    print(f"Accuracy of a linear SVM (10-fold cross-validation): all 30 features {accuracy(X=X, y=y):.3f}, ", end="")
    print(f"the best 8 {accuracy(selector, X=X, y=y):.3f}")

    OUT.mkdir(exist_ok=True)
    path = write_ranking(selector, OUT / "breast_cancer_ranking.csv", input_features=names)
    print(f"Ranking of all 30 features: {path.relative_to(OUT.parent)}")


if __name__ == "__main__":
    main()
