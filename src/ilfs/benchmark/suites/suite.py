"""What is run together: data sets, methods, splits and a protocol, under a name or in a TOML file of one's own."""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ilfs.benchmark.baselines import RIVALS
from ilfs.benchmark.evaluation.protocol import EXPERIMENTS, Cell, Protocol, TimingJob
from ilfs.benchmark.evaluation.splits import n_splits_of
from ilfs.benchmark.methods.importing import importable_from
from ilfs.benchmark.methods.method import RANDOM, Contender
from ilfs.datasets import REGISTRY, Table, load
from ilfs.datasets.naming import spelled
from ilfs.datasets.readers import ENDINGS, columns_of
from ilfs.datasets.table import content_checksum
from ilfs.methods import ILFS, METHODS
from ilfs.parameters import check_integer

UNIFORM = "uniform"  # the data set of the timing job
MOST_SPLITS = 10_000
MAX_NESTING = 50  # of a suite's file: code that reads what is inside it calls itself
TOO_DEEP = f"its lists and tables are nested too deeply, the limit is {MAX_NESTING}"
TWELVE = tuple(Contender(name) for name in METHODS)
TEXT = Contender(  # ILFS as the paper's text has it: our defaults depart from that
    "ilfs_paper",
    "ilfs",
    {
        name: value
        for name, value in ILFS.paper().get_params().items()
        if name not in ("n_features_to_select", "n_jobs")
    },
)
NOVEL_ILFS = Contender("ilfs_novelty", "ilfs", {"redundancy": "novelty"})
VARIANTS = (NOVEL_ILFS, Contender("ilfs_plain", "ilfs", {"redundancy": None}), TEXT)
NOVEL = tuple(  # the twelve on equal terms: each without features that repeat each other
    NOVEL_ILFS if name == "ilfs" else Contender(f"{name}_novelty", "ilfs.Novelty", {"selector": {"selector": name}})
    for name in METHODS
)
BESIDE = (*VARIANTS, Contender(RANDOM))
TODAY = tuple(Contender(name) for name in ("hall_cfs", *RIVALS))  # none of them in the paper
EIGHT = ("colon", "leukemia", "prostate", "lymphoma", "lung", "gina", "dexter", "polarity")
TEN_MORE = (
    "srbct",
    "glioma",
    "tox_171",
    "coil20",
    "usps",
    "arcene",
    "madelon",
    "dorothea",
    "office_caltech10",
    "pascal_sentence",
)


@dataclass(frozen=True)
class Suite:
    """What is run together.

    Parameters
    ----------
    name : str
        What it is called.
    experiment : {"sizes", "classes", "timing"}
        The paper's second, its first, or its timing job.
    datasets : tuple of str
        Names, or paths of files, perhaps with their columns: ``genes.csv?target=diagnosis&drop=sample&groups=donor``.
    contenders : tuple of Contender
        The methods.
    n_splits : int
        How many; not more than its folds for a data set that has them.
    protocol : Protocol or TimingJob
        The rest.
    folder : str, optional
        Where the modules of selectors are looked for too: the folder of its file.

    Examples
    --------
    >>> from ilfs.benchmark import SUITES
    >>> SUITES["paper"].n_splits, len(SUITES["paper"].contenders)
    (20, 16)
    """

    name: str
    experiment: str
    datasets: tuple[str, ...]
    contenders: tuple[Contender, ...] = TWELVE
    n_splits: int = 20
    protocol: Any = field(default_factory=Protocol)
    folder: str | None = None

    def __post_init__(self) -> None:
        if self.experiment not in EXPERIMENTS:
            known = " or ".join(map(repr, EXPERIMENTS))
            raise ValueError(f"experiment of suite {self.name} must be {known}, got {self.experiment!r}")
        check_integer("splits", self.n_splits, 1)
        if self.n_splits > MOST_SPLITS:
            raise ValueError(f"splits must be at most {MOST_SPLITS}, got {self.n_splits}")
        if self.experiment == "timing":
            self._check_timing()
        for what, names in (("data set", self.datasets), ("method", [one.name for one in self.contenders])):
            if not names:
                raise ValueError(f"suite {self.name} must have a {what}, got none")
            if repeated := [name for i, name in enumerate(names) if name in names[:i]]:
                raise ValueError(f"suite {self.name} must have every {what} once, got {repeated[0]!r} again")

    def _check_timing(self) -> None:
        if others := [name for name in self.datasets if name != UNIFORM]:
            raise ValueError(f"suite {self.name} makes its data set {UNIFORM} itself, got {others[0]!r}")
        if any(one.is_random for one in self.contenders):
            raise ValueError(f"suite {self.name} must have methods that can be timed, got a random order")

    def only(
        self,
        datasets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        classifiers: Sequence[str] | None = None,
    ) -> "Suite":
        """The same with some of its data sets, methods and classifiers, or with others by name.

        Parameters
        ----------
        datasets, methods, classifiers : sequence of str, optional
            Which; all by default.

        Returns
        -------
        Suite
            Refused if a method or a classifier is not there.
        """
        known = {one.name: one for one in self.contenders}
        others = {name: Contender(name, folder=self.folder) for name in methods or () if name not in known}
        contenders = [(known | others)[name] for name in methods] if methods else self.contenders
        for contender in contenders:
            contender.describe()  # refuse what is not there before anything is run
        suite = replace(self, datasets=tuple(datasets or self.datasets), contenders=tuple(contenders))
        return suite.with_classifiers(classifiers) if classifiers else suite

    def with_classifiers(self, names: Sequence[str]) -> "Suite":
        """The same with some of its classifiers, or with others by name.

        Parameters
        ----------
        names : sequence of str
            Which.

        Returns
        -------
        Suite
            Its jobs are others than those with other classifiers.
        """
        if self.experiment == "timing":
            raise ValueError(f"classifiers are not for suite {self.name}, which times the methods, got {names[0]!r}")
        known = {one.name: one for one in self.protocol.classifiers}
        chosen = tuple(known.get(name, name) for name in names)
        return replace(self, protocol=replace(self.protocol, classifiers=chosen))

    def with_threads(self, n_threads: int) -> "Suite":
        """The timing job with so many threads; any other suite as it is.

        Parameters
        ----------
        n_threads : int
            That a method may use.

        Returns
        -------
        Suite
            Its cells are others for another number.
        """
        if self.experiment != "timing":
            return self
        return replace(self, protocol=replace(self.protocol, n_threads=n_threads))

    def cells(self) -> list[Cell]:
        """All of it, split by split, so that what is there early is an even part of the whole."""
        evaluators = self.protocol.evaluators()
        provenance = {one.name: one.provenance(evaluators) for one in self.contenders}
        if self.experiment == "timing":
            found = dict.fromkeys(self.datasets, ("", "", self.n_splits))
        else:
            found = {name: self._checksums_and_splits(name) for name in self.datasets}
        return [
            Cell(
                self.experiment,
                name,
                checksum,
                contender,
                split,
                self.protocol,
                provenance[contender.name] | {"content": content},
            )
            for split in range(self.n_splits)
            for name, (checksum, content, n_splits) in found.items()
            for contender in self.contenders
            if split < n_splits
        ]

    def _checksums_and_splits(self, name: str) -> tuple[str, str, int]:
        table = load(name)
        return table.checksum, content_of(table), n_splits_of(table, self.n_splits)


def content_of(table: Table) -> str:
    """Checksum of what was read, beside that of the file: a new version of a reader may read it in another way."""
    test_rows = b"" if table.test_rows is None else table.test_rows.tobytes()
    return hashlib.sha256(content_checksum(table).encode() + test_rows).hexdigest()


SUITES = {
    suite.name: suite
    for suite in (
        Suite("paper", "sizes", EIGHT, (*TWELVE, *BESIDE)),
        Suite("deep", "classes", ("pascal_sentence", "office_caltech10"), (*TWELVE, *BESIDE), n_splits=1),
        Suite("modern", "sizes", (*EIGHT, *TEN_MORE), (*TWELVE, *VARIANTS, *TODAY, Contender(RANDOM))),
        Suite("novelty", "sizes", (*EIGHT, *TEN_MORE), NOVEL),
        Suite("timing", "timing", (UNIFORM,), n_splits=1, protocol=TimingJob()),
        Suite(
            "quick",
            "sizes",
            ("breast_cancer", "wine", "synthetic_redundant"),
            tuple(Contender(name) for name in ("ilfs", "fisher", "mi", "ls", RANDOM)),
            n_splits=5,
            protocol=Protocol(sizes=(2, 5, 10)),
        ),
    )
}


def suite_of(name: str) -> Suite:
    """A suite by its name or by the path of its TOML file."""
    if name in SUITES:
        return SUITES[name]
    if not name.endswith(".toml"):
        raise ValueError(f"suite must be {', '.join(SUITES)} or the path of a .toml file, got {name!r}")
    return read_suite(name)


def read_suite(path: str) -> Suite:
    """A suite from a TOML file.

    The file has ``datasets`` (names, paths from the folder of the file, or tables with ``path``, ``target``, ``drop``,
    ``groups`` and ``folds``) and may have ``name``, ``experiment``, ``methods`` (names, or tables with ``name``,
    ``selector`` and ``parameters``), ``splits``, and the fields of `Protocol`: ``sizes``, ``test_share``, ``Cs``,
    ``n_folds``, ``seed``, ``classifiers`` (names, or tables with ``name``, ``classifier``, ``parameters`` and
    ``standardise``).

    Parameters
    ----------
    path : str
        Of the file.

    Returns
    -------
    Suite
        To be given to `run`. Modules of selectors that are not methods of this library are imported, from the folder of
        the file too: do not read a file of somebody you do not trust.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except (ValueError, OSError) as error:  # ValueError: no TOML, no UTF-8, or a number of thousands of digits
        raise ValueError(f"suite {path} cannot be read: {error}") from None
    except RecursionError:
        raise ValueError(f"suite {path} cannot be read: {TOO_DEEP}") from None
    if is_deeper(content, MAX_NESTING):
        raise ValueError(f"suite {path} cannot be read: {TOO_DEEP}")
    own = {"name", "experiment", "datasets", "methods", "splits"}
    of_protocol = {one.name for one in fields(Protocol)}
    if unknown := sorted(set(content) - own - of_protocol):
        raise ValueError(f"suite {path} has {unknown[0]!r}, which is none of {', '.join(sorted(own | of_protocol))}")
    if "datasets" not in content:
        raise ValueError(f"suite {path} must say its datasets")
    check_types(content, path)
    protocol: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in content.items()
        if name in of_protocol
    }
    folder = str(Path(path).resolve().parent)
    with importable_from(folder):
        made = Protocol(**protocol)
    return Suite(
        name=content.get("name", Path(path).stem),
        experiment=content.get("experiment", "sizes"),
        datasets=datasets_of(content["datasets"], path),
        contenders=tuple(contenders_of(content.get("methods", list(METHODS)), path, folder)),
        n_splits=content.get("splits", 20),
        protocol=made,
        folder=folder,
    )


def is_deeper(content: Any, limit: int) -> bool:
    """Check if lists and tables are nested more deeply than the limit."""
    level = [content]
    for _ in range(limit):
        level = [
            one
            for value in level
            if isinstance(value, list | Mapping)
            for one in (value.values() if isinstance(value, Mapping) else value)
        ]
    return any(isinstance(value, list | Mapping) for value in level)


def datasets_of(datasets: Any, path: str) -> tuple[str, ...]:
    """From names, paths and tables."""
    if not isinstance(datasets, list):
        raise ValueError(f"datasets of suite {path} must be a list, got {datasets!r}")
    return tuple(dataset_of(one, path) for one in datasets)


def dataset_of(one: Any, path: str) -> str:
    """The name that `ilfs.datasets.load` takes."""
    entries = {"path": one} if isinstance(one, str) else one
    column = (str, int)
    known = {"path": (str,), "target": column, "drop": (*column, list), "groups": column, "folds": column}
    if not isinstance(entries, dict) or "path" not in entries or not set(entries) <= set(known):
        raise ValueError(
            f"a data set of suite {path} must be a name, a path, or a table with path, target, drop, groups and folds, "
            f"got {one!r}"
        )
    drop = columns_of(entries.get("drop", ()))
    checked = [(key, entries[key]) for key in known if key in entries and key != "drop"]
    checked += [("drop", name) for name in drop]
    for key, value in checked:
        if type(value) not in known[key]:
            raise ValueError(
                f"{key} of a data set of suite {path} must be text{' or a position' * (key != 'path')}, got {value!r}"
            )
    target, groups, folds = (entries.get(key) for key in ("target", "groups", "folds"))
    return spelled(from_folder(entries["path"], Path(path).parent), target, drop, groups, folds)


def from_folder(name: str, folder: Path) -> str:
    """A path is meant from the folder of the suite; other names stay."""
    if name in REGISTRY:
        return name
    file, query, columns = name.partition("?")
    is_path = file.lower().endswith(ENDINGS) or (folder / name).exists()
    return f"{folder / file}{query}{columns}" if is_path else name


def check_types(content: Mapping[str, Any], path: str) -> None:
    """Refuse a word where a list belongs, and the like."""
    for name in ("methods", "sizes", "Cs", "classifiers"):
        if not isinstance(content.get(name, []), list):
            raise ValueError(f"{name} of suite {path} must be a list, got {content[name]!r}")
    for name in ("name", "experiment"):
        if not isinstance(content.get(name, ""), str):
            raise ValueError(f"{name} of suite {path} must be a word, got {content[name]!r}")
    if wrong := [one for one in content.get("methods", []) if not isinstance(one, str | Mapping)]:
        raise ValueError(f"methods of suite {path} must be names or tables, got {wrong[0]!r}")
    if content.get("experiment") == "timing":
        raise ValueError(
            f"suite {path} must be of experiment 'sizes' or 'classes': the suite timing has its own options"
        )


def contenders_of(methods: Iterable[str | Mapping[str, Any]], path: str, folder: str) -> list[Contender]:
    """From names and tables."""
    made = []
    for one in methods:
        entries = {"name": one} if isinstance(one, str) else dict(one)
        if "name" not in entries or not set(entries) <= {"name", "selector", "parameters"}:
            raise ValueError(
                f"a method of suite {path} must have a name and may have a selector and parameters, got {entries!r}"
            )
        contender = Contender(**entries, folder=folder)
        contender.describe()
        made.append(contender)
    return made
