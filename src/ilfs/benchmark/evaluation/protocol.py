"""The protocol of an experiment: how data are split and how subsets of features are evaluated."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ilfs.benchmark.evaluation.classifiers import LINEAR_SVM, Classifier, as_classifier
from ilfs.parameters import check_between, check_integer, check_positive

ROUNDING = 1e-6  # features; larger than the rounding error of a fraction of all features
MAX_SIZE = 2**31 - 1  # features; more than any table has, and small enough for the store


@dataclass(frozen=True)
class Protocol:
    """Rules for splitting the data and evaluating subsets of features.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of features: the best ones of each ranking are evaluated at each of these sizes.
    test_fraction : float
        Fraction of the samples of each class that are kept for testing.
    Cs : tuple of float
        The grid of C of the linear SVM, ascending.
    n_folds : int
        Number of folds of the cross-validation that chooses C, on training rows.
    seed : int
        Seed of splits, folds and classifiers.
    classifiers : tuple of Classifier or str
        Classifiers that evaluate the subsets. A method orders the features once for all of them.
    fractions : tuple of float
        Fractions of the features, in place of ``sizes`` in the experiment ``"classes"``.
    """

    sizes: tuple[int, ...] = (10, 50, 100, 150, 200)
    test_fraction: float = 1 / 3
    Cs: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0)
    n_folds: int = 5
    seed: int = 0
    classifiers: tuple[Classifier, ...] = field(
        default=(Classifier(LINEAR_SVM),), metadata={"before": (Classifier(LINEAR_SVM),)}
    )
    fractions: tuple[float, ...] = field(default=(0.5,), metadata={"before": (0.5,)})

    def __post_init__(self) -> None:
        self._check_sizes()
        self._check_fractions()
        self._check_Cs()
        check_between("test_fraction", self.test_fraction, 0, 1)
        check_integer("n_folds", self.n_folds, 2)
        check_integer("seed", self.seed, 0)
        self._check_classifiers()

    def _check_sizes(self) -> None:
        check_is_list("sizes", self.sizes, "integers >= 1")
        for size in self.sizes:
            check_integer("sizes", size, 1)
            if size > MAX_SIZE:
                raise ValueError(f"sizes must be at most {MAX_SIZE}, got {size}")
        if len(set(self.sizes)) < len(self.sizes):
            raise ValueError(f"sizes must have every number once, got {list(self.sizes)}")

    def _check_fractions(self) -> None:
        check_is_list("fractions", self.fractions, "numbers > 0 and <= 1")
        for fraction in self.fractions:
            check_positive("fractions", fraction)
        if max(self.fractions) > 1:
            raise ValueError(f"fractions must be numbers > 0 and <= 1, got {max(self.fractions)}")
        if list(self.fractions) != sorted(set(self.fractions)):
            raise ValueError(f"fractions must be ascending, got {list(self.fractions)}")

    def _check_Cs(self) -> None:  # noqa: N802  C is the usual name of the parameter
        check_is_list("Cs", self.Cs, "numbers > 0")
        for C in self.Cs:
            check_positive("Cs", C)
        if list(self.Cs) != sorted(set(self.Cs)):
            raise ValueError(f"Cs must be ascending, got {list(self.Cs)}")

    def _check_classifiers(self) -> None:
        if not isinstance(self.classifiers, tuple | list) or not self.classifiers:
            raise ValueError(f"classifiers must be a list of at least one, got {self.classifiers!r}")
        object.__setattr__(self, "classifiers", tuple(map(as_classifier, self.classifiers)))
        if repeated := [name for i, name in enumerate(self.classifier_names) if name in self.classifier_names[:i]]:
            raise ValueError(f"classifiers must have different names, got {repeated[0]!r} again")
        for one in self.classifiers:
            one.describe()  # raises now, before anything runs, if a class cannot be imported

    @property
    def classifier_names(self) -> tuple[str, ...]:
        """Names of the classifiers."""
        return tuple(one.name for one in self.classifiers)

    def fraction_sizes(self, n_features: int) -> tuple[int, ...]:
        """Convert the fractions to numbers of features, rounded down, at least 1; equal ones once.

        Parameters
        ----------
        n_features : int
            Number of features of the data set.

        Returns
        -------
        tuple of int
            In ascending order.

        Examples
        --------
        >>> from ilfs.benchmark import Protocol
        >>> Protocol(fractions=(0.01, 0.1, 0.5)).fraction_sizes(5120)
        (51, 512, 2560)
        """
        # 0.29 * 100 is a little less than 29.
        return tuple(sorted({max(1, int(fraction * n_features + ROUNDING)) for fraction in self.fractions}))

    def describe(self) -> dict[str, Any]:
        """Describe the protocol as plain data."""
        plain = described_fields(self)
        if "classifiers" in plain:
            plain["classifiers"] = [one.describe() for one in self.classifiers]
        return plain

    def evaluators(self) -> list[Any]:
        """Make the scikit-learn estimators that evaluate subsets; their code is part of the key of a job."""
        return [one.make(seed=0) for one in self.classifiers if not one.is_linear_svm]


@dataclass(frozen=True)
class TimingJob:
    """The protocol of the paper's timing experiment: uniform numbers in [0, 1000], two classes at random.

    Parameters
    ----------
    rows, columns : int
        Shape of the table.
    n_threads : int
        Number of threads that a method may use.
    seed : int
        Seed of the numbers.
    """

    rows: int = 10_000
    columns: int = 5_000
    n_threads: int = 1
    seed: int = 0

    def evaluators(self) -> list[Any]:
        """Return no estimators: nothing is evaluated."""
        return []

    def describe(self) -> dict[str, Any]:
        """Describe the protocol as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class RecoveryJob:
    """The protocol of experiments on data whose true features are known.

    Parameters
    ----------
    n_picks : int
        Number of features that methods are asked for; at least the number of true features of every data set.
    test_fraction : float
        Fraction of the rows of a file that a split leaves out. Data that are made are drawn anew for every split.
    seed : int
        Seed of the splits.
    """

    n_picks: int = 20
    test_fraction: float = 1 / 3
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("n_picks", self.n_picks, 1)
        check_between("test_fraction", self.test_fraction, 0, 1)
        check_integer("seed", self.seed, 0)

    def evaluators(self) -> list[Any]:
        """Return no estimators: features are counted, not evaluated."""
        return []

    def describe(self) -> dict[str, Any]:
        """Describe the protocol as plain data."""
        return asdict(self)


def described_fields(options: Any) -> dict[str, Any]:
    """Fields of a dataclass by name, for the description of a job.

    A field that was added after results had been stored names in its metadata the value that these results used, as
    in ``field(default="svm", metadata={"before": "svm"})``. With that value the field is left out, so that the
    identity of a job stays the same. The value in the metadata must never change, even if the default does.
    """
    values = {one.name: getattr(options, one.name) for one in fields(options)}
    before = {one.name: one.metadata["before"] for one in fields(options) if "before" in one.metadata}
    return {name: value for name, value in values.items() if name not in before or before[name] != value}


def check_is_list(name: str, values: Any, rule: str) -> None:
    """Raise an error unless a parameter is a list or tuple with at least one entry."""
    if not isinstance(values, tuple | list) or not values:
        raise ValueError(f"{name} must be {rule}, got {values!r}" if values else f"{name} must be {rule}, got none")
