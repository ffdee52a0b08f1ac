"""The key of a job covers the code of its method and of the evaluation, and no other code of this library."""

import hashlib
import shutil
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest

import ilfs
from ilfs import METHODS, FisherScore, MutualInformation, Novelty
from ilfs.benchmark import BenchmarkMethod
from ilfs.benchmark.baselines import MRMR, ExtraTrees, FastCan
from ilfs.benchmark.provenance import describe
from ilfs.benchmark.provenance.describe import DATASETS, EVALUATION, IGNORED_MODULES, provenance_of
from ilfs.benchmark.provenance.source_code import dependencies, find_file

SOURCES = Path(ilfs.__file__).parent


class Copy:
    """A copy of the library whose files can be changed, and the provenance of selectors computed from it."""

    def __init__(self, folder):
        self.root = folder / "ilfs"
        shutil.copytree(SOURCES, self.root, ignore=shutil.ignore_patterns("__pycache__", "*.csv"))

    def find(self, name):
        if name.partition(".")[0] != "ilfs":
            return find_file(name)
        path = self.root.joinpath(*name.split(".")[1:])
        files = (path / "__init__.py", path.with_suffix(".py"))
        return next((one for one in files if one.is_file()), None)

    def of(self, selector):
        return provenance_of(selector, find=self.find)

    def append(self, file, text):
        path = self.root / file
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


CODE = "\n\nADDED = 1\n"


def test_the_copy_is_the_library(copy):
    assert copy.of(FisherScore()) == provenance_of(FisherScore())


def test_a_change_of_a_method_changes_its_own_hash_only(copy):
    before = [copy.of(one) for one in (FisherScore(), MutualInformation(), SelectKBest(), None)]
    copy.append("methods/fisher.py", CODE)
    after = [copy.of(one) for one in (FisherScore(), MutualInformation(), SelectKBest(), None)]
    assert after[0]["method"] != before[0]["method"]
    assert after[0]["evaluation"] == before[0]["evaluation"]
    assert after[1:] == before[1:]


def test_comments_docstrings_and_layout_do_not_count(copy):
    before = copy.of(FisherScore())
    path = copy.root / "methods" / "fisher.py"
    text = path.read_text(encoding="utf-8")
    assert '"""' in text
    path.write_text(text.replace('"""', '"""Another word. ', 1).replace("\n\n\n", "\n\n\n# why\n\n"), encoding="utf-8")
    assert copy.of(FisherScore()) == before


def test_a_module_that_is_imported_in_a_function_counts(copy):
    inside = [line for line in (SOURCES / "statistics" / "moments.py").read_text().splitlines() if "kernels" in line]
    assert any(line.startswith("    ") for line in inside)  # otherwise this test proves nothing
    before = copy.of(FisherScore())
    copy.append("kernels/moments.py", CODE)
    assert copy.of(FisherScore())["method"] != before["method"]


def test_the_base_class_counts_and_the_method_inside_another(copy):
    fisher, wrapped, other = FisherScore(), Novelty(FisherScore()), Novelty(MutualInformation())
    before = [copy.of(one)["method"] for one in (fisher, wrapped, other)]
    copy.append("methods/fisher.py", CODE)
    middle = [copy.of(one)["method"] for one in (fisher, wrapped, other)]
    assert [a == b for a, b in zip(before, middle, strict=True)] == [False, False, True]
    copy.append("selector/ranking.py", CODE)
    assert all(a != copy.of(one)["method"] for a, one in zip(middle, (fisher, wrapped, other), strict=True))


def test_code_of_the_evaluation_counts_for_all_methods(copy):
    before = [copy.of(one) for one in (FisherScore(), SelectKBest(), None)]
    copy.append("benchmark/evaluation/metrics.py", CODE)
    after = [copy.of(one) for one in (FisherScore(), SelectKBest(), None)]
    assert all(a["evaluation"] != b["evaluation"] for a, b in zip(after, before, strict=True))
    assert all(a["method"] == b["method"] for a, b in zip(after, before, strict=True))


WITHOUT_EFFECT = [
    "methods/__init__.py",
    "methods/ilfs.py",
    "redundancy.py",
    "statistics/products.py",
    "effects.py",
    "explanation.py",
    "selector/description.py",
    "summaries/summary.py",
    "parameters.py",
    "report/benchmark/tables.py",
    "cli/bench/table.py",
    "benchmark/store/store.py",
]


def test_code_that_does_not_change_results_does_not_count(copy):
    selectors = (FisherScore(), SelectKBest(), ExtraTrees())
    before = [copy.of(one) for one in selectors]
    for file in WITHOUT_EFFECT:
        copy.append(file, CODE)
    assert [copy.of(one) for one in selectors] == before


def test_the_evaluation_depends_on_no_method_and_the_protocol_is_in_it():
    files = set(dependencies([EVALUATION], ignored=(*IGNORED_MODULES, DATASETS)).files)
    assert {"ilfs.benchmark.evaluation.protocol", "ilfs.benchmark.evaluation.metrics", "ilfs.fitted"} <= files
    assert not [name for name in files if name.startswith(("ilfs.methods", "ilfs.selector", "ilfs.kernels"))]


def test_what_decides_the_order_of_ilfs_is_not_ignored():
    files = dependencies(["ilfs.methods.ilfs"], ignored=IGNORED_MODULES).files
    assert {"ilfs.candidates", "ilfs.rare_events", "ilfs.statistics.profile", "ilfs.kernels.gains"} <= set(files)


def test_a_baseline_depends_on_no_method_but_fishers_score():
    files = dependencies([ExtraTrees.__module__]).files
    assert [name for name in files if name.startswith("ilfs.methods")] == ["ilfs.methods.fisher"]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_depends_on_itself_and_on_no_other_but_those_it_names(name):
    own = METHODS[name].__module__
    files = dependencies([own]).files
    assert {own, "ilfs.selector.ranking"} <= set(files)
    others = [file for file in files if file.startswith("ilfs.methods") and file != own]
    assert all(f"from {file} import" in files[own].read_text() for file in others)


def written(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_a_class_of_the_user_counts_with_all_that_it_imports(tmp_path, monkeypatch):
    (tmp_path / "own_package").mkdir()
    written(tmp_path / "own_package", __init__="", base="from . import sums\nclass Base: ...\n", sums="ONE = 1\n")
    written(
        tmp_path,
        own_selector="from sklearn.base import BaseEstimator\nfrom own_package.base import Base\n"
        "class Own(Base, BaseEstimator):\n    def fit(self, X, y):\n        import own_late\n"
        "        from importlib import import_module\n        import_module('own_later')\n",
        own_late="LATE = 1\n",
        own_later="LATER = 1\n",
    )
    monkeypatch.syspath_prepend(tmp_path)
    own = BenchmarkMethod("own", "own_selector.Own")
    seen = {own.provenance()["method"]}
    for name in (
        "own_selector",
        "own_late",
        "own_later",
        "own_package/base",
        "own_package/sums",
        "own_package/__init__",
    ):
        path = tmp_path / f"{name}.py"
        path.write_text(path.read_text() + "# a comment\n")
        assert own.provenance()["method"] in seen, name
        path.write_text(path.read_text() + "MORE = 2\n")
        assert own.provenance()["method"] not in seen, name
        seen.add(own.provenance()["method"])


def test_a_function_among_the_parameters_counts(tmp_path, monkeypatch):
    written(tmp_path, own_scores="def score(X, y):\n    return X[0]\n")
    monkeypatch.syspath_prepend(tmp_path)
    anova = BenchmarkMethod("a", "sklearn.feature_selection.SelectKBest", {"score_func": "import:own_scores.score"})
    before = anova.provenance()
    written(tmp_path, own_scores="def score(X, y):\n    return -X[0]\n")
    assert anova.provenance()["method"] != before["method"]
    assert anova.provenance()["evaluation"] == before["evaluation"]


def test_a_classifier_counts_as_part_of_the_evaluation(tmp_path, monkeypatch):
    text = "from sklearn.base import BaseEstimator\nimport fastcan\nclass Own(BaseEstimator): ...\n"
    written(tmp_path, own_classifier=text.replace("import fastcan", "def late(): import fastcan"))
    monkeypatch.syspath_prepend(tmp_path)
    from own_classifier import Own

    plain, before = provenance_of(FisherScore()), provenance_of(FisherScore(), [Own()])
    assert before["evaluation"] != plain["evaluation"]
    assert before["method"] == plain["method"]
    assert set(before["packages"]) - set(plain["packages"]) == {"fastcan"}
    written(tmp_path, own_classifier=text + "MORE = 1\n")
    assert provenance_of(FisherScore(), [Own()])["evaluation"] != before["evaluation"]


def test_packages_of_others_count_by_their_versions(monkeypatch):
    monkeypatch.setattr(describe, "imported_version", lambda name: f"{name} 9")
    assert provenance_of(FastCan())["packages"]["fastcan"] == "fastcan 9"
    assert {"mrmrs", "polars"} < set(provenance_of(MRMR())["packages"])
    assert set(provenance_of(ExtraTrees())["packages"]) == set(describe.VERSIONED_PACKAGES)
    assert set(provenance_of(FisherScore())["packages"]) == set(describe.VERSIONED_PACKAGES)


def test_a_package_that_is_not_installed_has_no_version(tmp_path, monkeypatch):
    written(
        tmp_path,
        own_needy="from sklearn.base import BaseEstimator\nclass Needy(BaseEstimator):\n"
        "    def fit(self, X, y):\n        import nowhere_to_be_found\n",
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert BenchmarkMethod("own", "own_needy.Needy").provenance()["packages"]["nowhere_to_be_found"] is None


def test_a_class_that_was_typed_in_is_refused():
    class Typed(BaseEstimator): ...

    Typed.__module__ = "__main__"
    with pytest.raises(ValueError, match=r"Typed must be in a file, so that changes to it are noticed; got one that"):
        provenance_of(Typed())


def test_a_file_that_python_cannot_parse_counts_by_its_bytes(tmp_path):
    deep, broken = tmp_path / "deep.py", tmp_path / "broken.py"
    deep.write_text("x = " + " + ".join(["1"] * 5000))
    broken.write_text("x = (")
    files = {"deep": deep, "broken": broken}
    found = dependencies(files, find=files.get)
    lines = [f"{name} {hashlib.sha256(files[name].read_bytes()).hexdigest()}\n" for name in ("broken", "deep")]
    assert found.digest() == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_a_file_that_python_warns_of_is_parsed_in_silence(tmp_path):
    odd = tmp_path / "odd.py"
    odd.write_text('x = "\\d"\n')  # an invalid escape sequence; warnings are errors in these tests
    before = dependencies(["odd"], find={"odd": odd}.get).digest()
    odd.write_text('x = "\\d"  # with a comment\n')
    assert dependencies(["odd"], find={"odd": odd}.get).digest() == before
