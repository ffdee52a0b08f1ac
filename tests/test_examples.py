"""The examples and the benchmark scripts run."""

import runpy
from pathlib import Path

import pytest
from platforms import needs_repository

ROOT = Path(__file__).parent.parent


def test_the_comparison_lists_all_methods(capsys):
    from ilfs import METHODS

    runpy.run_path(str(ROOT / "examples" / "compare_methods.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1 : len(METHODS) + 1]] == list(METHODS)


@needs_repository
@pytest.mark.filterwarnings("ignore:the topic relevancy has lost")
def test_the_plain_numpy_version_of_the_paper_finds_the_same_features_as_ilfs_paper(monkeypatch):
    from ilfs import ILFS

    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    speed = runpy.run_path(str(ROOT / "benchmarks" / "speed.py"))
    X, y = speed["job"](rows=200, columns=8)
    X[y == 1, :3] += 400
    assert sorted(speed["as_written"](X, y).argsort()[-3:]) == sorted(ILFS.paper(max_iter=50).fit(X, y).order_[:3])
