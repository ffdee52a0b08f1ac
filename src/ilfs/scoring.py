"""Score functions for scikit-learn's univariate selectors, made from the methods of the registry."""

from inspect import signature
from typing import Any, Self

from sklearn.base import clone

from ilfs.arrays import Floats
from ilfs.fitted import scores_of
from ilfs.registry import make_selector, split_name


def scorer(name: str, /, **parameters: Any) -> "Scorer":
    """Make a score function of a method, for `sklearn.feature_selection.SelectKBest` and similar selectors.

    `SelectKBest` sorts the scores as they are, so that rounding may decide between equal ones. The selectors of this
    package treat scores that differ only by rounding as ties: prefer ``FisherScore(5)`` to
    ``SelectKBest(scorer("fisher"), k=5)`` where you can.

    Parameters
    ----------
    name : str
        Name of a method, as `ilfs.registry.make_selector` takes it: ``"fisher"``, ``"novelty(mi)"``, or an import path.
    **parameters : dict
        Parameters of the class of the method. An unknown one is an error.

    Returns
    -------
    Scorer
        A function of ``(X, y)`` that returns a score for each feature; larger is better. Methods that use no labels
        take ``y=None``.

    See Also
    --------
    ilfs.registry.make_selector : The selector itself.

    Examples
    --------
    >>> from ilfs import scorer
    >>> scorer("fisher")([[0, 1], [2, 1], [4, 1], [6, 1]], ["a", "a", "b", "b"])
    array([4., 0.])

    Parameters can be searched like those of any estimator:

    >>> from sklearn.datasets import load_wine
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(SelectKBest(scorer("mi", n_bins=4), k=3), GaussianNB())
    >>> search = GridSearchCV(model, {"selectkbest__score_func__n_bins": [4, 8]}).fit(*load_wine(return_X_y=True))
    >>> search.best_estimator_["selectkbest"].score_func
    scorer('mi', n_bins=8)
    """
    return Scorer(name, make_selector(name, **parameters))


class Scorer:
    """Score function of a method.

    Made by `scorer`. It has ``get_params`` and ``set_params`` with the parameters of the method, can be cloned and
    pickled, and equals another one of the same method with equal parameters.

    Parameters
    ----------
    name : str
        Name of the method.
    selector : estimator
        The method with its parameters. It is never fitted itself.

    Examples
    --------
    >>> from ilfs import scorer
    >>> scorer("relieff", n_neighbors=5)
    scorer('relieff', n_neighbors=5)
    >>> scorer("relieff").get_params()["n_neighbors"]
    10
    >>> scorer("relieff", n_neighbors=10) == scorer("relieff")
    True
    """

    def __init__(self, name: str, selector: Any) -> None:
        self.name, self.selector = name, selector

    def __call__(self, X: Any, y: Any = None) -> Floats:
        """Score the features.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Data that the method takes.
        y : array of shape (n_samples,) or (n_samples, n_labels), optional
            Class of every sample, or an indicator matrix. Methods that use no labels ignore it.

        Returns
        -------
        ndarray of shape (n_features,)
            Larger is better.
        """
        scores = scores_of(clone(self.selector).fit(X, y))
        if scores is None:
            raise ValueError(
                "a scorer needs a method that has scores_, feature_importances_, coef_ or ranking_ after fitting, "
                f"with a value for each feature, got {self.name!r}"
            )
        return scores

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of the method.

        Parameters
        ----------
        deep : bool, default=True
            Include the parameters of estimators inside.

        Returns
        -------
        dict
            Values by name.
        """
        parameters: dict[str, Any] = self.selector.get_params(deep)
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters of the method.

        Parameters
        ----------
        **parameters : dict
            New values.

        Returns
        -------
        Scorer
            Itself.
        """
        self.selector.set_params(**parameters)
        return self

    def __sklearn_clone__(self) -> "Scorer":
        return Scorer(self.name, clone(self.selector))

    def __repr__(self) -> str:
        defaults = default_parameters(self.name, type(self.selector))
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name])
        ]
        return f"scorer({', '.join([repr(self.name), *given])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scorer) and class_and_parameters(self.selector) == class_and_parameters(other.selector)

    # Parameters can change, so there is no hash that stays the same.
    __hash__ = None  # type: ignore[assignment]


def default_parameters(name: str, selector_class: type) -> dict[str, Any]:
    """Collect the parameters that a method has by default; a required one is `inspect.Parameter.empty`."""
    defaults = {one.name: one.default for one in signature(selector_class).parameters.values()}
    _, inner = split_name(name)
    return defaults if inner is None else defaults | {"selector": make_selector(inner)}


def class_and_parameters(selector: Any) -> tuple[type, dict[str, Any]]:
    """Return the class and all nested parameters of a selector, to compare selectors.

    An estimator among the parameters is replaced by its class: its own parameters are in the nested ones.
    """
    parameters = selector.get_params(deep=True)
    return type(selector), {
        name: type(value) if hasattr(value, "get_params") else value for name, value in parameters.items()
    }
