"""Selectors that are imported from the folder of a suite file."""

import sys

import pytest

from ilfs.benchmark import BenchmarkMethod, Store, read_suite, run
from ilfs.importing import import_object

SELECTOR = """
from sklearn.base import BaseEstimator

class Own(BaseEstimator):
    def fit(self, X, y):
        import {helper}
        self.scores_ = {helper}.scores(X)
        return self
"""


def suite_beside(folder, module, selector="Own"):
    path = folder / "mine.toml"
    path.write_text(
        f'datasets = ["iris"]\nsplits = 1\nsizes = [1]\nCs = [1.0]\n'
        f'[[methods]]\nname = "own"\nselector = "{module}.{selector}"\n'
    )
    return str(path)


def test_a_selector_beside_the_suite_is_found_by_workers_too(tmp_path):
    (tmp_path / "beside_one.py").write_text(SELECTOR.format(helper="beside_one_helper"))
    (tmp_path / "beside_one_helper.py").write_text("def scores(X):\n    return X.std(axis=0)\n")
    before = list(sys.path)
    suite = read_suite(suite_beside(tmp_path, "beside_one"))
    with Store(tmp_path / "s.sqlite") as store:
        assert run(suite, store, n_jobs=1).failed == 0
        (row,) = store.rows()
    assert row.order == [2]
    assert sys.path == before


def test_methods_of_the_command_line_are_found_beside_the_suite(tmp_path):
    (tmp_path / "beside_two.py").write_text(SELECTOR.format(helper="nothing"))
    suite = read_suite(suite_beside(tmp_path, "beside_two"))
    assert suite.only(methods=["beside_two.Own"]).methods[0].make() is not None


def test_an_error_about_a_missing_module_lists_the_searched_places(tmp_path):
    message = (
        rf"^method 'no_such_module.Own' is none of ilfs, .*, and cannot be imported: there is no module no_such_module "
        rf"in the folder {tmp_path}, among the installed packages and in PYTHONPATH$"
    )
    with pytest.raises(ValueError, match=message):
        read_suite(suite_beside(tmp_path, "no_such_module"))


def test_an_error_about_a_missing_class_names_the_file_of_its_module(tmp_path):
    (tmp_path / "beside_three.py").write_text("")
    with pytest.raises(ValueError, match=r"cannot be imported: .*beside_three.py has no 'Own'$"):
        read_suite(suite_beside(tmp_path, "beside_three"))


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("exits", "import sys\nsys.exit('bye')", "SystemExit: bye"),
        ("lines", "raise RuntimeError('one\\ntwo')", "RuntimeError: one two"),
        ("syntax", "x = (", r"SyntaxError: '\(' was never closed .*"),
        ("needs", "import nothing_like_that", "ModuleNotFoundError: No module named 'nothing_like_that'"),
        ("mute", "class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "E: its message cannot be formatted"),
    ],
)
def test_any_failure_of_an_import_is_reported_in_one_sentence(tmp_path, name, text, why):
    module = f"beside_{name}"
    (tmp_path / f"{module}.py").write_text(text)
    message = rf"^method '{module}.Own' cannot be imported: module {module} failed: {why}$"
    with pytest.raises(ValueError, match=message):
        read_suite(suite_beside(tmp_path, module))


@pytest.mark.parametrize("name", ["call", "Plain", "Fitless", "thing"])
def test_an_object_that_is_no_selector_is_refused_without_being_called(tmp_path, name):
    module = f"beside_bombs_{name}"
    (tmp_path / f"{module}.py").write_text(
        "from sklearn.base import BaseEstimator\n"
        "def call(*_, **__): raise SystemExit('called')\n"
        "class Plain:\n    def __init__(self): call()\n"
        "class Fitless(BaseEstimator):\n    def __init__(self): call()\n"
        "class Thing:\n    __call__ = call\n"
        "thing = Thing()\n"
    )
    with pytest.raises(
        ValueError,
        match=rf"^method 'own' must be a subclass of sklearn.base.BaseEstimator with fit, got {module}.{name}$",
    ):
        read_suite(suite_beside(tmp_path, module, name))


def test_a_class_that_cannot_be_made_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "beside_four.py").write_text(
        "from sklearn.base import BaseEstimator\n"
        "class Own(BaseEstimator):\n    def __init__(self): raise SystemExit('no\\nway')\n    fit = None\n"
    )
    with pytest.raises(ValueError, match=r"^method 'own' cannot be made: SystemExit: no way$"):
        read_suite(suite_beside(tmp_path, "beside_four"))


def test_two_modules_of_one_name_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "beside_twice.py").write_text(SELECTOR.format(helper="nothing"))
    read_suite(suite_beside(tmp_path / "a", "beside_twice"))
    with pytest.raises(
        ValueError, match=r"module beside_twice of .*b has the name of .*a/beside_twice.py, which is im"
    ):
        read_suite(suite_beside(tmp_path / "b", "beside_twice"))
    read_suite(suite_beside(tmp_path / "a", "beside_twice"))


def test_an_installed_module_comes_before_one_beside_the_suite(tmp_path):
    (tmp_path / "sklearn.py").write_text("raise SystemExit")
    assert import_object("sklearn.__name__", str(tmp_path)) == "sklearn"
    with pytest.raises(LookupError, match="'Own' is not a path like"):
        import_object("Own")
    assert BenchmarkMethod("own", "sklearn.feature_selection.SelectKBest", folder=str(tmp_path)).make() is not None
