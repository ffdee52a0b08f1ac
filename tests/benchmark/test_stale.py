"""A run never uses results of other code as results of the present code."""

import sys
from dataclasses import replace

import pytest
from sklearn.base import BaseEstimator

from ilfs.benchmark import SUITES, BenchmarkMethod, Protocol, Results, Store, Suite, read_suite, run
from ilfs.benchmark.jobs.compute import compute_job
from ilfs.benchmark.jobs.pool import Answer
from ilfs.benchmark.suites.last_run import describe_run, read_run, suite_as_data
from ilfs.report.benchmark import tables_of

SELECTOR = """
from sklearn.base import BaseEstimator

class Own(BaseEstimator):
    def fit(self, X, y):
        self.scores_ = {scores}
        return self
"""


class Outer:
    class Inner(BaseEstimator):
        """A class that cannot be imported by path."""


def in_this_process(function, items, n_processes, **_):
    """Compute the answers in this process, which is faster than starting workers."""
    for item in items:
        try:
            yield Answer(item, function(item))
        except Exception as error:
            yield Answer(item, reason=str(error))


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(sys.modules[run.__module__], "compute_all", in_this_process)


@pytest.fixture
def own(tmp_path, request):
    """A suite with a user's selector and another method, and the file of the selector."""
    module = f"stale_{request.node.name}"
    file = tmp_path / f"{module}.py"
    file.write_text(SELECTOR.format(scores="X.std(axis=0)"))
    path = tmp_path / "mine.toml"
    path.write_text(
        'datasets = ["iris"]\nsplits = 2\nsizes = [1]\nCs = [1.0]\n'
        f'[[methods]]\nname = "own"\nselector = "{module}.Own"\n[[methods]]\nname = "random"\n'
    )
    yield read_suite(str(path)), file
    sys.modules.pop(module, None)


def changed(file, scores):
    file.write_text(SELECTOR.format(scores=scores))
    sys.modules.pop(file.stem)  # as a new process would have it


def test_a_changed_selector_is_computed_anew_and_the_others_are_not(own, tmp_path):
    suite, file = own
    with Store(tmp_path / "s.sqlite") as store:
        assert run(suite, store).computed == 4
        assert run(suite, store).computed == 0
        before = Results.from_store(suite, store)
        assert [row.order for row in before.rows[0, 0]] == [[2], [2]]
        file.write_text(file.read_text() + "# a comment\n")
        assert run(suite, store).computed == 0

        changed(file, "-X.std(axis=0)")
        stale = Results.from_store(suite, store)
        assert (stale.n_missing, stale.n_other_code) == (2, 2)
        assert stale.rows[0, 0].tolist() == [None, None]
        assert (
            "Left out 2 rows computed with other code or versions: --any-code shows them, "
            "ilfs bench run computes them again."
        ) in tables_of(stale)[0].notes
        anyway = Results.from_store(suite, store, any_code=True)
        assert (anyway.n_missing, anyway.n_other_code) == (0, 2)
        assert [row.order for row in anyway.rows[0, 0]] == [[2], [2]]
        assert "2 rows computed with other code" in " ".join(tables_of(anyway)[0].notes)

        summary = run(suite, store)
        assert (summary.computed, summary.found) == (2, 2)
        after = Results.from_store(suite, store)
        assert (after.n_missing, after.n_other_code) == (0, 0)
        assert [row.order for row in after.rows[0, 0]] == [[1], [1]]
        assert len(store.statuses()) == 6  # the old ones are still there
        changed(file, "X.std(axis=0)")
        assert run(suite, store).computed == 0


def test_code_that_changes_during_a_run_is_refused(own):
    suite, file = own
    job = suite.jobs()[0]
    assert compute_job(job).order == [2]
    changed(file, "-X.std(axis=0)")
    with pytest.raises(
        RuntimeError, match=r"^the method of method 'own' changed since the run began: start the run aga"
    ):
        compute_job(job)
    assert compute_job(suite.jobs()[0]).order == [1]


def test_other_versions_or_other_values_read_from_the_data_change_the_key(own, monkeypatch):
    suite, _ = own
    job = suite.jobs()[0]
    monkeypatch.setattr("ilfs.benchmark.provenance.describe.installed_version", lambda name: f"{name} 99")
    other = suite.jobs()[0]
    assert (other.identity, other.key != job.key) == (job.identity, True)
    monkeypatch.undo()
    assert suite.jobs()[0].key == job.key
    monkeypatch.setattr(
        "ilfs.benchmark.suites.dataset_facts.content_checksum", lambda table: "as a new reader reads it"
    )
    other = suite.jobs()[0]
    assert (other.identity, other.key != job.key) == (job.identity, True)


def test_recompute_computes_all_jobs_of_the_chosen_methods_again(own, tmp_path):
    suite, _ = own
    with Store(tmp_path / "s.sqlite") as store:
        run(suite, store)
        before = {row.key: row for row in store.rows()}
        some = suite.only(methods=["own"])
        assert run(some, store, recompute=True).computed == 2
        times = dict(store._connection.execute("SELECT method, min(finished) FROM jobs GROUP BY method"))
        assert times["own"] > times["random"]
        after = {row.key: row for row in store.rows()}
        assert {key: row.order for key, row in after.items()} == {key: row.order for key, row in before.items()}


def test_a_recomputation_that_is_stopped_keeps_the_old_rows_and_a_plain_run_goes_on(own, tmp_path):
    suite, _ = own

    def stop(step):
        raise KeyboardInterrupt

    with Store(tmp_path / "s.sqlite") as store:
        run(suite, store)
        with pytest.raises(KeyboardInterrupt):
            run(suite, store, recompute=True, on_step=stop)
        assert Results.from_store(suite, store).n_missing == 0
        assert run(suite, store).computed == 3
        assert run(suite, store).computed == 0


def test_a_run_that_cannot_begin_leaves_no_file(own, tmp_path, monkeypatch):
    suite, _ = own

    def no_process(*_, **__):
        raise ChildProcessError("a process could not be started")
        yield

    monkeypatch.setattr(sys.modules[run.__module__], "compute_all", no_process)
    with pytest.raises(ChildProcessError):
        run(suite, tmp_path / "s.sqlite")
    assert not (tmp_path / "s.sqlite").exists()


def test_a_new_field_of_the_protocol_with_its_old_value_keeps_the_identity():
    from dataclasses import dataclass, field

    from ilfs.benchmark import Job

    @dataclass(frozen=True)
    class Later(Protocol):
        classifier: str = field(default="forest", metadata={"before": "svm"})

    jobs = [
        Job("sizes", "wine", "", BenchmarkMethod("fisher"), 0, one)
        for one in (Protocol(), Later(classifier="svm"), Later())
    ]
    assert jobs[0].identity == jobs[1].identity != jobs[2].identity


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_can_be_restored_from_plain_data(name):
    suite = SUITES[name]
    data = describe_run(suite, suite)
    assert read_run(data).suite == suite
    assert data["asked"] == suite_as_data(suite)


def test_a_selector_that_was_given_itself_is_remembered_by_its_description(tmp_path):
    from sklearn.feature_selection import SelectFromModel, SelectKBest
    from sklearn.linear_model import LogisticRegression

    given = (
        BenchmarkMethod("anova", SelectKBest(k=3)),
        BenchmarkMethod("logistic", SelectFromModel(LogisticRegression(C=2.0))),
        BenchmarkMethod("odd", SelectFromModel(LogisticRegression(class_weight={0: 2.0}))),
    )
    suite = Suite("s", "sizes", ("wine",), given[:2], 1)
    again = read_run(describe_run(suite, suite)).suite
    assert [one.describe() for one in again.methods] == [one.describe() for one in given[:2]]
    nested = BenchmarkMethod("nested", Outer.Inner())
    assert [one["is_complete"] for one in suite_as_data(replace(suite, methods=(nested,)))["methods"]] == [False]
    odd = replace(suite, methods=given)
    with pytest.raises(
        ValueError, match="the last run had method 'odd' with parameters that only Python code can give"
    ):
        read_run(describe_run(odd, odd))


@pytest.mark.parametrize(
    "data", [{}, {"suite": 3, "asked": {}, "settings": {}}, {"suite": {}, "asked": 1, "settings": []}]
)
def test_data_that_do_not_describe_a_run_are_an_error(data):
    with pytest.raises(ValueError, match="this version of ilfs cannot read the description of the last run"):
        read_run(data)
