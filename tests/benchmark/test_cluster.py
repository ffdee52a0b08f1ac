"""Jobs on a Dask cluster: a real scheduler and a real worker, on this computer."""

import pytest

from ilfs.benchmark import BenchmarkMethod, Protocol, Store, Suite, run
from ilfs.benchmark.store.results import Results
from ilfs.report.benchmark.tables import quality_grid

SUITE = Suite(
    "cluster",
    "sizes",
    ("iris",),
    (BenchmarkMethod("fisher"), BenchmarkMethod("mi")),
    1,
    Protocol(sizes=(1, 2), Cs=(0.1,)),
)


@pytest.fixture
def address():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, host="127.0.0.1", protocol="tcp://"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.filterwarnings("ignore")  # of the cluster's own, about ports and shutting down
def test_a_cluster_gives_the_same_metrics_and_keeps_limits(address, tmp_path):
    tables = []
    for name, options in (("here", {"n_jobs": 1}), ("there", {"scheduler": address})):
        with Store(tmp_path / f"{name}.sqlite") as store:
            summary = run(SUITE, store, **options)
            assert (summary.computed, summary.failed) == (2, 0)
            tables.append(quality_grid(Results.from_store(SUITE, store)).render("csv"))
    assert tables[0] == tables[1]
    slow = Suite("slow", "sizes", ("iris",), (BenchmarkMethod("sleeper", "sleeper.Sleeper"),), 1, Protocol(sizes=(2,)))
    with Store(tmp_path / "slow.sqlite") as store:
        run(slow, store, scheduler=address, time_limit=1.0)
        (row,) = store.rows()
    assert row.reason == "took longer than the limit of 1 s"


@pytest.mark.filterwarnings("ignore")
def test_a_missing_scheduler_is_an_error_with_its_address(tmp_path, monkeypatch):
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(ValueError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
            run(SUITE, store, scheduler="tcp://127.0.0.1:9")
        assert store.claim(SUITE.jobs()[0].key)


@pytest.mark.filterwarnings("ignore")
def test_a_lost_scheduler_is_an_error_with_its_address(address, tmp_path, monkeypatch):
    import distributed
    from distributed.client import FuturesCancelledError

    def gone(*_, **__):
        raise FuturesCancelledError([])

    monkeypatch.setattr(distributed, "wait", gone)
    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(ConnectionError, match=r"the Dask scheduler at tcp://.* is gone; finished jobs are stored"):
            run(SUITE, store, scheduler=address)
        assert store.claim(SUITE.jobs()[0].key)
