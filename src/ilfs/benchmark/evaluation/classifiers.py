"""Classifiers that evaluate subsets of features: a linear SVM, three others, and any scikit-learn class by its path.

Features are standardised on the training rows. All randomness is controlled by the seed of the job.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.evaluation.linear_svm import classify
from ilfs.benchmark.evaluation.metrics import Predictions
from ilfs.benchmark.methods.method import described_value, selector_names
from ilfs.registry import find_object

LINEAR_SVM = "linear_svm"
NAMED_CLASSIFIERS: dict[str, tuple[str, dict[str, Any]]] = {
    # Weighted by distance: unweighted votes of five neighbours would give most samples tied decision values.
    "knn": ("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 5, "weights": "distance"}),
    "rbf": ("sklearn.svm.SVC", {"kernel": "rbf", "class_weight": "balanced"}),
    "extra_trees": ("sklearn.ensemble.ExtraTreesClassifier", {"n_estimators": 200, "class_weight": "balanced"}),
}
CLASSIFIER_NAMES = (LINEAR_SVM, *NAMED_CLASSIFIERS)


@dataclass(frozen=True)
class Classifier:
    """A classifier under a name, with parameters.

    Parameters
    ----------
    name : str
        Name of the classifier in tables.
    classifier : str or estimator, optional
        ``"linear_svm"``, whose C is chosen by cross-validation; ``"knn"``, ``"rbf"`` (an SVM with that kernel) or
        ``"extra_trees"``; the import path of a class such as ``"sklearn.naive_bayes.GaussianNB"``; or such an estimator
        itself. By default the name.
    parameters : mapping
        Parameters of the class, written as those of a `BenchmarkMethod`.
    standardise : bool
        Whether features are standardised on the training rows. The linear SVM always does that.

    Examples
    --------
    >>> from ilfs.benchmark import Classifier
    >>> Classifier("knn").make(seed=0)["kneighborsclassifier"]
    KNeighborsClassifier(n_jobs=1, weights='distance')
    >>> Classifier("bayes", "sklearn.naive_bayes.GaussianNB", standardise=False).make(seed=0)
    Pipeline(steps=[('gaussiannb', GaussianNB())])
    """

    name: str
    classifier: Any = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    standardise: bool = True

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ValueError(f"the name of a classifier must be a non-empty string, got {self.name!r}")
        is_estimator = isinstance(self.classifier, BaseEstimator)
        if not is_estimator and not isinstance(self.classifier, str):
            raise ValueError(f"classifier {self.name!r} must be a string or an estimator, got {self.classifier!r}")
        if not isinstance(self.parameters, Mapping):
            raise ValueError(f"the parameters of classifier {self.name!r} must be a table, got {self.parameters!r}")
        if not isinstance(self.standardise, bool):
            raise ValueError(f"standardise of classifier {self.name!r} must be true or false, got {self.standardise!r}")
        object.__setattr__(self, "classifier", self.classifier if is_estimator else self.classifier or self.name)
        object.__setattr__(self, "parameters", dict(self.parameters))
        if self.parameters and (is_estimator or self.is_linear_svm):
            owner = "the protocol has Cs and n_folds" if self.is_linear_svm else "its estimator has its own"
            raise ValueError(f"parameters of classifier {self.name!r} must be none, as {owner}, got {self.parameters}")

    @property
    def is_linear_svm(self) -> bool:
        """True for the linear SVM, which is solved here and not by scikit-learn."""
        return isinstance(self.classifier, str) and self.classifier == LINEAR_SVM

    def make(self, seed: int) -> Pipeline:
        """Make the scikit-learn estimator.

        Parameters
        ----------
        seed : int
            The ``random_state``, if the estimator has one that was not given.

        Returns
        -------
        Pipeline
            Unfitted, with one thread. There is none for the linear SVM, which `predict` fits directly.
        """
        model = self._estimator()
        known = model.get_params(deep=False)
        fixed = {"n_jobs": 1} | ({"random_state": seed} if known.get("random_state", 0) is None else {})
        model.set_params(**{name: value for name, value in fixed.items() if name in known})
        return make_pipeline(StandardScaler(), model) if self.standardise else make_pipeline(model)

    def _estimator(self) -> Any:
        if isinstance(self.classifier, BaseEstimator):
            return self._checked(clone(self.classifier))
        path, defaults = NAMED_CLASSIFIERS.get(self.classifier, (self.classifier, {}))
        kind: Any = find_object(path, "classifier", CLASSIFIER_NAMES)
        if not inspect.isclass(kind) or not issubclass(kind, BaseEstimator):
            raise ValueError(f"classifier {self.name!r} must be a scikit-learn class, got {path}")
        known = list(inspect.signature(kind).parameters)
        if unknown := sorted(set(self.parameters) - set(known)):
            raise ValueError(f"{path} has no parameter {unknown[0]!r}; it has {', '.join(known)}")
        given = {name: selector_names().resolve(value) for name, value in self.parameters.items()}
        return self._checked(kind(**defaults | given))

    def _checked(self, model: Any) -> Any:
        if not is_classifier(model):
            raise ValueError(f"classifier {self.name!r} must classify, got a {type(model).__name__}")
        if not any(hasattr(model, method) for method in ("decision_function", "predict_proba")):
            raise ValueError(
                f"classifier {self.name!r} must have decision_function or predict_proba, "
                f"as average precision ranks the samples, and {type(model).__name__} has neither"
            )
        return model

    def describe(self) -> dict[str, Any]:
        """Describe the class and all its parameters as plain data.

        Returns
        -------
        dict
            Plain data, the same in every process.
        """
        if self.is_linear_svm:  # its rules are part of the key, so that new rules make results stale
            rules = {"class_weight": "balanced", "ties": "balanced accuracy, then the middle of the grid"}
            return {"name": self.name, "classifier": LINEAR_SVM, "parameters": rules}
        described = described_value(self._estimator())
        return {
            "name": self.name,
            "classifier": described["selector"],
            "parameters": described["parameters"],
            "standardise": self.standardise,
        }


def as_classifier(given: Any) -> Classifier:
    """Make a classifier from its name or from a table of a suite; a classifier is returned as it is."""
    if isinstance(given, Classifier):
        return given
    entries = {"name": given} if isinstance(given, str) else given
    known = set(Classifier.__dataclass_fields__)
    if not isinstance(entries, Mapping) or "name" not in entries or not set(entries) <= known:
        raise ValueError(
            "a classifier must be a name or a table with name and perhaps classifier, parameters and standardise, "
            f"got {given!r}"
        )
    return Classifier(**entries)


@dataclass(frozen=True)
class Tuning:
    """Grid, folds and seed for fitting a classifier.

    Parameters
    ----------
    Cs : sequence of float
        The grid of C of the linear SVM.
    n_folds : int
        Number of folds of the cross-validation that chooses C.
    seed : int
        Seed of the folds, or of the estimator.
    groups : ndarray of shape (n_samples,), optional
        Groups of training rows that the folds must not separate.
    """

    Cs: Sequence[float]
    n_folds: int
    seed: int
    groups: Integers | None = None


def predict(classifier: Classifier, X: Floats, y: Integers, T: Floats, n_classes: int, tuning: Tuning) -> Predictions:
    """Fit a classifier to rows X with classes y, and predict the classes of rows T.

    Parameters
    ----------
    classifier : Classifier
        The classifier.
    X, T : ndarray of shape (n_samples, n_features)
        Training and test rows: finite numbers.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ... of which at least two occur.
    n_classes : int
        Number of classes.
    tuning : Tuning
        Grid, folds and seed.

    Returns
    -------
    Predictions
        Decision values of every class, and labels.
    """
    if classifier.is_linear_svm:
        found = classify(X, y, T, n_classes, tuning.Cs, tuning.n_folds, tuning.seed, tuning.groups)
        return Predictions(found.decision, found.decision.argmax(axis=1), found.C)
    model = classifier.make(tuning.seed)
    if classifier.classifier == "knn":  # if there are fewer rows than neighbours, all rows are neighbours
        neighbours = model[-1]
        neighbours.set_params(n_neighbors=min(neighbours.n_neighbors, len(y)))
    model.fit(X, y)
    return Predictions(decision_values(model, T, n_classes, classifier.name), model.predict(T))


def decision_values(model: Pipeline, T: Floats, n_classes: int, name: str) -> Floats:
    """Decision values with a column for every class; minus infinity for classes without training rows."""
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    found = np.asarray(getattr(model, method)(T), dtype=float)
    found = np.column_stack([-found, found]) if found.ndim == 1 else found
    if found.shape != (len(T), len(model.classes_)):
        raise ValueError(
            f"{method} of classifier {name!r} must have a column for each class, got shape {found.shape} for "
            f"{len(T)} rows and {len(model.classes_)} classes: set it to one class against the rest"
        )
    values = np.full((len(T), n_classes), -np.inf)
    values[:, model.classes_] = found
    return values
