"""Registry: one record for each method of this library, and functions that make selectors from names.

Tables in the documentation, the command ``ilfs methods``, messages that list methods and the contract tests are made
from these records. To register a method, add one record to `RECORDS`.

This module imports neither the methods nor scikit-learn or numpy at the top: ``ilfs methods`` reads it in a few
milliseconds. `Method.load` imports a class when it is needed.
"""

from dataclasses import dataclass, field

TYPE_CHECKING = False  # importing typing.TYPE_CHECKING would take longer than the rest of this module
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal

IMPORT_PREFIX = "import:"  # prefix of a parameter that is given by its import path


@dataclass(frozen=True)
class Method:
    """Name, description and abilities of a method.

    An ability is None if it depends on parameters or on another selector that the method wraps.

    Parameters
    ----------
    name : str
        Short name, as the command line and `make_selector` take it.
    path : str
        Import path of the class.
    title : str
        Full name.
    summary : str
        One line: which features it looks for.
    kind : {"filter", "wrapper", "embedded"}
        A filter scores features without a classifier, a wrapper trains classifiers on subsets of features, an embedded
        method selects features while it trains one.
    supervised : bool or None
        The method uses the labels.
    in_paper : bool
        One of the twelve methods of the ILFS paper.
    complexity : str
        Time for m samples and n features.
    sparse : bool or None
        Takes sparse matrices.
    missing : bool or None
        Takes missing values (NaN) and leaves them out.
    weights : bool or None
        ``fit`` takes ``sample_weight``.
    multilabel : bool or None
        Takes an indicator matrix as ``y`` and scores each label against the rest.
    streams : bool or None
        Scores come from mergeable statistics of blocks of rows, so that the rows need not be in memory together; None
        if that depends on parameters.
    reference : str
        Where the method was published.
    page : str
        Page of the documentation, relative to ``docs/``.
    null : bool, default=False
        Has p-values by permutations of the labels, and the rule ``n_features_to_select="fdr"``.
    comparable_scores : bool or None, default=False
        The score (of ILFS and Novelty: the relevance) of a feature without effect has the same distribution under the
        observed labels as under permuted ones, so that `ilfs.selection.FDRSelector` can test it.
    incomparable_because : str, default=""
        Why the scores of a supervised method are not comparable, as a clause.

    Examples
    --------
    >>> from ilfs import list_methods
    >>> fisher = list_methods()[2]
    >>> fisher.name, fisher.title, fisher.kind, fisher.supervised
    ('fisher', 'Fisher score', 'filter', True)
    >>> fisher.load().__name__
    'FisherScore'
    """

    name: str
    path: str
    title: str
    summary: str
    kind: "Literal['filter', 'wrapper', 'embedded']"
    supervised: bool | None
    in_paper: bool
    complexity: str
    sparse: bool | None
    missing: bool | None
    weights: bool | None
    multilabel: bool | None
    streams: bool | None
    reference: str
    page: str
    null: bool = False
    comparable_scores: bool | None = False
    incomparable_because: str = ""

    @property
    def class_name(self) -> str:
        """Name of the class, without its module."""
        return self.path.rpartition(".")[2]

    @property
    def wraps_another(self) -> bool:
        """True if the method needs another selector, its parameter ``selector``."""
        return self.supervised is None

    def load(self) -> "Any":
        """Import the class.

        Returns
        -------
        type
            The class of the selector.
        """
        from importlib import import_module

        module, _, name = self.path.rpartition(".")
        return getattr(import_module(module), name)


# fmt: off
RECORDS = (
    Method(
        "ilfs", "ilfs.methods.ilfs.ILFS", "Infinite Latent Feature Selection",
        "features that represent the samples of their class well, and add something to better ones",
        "filter", supervised=True, in_paper=True, complexity="O(m n + m c^2), c candidates",
        sparse=True, missing=True, weights=True, multilabel=True, streams=True,
        reference="G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, Infinite Latent Feature Selection: A "
        "Probabilistic Latent Graph-Based Ranking Approach, ICCV 2017",
        page="ilfs.md", null=True, comparable_scores=True,
    ),
    Method(
        "inf_fs", "ilfs.methods.inf_fs.InfFS", "Infinite Feature Selection",
        "features that vary much and are unlike the others, summed over all paths of a graph",
        "filter", supervised=False, in_paper=True, complexity="O(m n^2)",
        sparse=False, missing=False, weights=False, multilabel=False, streams=None,
        reference="G. Roffo, S. Melzi, M. Cristani, Infinite Feature Selection, ICCV 2015",
        page="methods/inf_fs.md",
    ),
    Method(
        "fisher", "ilfs.methods.fisher.FisherScore", "Fisher score",
        "features whose class means are far apart compared with the spread within classes",
        "filter", supervised=True, in_paper=True, complexity="O(m n)",
        sparse=True, missing=True, weights=True, multilabel=True, streams=True,
        reference="R. A. Fisher, The Use of Multiple Measurements in Taxonomic Problems, Annals of Eugenics 7, 1936",
        page="methods/fisher.md", null=True, comparable_scores=True,
    ),
    Method(
        "mi", "ilfs.methods.mutual_information.MutualInformation", "Mutual information",
        "features on which the class depends in any way",
        "filter", supervised=True, in_paper=True, complexity="O(n m log m)",
        sparse=True, missing=True, weights=True, multilabel=True, streams=True,
        reference="T. M. Cover, J. A. Thomas, Elements of Information Theory, 2006; M. Zaffalon, M. Hutter, Robust "
        "Feature Selection by Mutual Information Distributions, UAI 2002",
        page="methods/mutual_information.md", null=True, comparable_scores=True,
    ),
    Method(
        "relieff", "ilfs.methods.relieff.ReliefF", "ReliefF",
        "features that differ between near samples of different classes, and not within a class",
        "filter", supervised=True, in_paper=True, complexity="O(m^2 n)",
        sparse=True, missing=True, weights=False, multilabel=True, streams=False,
        reference="I. Kononenko, Estimating Attributes: Analysis and Extensions of RELIEF, ECML 1994",
        page="methods/relieff.md",
        incomparable_because="neighbours depend on all features, and weights of the others rise if some have an effect",
    ),
    Method(
        "rfe", "ilfs.methods.svm_rfe.SVMRFE", "Recursive feature elimination with a linear SVM",
        "features that a linear SVM needs most; the others are removed one by one",
        "wrapper", supervised=True, in_paper=True, complexity="O(m n min(m, n))",
        sparse=False, missing=False, weights=False, multilabel=True, streams=False,
        reference="I. Guyon, J. Weston, S. Barnhill, V. Vapnik, Gene Selection for Cancer Classification using Support "
        "Vector Machines, Machine Learning 46, 2002",
        page="methods/svm_rfe.md",
        incomparable_because="a score is the step at which the feature was removed, and some feature is always last",
    ),
    Method(
        "fsv", "ilfs.methods.fsv.FSV", "Feature selection via concave minimization",
        "the few features that a linear separation needs",
        "embedded", supervised=True, in_paper=True, complexity="O(m n) for each of some tens of passes",
        sparse=True, missing=False, weights=False, multilabel=True, streams=False,
        reference="P. S. Bradley, O. L. Mangasarian, Feature Selection via Concave Minimization and Support Vector "
        "Machines, ICML 1998",
        page="methods/fsv.md",
        incomparable_because="a score is relative to the plane that the best features make, whatever their effect",
    ),
    Method(
        "cfs", "ilfs.methods.cfs.CFS", "Pairwise correlation",
        "features that have hardly any correlation with some other feature",
        "filter", supervised=False, in_paper=True, complexity="O(m n^2)",
        sparse=True, missing=False, weights=False, multilabel=False, streams=True,
        reference="the comparison in G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, Infinite Latent Feature "
        "Selection: A Probabilistic Latent Graph-Based Ranking Approach, ICCV 2017",
        page="methods/cfs.md",
    ),
    Method(
        "ls", "ilfs.methods.laplacian_score.LaplacianScore", "Laplacian score",
        "features that change little between neighbours",
        "filter", supervised=False, in_paper=True, complexity="O(m^2 n)",
        sparse=True, missing=False, weights=False, multilabel=False, streams=False,
        reference="X. He, D. Cai, P. Niyogi, Laplacian Score for Feature Selection, NIPS 2005",
        page="methods/laplacian_score.md",
    ),
    Method(
        "mcfs", "ilfs.methods.mcfs.MCFS", "Multi-cluster feature selection",
        "features that rebuild the clusters, by sparse regression",
        "filter", supervised=False, in_paper=True, complexity="O(m^2 n)",
        sparse=True, missing=False, weights=False, multilabel=False, streams=False,
        reference="D. Cai, C. Zhang, X. He, Unsupervised Feature Selection for Multi-Cluster Data, KDD 2010",
        page="methods/mcfs.md",
    ),
    Method(
        "udfs", "ilfs.methods.udfs.UDFS", "Unsupervised discriminative feature selection",
        "features that together separate neighbourhoods of samples in a linear projection",
        "filter", supervised=False, in_paper=True, complexity="O(m^2 n + s n min(m, n)^2), s steps",
        sparse=False, missing=False, weights=False, multilabel=False, streams=False,
        reference="Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou, l2,1-Norm Regularized Discriminative Feature "
        "Selection for Unsupervised Learning, IJCAI 2011",
        page="methods/udfs.md",
    ),
    Method(
        "llcfs", "ilfs.methods.llcfs.LLCFS", "Feature selection for local learning-based clustering",
        "features from which the neighbours of a sample predict its cluster",
        "filter", supervised=False, in_paper=True, complexity="O(s m^2 n), s steps",
        sparse=False, missing=False, weights=False, multilabel=False, streams=False,
        reference="H. Zeng, Y.-M. Cheung, Feature Selection and Kernel Learning for Local Learning-Based Clustering, "
        "IEEE Transactions on Pattern Analysis and Machine Intelligence 33, 2011",
        page="methods/llcfs.md",
    ),
    Method(
        "hall_cfs", "ilfs.methods.hall_cfs.HallCFS", "Correlation-based feature selection",
        "a subset of features that depend on the class and not on each other",
        "filter", supervised=True, in_paper=False, complexity="O(n m log m + s m n), s features in the search",
        sparse=True, missing=False, weights=False, multilabel=True, streams=False,
        reference="M. A. Hall, Correlation-based Feature Selection for Machine Learning, thesis, University of Waikato "
        "1999",
        page="methods/hall_cfs.md",
        incomparable_because="a score is the place of the feature in a subset, and some feature is always first",
    ),
    Method(
        "generalized_fisher", "ilfs.methods.generalized_fisher.GeneralizedFisherScore", "Generalised Fisher score",
        "a subset of features that separates the classes together, by a ridge regression",
        "filter", supervised=True, in_paper=False, complexity="O(s (m n + m^2 k + m^3)), s steps, k features in use",
        sparse=False, missing=False, weights=False, multilabel=True, streams=False,
        reference="Q. Gu, Z. Li, J. Han, Generalized Fisher Score for Feature Selection, UAI 2011",
        page="methods/generalized_fisher.md",
        incomparable_because="a score is what the feature adds to a subset, and falls if others have an effect",
    ),
    Method(
        "novelty", "ilfs.methods.novelty.Novelty", "Relevance times novelty",
        "the features of another method, without those that repeat each other",
        "filter", supervised=None, in_paper=False, complexity="that of the other method + O(m c^2), c candidates",
        sparse=None, missing=None, weights=None, multilabel=None, streams=None,
        reference="this library",
        page="redundancy.md#for-any-method", comparable_scores=None,
    ),
)
# fmt: on
BY_NAME = {method.name: method for method in RECORDS}


def list_methods() -> tuple[Method, ...]:
    """List the methods of this library.

    Returns
    -------
    tuple of Method
        The twelve of the paper first.

    Examples
    --------
    >>> from ilfs import list_methods
    >>> [method.name for method in list_methods() if method.supervised and method.sparse]
    ['ilfs', 'fisher', 'mi', 'relieff', 'fsv', 'hall_cfs']
    """
    return RECORDS


def summary_of(class_name: str) -> str | None:
    """Return which features a method looks for, by the name of its class; None if it is not registered.

    Examples
    --------
    >>> from ilfs.registry import summary_of
    >>> summary_of("LaplacianScore")
    'features that change little between neighbours'
    """
    return next((method.summary for method in RECORDS if method.class_name == class_name), None)


def classes_with(ability: str) -> str:
    """Format the names of the classes that have an ability, for messages.

    Parameters
    ----------
    ability : {"sparse", "missing", "weights", "multilabel", "streams", "null", "comparable_scores"}
        Field of `Method`.

    Returns
    -------
    str
        Names separated by commas. A method whose ability depends on another selector is left out.

    Examples
    --------
    >>> from ilfs.registry import classes_with
    >>> classes_with("weights")
    'ILFS, FisherScore, MutualInformation'
    """
    return ", ".join(method.class_name for method in RECORDS if getattr(method, ability))


def method_of(selector_class: type) -> Method | None:
    """Return the record of a class or of its nearest registered base class, None if there is none.

    Examples
    --------
    >>> from ilfs import ReliefF
    >>> from ilfs.registry import method_of
    >>> method_of(ReliefF).name, method_of(dict)
    ('relieff', None)
    """
    records = {method.path: method for method in RECORDS}
    paths = (f"{one.__module__}.{one.__qualname__}" for one in selector_class.__mro__)
    return next((records[path] for path in paths if path in records), None)


def make_selector(name: str, /, **parameters: "Any") -> "Any":
    """Make a selector from its name.

    Parameters
    ----------
    name : str
        Short name of a method; ``"novelty(mi)"`` for a method around another one; or the import path of a scikit-learn
        compatible class such as ``"sklearn.feature_selection.SelectKBest"``.
    **parameters : dict
        Parameters of the class. A string ``"import:a.b.c"`` stands for the object with that import path. A mapping with
        the keys ``selector`` and, optionally, ``parameters`` stands for an estimator that is made like this one.

    Returns
    -------
    estimator
        Not fitted.

    Examples
    --------
    >>> from ilfs.registry import make_selector
    >>> make_selector("fisher", n_features_to_select=10)
    FisherScore(n_features_to_select=10)
    >>> make_selector("novelty(mi)", n_candidates=100)
    Novelty(n_candidates=100, selector=MutualInformation())
    >>> make_selector("fischer")
    Traceback (most recent call last):
    ValueError: method 'fischer' is none of ilfs, ..., and cannot be imported; did you mean 'fisher'?
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string such as 'fisher', got {name!r}")
    return SelectorNames().make(name, parameters)


@dataclass(frozen=True)
class SelectorNames:
    """Names from which selectors can be made: those of the registry, names that the caller adds, and import paths.

    Parameters
    ----------
    others : mapping of str to type
        Additional names and their classes.
    reserved : tuple of str
        Names that the caller handles itself and that have no class; error messages list them.
    folder : str, optional
        Additional folder to import modules from.
    """

    others: "Mapping[str, Any]" = field(default_factory=dict)
    reserved: tuple[str, ...] = ()
    folder: str | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """All short names."""
        return (*BY_NAME, *self.others, *self.reserved)

    def make(
        self,
        name: str,
        parameters: "Mapping[str, Any]",
        *,
        defaults: "Mapping[str, Any] | None" = None,
        label: str | None = None,
    ) -> "Any":
        """Make a selector.

        Parameters
        ----------
        name : str
            As for `make_selector`.
        parameters : mapping
            As for `make_selector`; an unknown one is an error.
        defaults : mapping, optional
            Values for parameters that the class has and that are not in ``parameters``.
        label : str, optional
            Name of the selector in error messages; by default ``name``.

        Returns
        -------
        estimator
            Not fitted.
        """
        from inspect import signature

        outer, inner = split_name(name)
        selector_class = self.load(outer, label or outer)
        known = list(signature(selector_class).parameters)
        if unknown := sorted(set(parameters) - set(known)):
            raise ValueError(f"{outer} has no parameter {unknown[0]!r}; it has {', '.join(known)}")
        given = {key: self.resolve(value) for key, value in parameters.items()} | self._wrapped(
            outer, inner, parameters
        )
        usable = {key: value for key, value in (defaults or {}).items() if key in known}
        return instantiate(selector_class, usable | given, label or name)

    def _wrapped(self, outer: str, inner: str | None, parameters: "Mapping[str, Any]") -> dict[str, "Any"]:
        """Make the parameter ``selector`` of a method that wraps another one; return nothing for other methods."""
        wraps = outer in BY_NAME and BY_NAME[outer].wraps_another
        if inner is None:
            if wraps and "selector" not in parameters:
                raise ValueError(f"{outer} needs another method: write {outer}(fisher), or give the parameter selector")
            return {}
        if not wraps:
            wrappers = ", ".join(method.name for method in RECORDS if method.wraps_another)
            raise ValueError(f"{outer}({inner}): {outer} wraps no other method, only {wrappers} does")
        if "selector" in parameters:
            raise ValueError(f"{outer}({inner}) has a selector already, got the parameter selector as well")
        return {"selector": self.make(inner, {})}

    def load(self, name: str, label: str) -> "Any":
        """Import the class of a selector, given by a name without parentheses.

        An object that is not a selector class is refused before it is called.
        """
        from inspect import isclass

        from sklearn.base import BaseEstimator

        if name in BY_NAME:
            return BY_NAME[name].load()
        loaded = self.others[name] if name in self.others else self.find(name, "method")
        if not isclass(loaded) or not issubclass(loaded, BaseEstimator) or not hasattr(loaded, "fit"):
            raise ValueError(f"method {label!r} must be a subclass of sklearn.base.BaseEstimator with fit, got {name}")
        return loaded

    def find(self, path: str, role: str) -> "Any":
        """Import an object for a role such as "method", which error messages name."""
        return find_object(path, role, self.known, folder=self.folder)

    def resolve(self, value: "Any") -> "Any":
        """Turn a parameter that describes an object into that object; return other values as they are."""
        from collections.abc import Mapping

        if isinstance(value, str) and value.startswith(IMPORT_PREFIX):
            return self.find(value.removeprefix(IMPORT_PREFIX), "parameter")
        if isinstance(value, Mapping) and "selector" in value:
            return self._inner_estimator(value["selector"], value.get("parameters", {}))
        return value

    def _inner_estimator(self, selector: "Any", parameters: "Any") -> "Any":
        from collections.abc import Mapping

        if not isinstance(selector, str) or not selector:
            raise ValueError(f"the selector of an inner estimator must be a name, got {selector!r}")
        if not isinstance(parameters, Mapping):
            raise ValueError(f"the parameters of inner estimator {selector!r} must be a mapping, got {parameters!r}")
        return self.make(selector, parameters)


def split_name(name: str) -> tuple[str, str | None]:
    """Split ``"novelty(mi)"`` into ``("novelty", "mi")``; the second part of a plain name is None."""
    outer, opened, rest = name.partition("(")
    inner = rest.removesuffix(")").strip()
    return (outer, inner) if opened and outer and inner and rest.endswith(")") else (name, None)


def instantiate(selector_class: "Callable[..., Any]", parameters: "Mapping[str, Any]", label: str) -> "Any":
    """Make an instance of a class; report any error in its constructor as a ValueError in one line."""
    from ilfs.one_line import in_one_line

    try:
        return selector_class(**parameters)
    except (Exception, SystemExit) as error:  # a class of the user may fail in any way
        raise ValueError(f"method {label!r} cannot be made: {in_one_line(error)}") from None


def find_object(path: str, role: str, known: "tuple[str, ...]", *, folder: str | None = None) -> "Any":
    """Import an object; if there is none, the error suggests the most similar known name."""
    from ilfs.importing import import_object

    try:
        return import_object(path, folder)
    except LookupError as error:
        near = nearest_name(path, known)
        why = f"; did you mean {near!r}?" if near else f": {error}"
        raise ValueError(f"{role} {path!r} is none of {', '.join(known)}, and cannot be imported{why}") from None
    except ImportError as error:
        raise ValueError(f"{role} {path!r} cannot be imported: {error}") from None


def nearest_name(wrong: str, known: "tuple[str, ...]") -> str | None:
    """Find the known name most similar to a wrong one; a class name such as "FisherScore" gives "fisher"."""
    from difflib import get_close_matches

    meant = {BY_NAME[name].class_name.lower(): name for name in known if name in BY_NAME}
    meant |= {name.lower(): name for name in known}
    near = get_close_matches(wrong.lower(), meant, n=1)
    return meant[near[0]] if near else None
