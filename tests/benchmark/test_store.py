"""The file of results: atomic rows, claims, older formats, damaged and foreign files."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from platforms import needs_posix

from ilfs.benchmark import BenchmarkMethod, Outcome, Protocol, Store, Suite
from ilfs.benchmark.evaluation.job import digest
from ilfs.benchmark.store.store import HEARTBEAT_TIMEOUT_SECONDS

DESCRIPTION = {"experiment": "sizes", "dataset": "toy", "method": "ilfs", "split": 0}
OUTCOME = Outcome([(10, "ap_macro", -1, 0.5), (10, "ap", 0, float("nan"))], [3, 1, 2], 0.25, 0.5)


FORMAT_1 = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, experiment TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL,
    split INTEGER NOT NULL, description TEXT NOT NULL, versions TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')), reason TEXT NOT NULL, seconds REAL, seconds_judged REAL,
    peak_megabytes REAL, host TEXT NOT NULL, finished REAL NOT NULL, columns TEXT NOT NULL
);
CREATE INDEX by_identity ON cells (identity);
CREATE TABLE figures (
    key TEXT NOT NULL REFERENCES cells (key) ON DELETE CASCADE, size INTEGER NOT NULL, metric TEXT NOT NULL,
    class INTEGER NOT NULL, value REAL, PRIMARY KEY (key, size, metric, class)
) WITHOUT ROWID;
CREATE TABLE claims (key TEXT PRIMARY KEY, host TEXT NOT NULL, process INTEGER NOT NULL, heard REAL NOT NULL);
INSERT INTO about VALUES ('format', '1');
INSERT INTO cells
VALUES ('k', 'i', 'sizes', 'toy', 'ilfs', 0, '{}', '{}', 'done', '', 0.25, 0.5, 12.0, '{}', 1, '[3, 1]');
INSERT INTO figures VALUES ('k', 10, 'ap_macro', -1, 0.5);
"""


FORMAT_2 = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, experiment TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL,
    split INTEGER NOT NULL, description TEXT NOT NULL, versions TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')), reason TEXT NOT NULL, seconds REAL, seconds_judged REAL,
    peak_megabytes REAL, host TEXT NOT NULL, finished REAL NOT NULL, columns TEXT NOT NULL,
    provenance TEXT NOT NULL DEFAULT '{}', recompute INTEGER NOT NULL DEFAULT 0, checksum TEXT NOT NULL DEFAULT ''
);
CREATE INDEX by_identity ON cells (identity);
CREATE TABLE figures (
    key TEXT NOT NULL REFERENCES cells (key) ON DELETE CASCADE, size INTEGER NOT NULL, metric TEXT NOT NULL,
    class INTEGER NOT NULL, value REAL, classifier TEXT NOT NULL, PRIMARY KEY (key, classifier, size, metric, class)
) WITHOUT ROWID;
CREATE TABLE claims (key TEXT PRIMARY KEY, host TEXT NOT NULL, process INTEGER NOT NULL, heard REAL NOT NULL);
INSERT INTO about VALUES ('format', '2');
INSERT INTO about VALUES ('last_run', '{"asked": {"protocol": {"test_share": 0.25}}}');
INSERT INTO cells VALUES ('k', 'i', 'sizes', 'toy', 'ilfs', 0, '{}', '{}', 'done', '', 0.25, 0.5, 12.0, '{}', 1,
    '[3, 1]', '{"method": "abc"}', 0, '');
INSERT INTO cells VALUES ('l', 'j', 'sizes', 'toy', 'mi', 0, '{}', '{}', 'failed', 'slow', NULL, NULL, NULL, '{}', 2,
    '[]', '{}', 1, '');
INSERT INTO figures VALUES ('k', 10, 'ap_macro', -1, 0.5, 'linear_svm');
INSERT INTO figures VALUES ('k', 10, 'ap_macro', -1, 0.75, 'knn');
INSERT INTO claims VALUES ('l', 'elsewhere', 1, 0);
"""


def made(path):
    with Store(path) as store:
        store.give_back()


def sql(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


@pytest.fixture
def store(tmp_path):
    made(tmp_path / "results.sqlite")
    with Store(tmp_path / "results.sqlite") as store:
        yield store


def old_store(path, statements):
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()
    return path


@pytest.fixture
def of_format_1(tmp_path):
    return old_store(tmp_path / "old.sqlite", FORMAT_1)


@pytest.fixture
def of_format_2(tmp_path):
    return old_store(tmp_path / "old.sqlite", FORMAT_2)


def test_a_row_comes_back_as_it_was_written(store):
    store.write("k", "i", DESCRIPTION, OUTCOME, peak_megabytes=12.0)
    (row,) = store.rows()
    assert (row.key, row.identity, row.dataset, row.method, row.split) == ("k", "i", "toy", "ilfs", 0)
    assert row.is_done
    assert row.order == [3, 1, 2]
    assert (row.seconds, row.seconds_evaluated, row.peak_megabytes) == (0.25, 0.5, 12.0)
    assert store.metric_values("ap_macro") == {("k", 10, -1): 0.5}
    (missing,) = store.metric_values("ap").values()
    assert missing != missing


def test_a_successful_row_is_not_overwritten(store):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    store.write("k", "i", DESCRIPTION, None, reason="late")
    store.write("k", "i", DESCRIPTION, Outcome([(10, "ap_macro", -1, 0.9)], [], 9.0, 9.0))
    assert store.rows()[0].seconds == 0.25
    assert store.metric_values("ap_macro") == {("k", 10, -1): 0.5}


def test_a_failed_row_is_replaced_by_a_later_success(store):
    store.write("k", "i", DESCRIPTION, None, reason="too slow")
    (row,) = store.rows()
    assert (row.status, row.reason) == ("failed", "too slow")
    store.write("k", "i", DESCRIPTION, OUTCOME)
    (row,) = store.rows()
    assert row.is_done


def test_the_last_successful_row_of_a_job_counts(store):
    store.write("old", "i", DESCRIPTION, OUTCOME)
    store.write("new", "i", DESCRIPTION, None, reason="does not work any more")
    assert [row.key for row in store.rows()] == ["old"]


def test_a_job_is_claimed_once(store, tmp_path):
    assert store.claim("k")
    other = f"from ilfs.benchmark import Store; print(Store({str(store.path)!r}).claim('k'))"
    said = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"


def test_the_claim_of_a_process_that_is_gone_is_void(store):
    other = f"from ilfs.benchmark import Store; assert Store({str(store.path)!r}).claim('k')"
    subprocess.run([sys.executable, "-c", other], check=True)
    assert store.claim("k")


def test_a_claim_from_another_computer_is_valid_for_a_while(store):
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("INSERT INTO claims VALUES ('k', 'elsewhere', 1, ?)", (time.time(),))
        connection.execute(
            "INSERT INTO claims VALUES ('old', 'elsewhere', 1, ?)", (time.time() - 2 * HEARTBEAT_TIMEOUT_SECONDS,)
        )
    assert not store.claim("k")
    assert store.claim("old")


def test_heartbeats_renew_claims(store):
    assert store.claim("k")
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE claims SET heartbeat = 0")
    store.heartbeat()
    with closing(sqlite3.connect(store.path)) as connection, connection:
        ((host, process, heard),) = connection.execute("SELECT host, process, heartbeat FROM claims")
    assert (host, process) == (socket.gethostname(), os.getpid())
    assert time.time() - heard < 60


def test_finished_jobs_are_not_claimed_but_failed_ones_may_be(store):
    store.write("done", "i", DESCRIPTION, OUTCOME)
    store.write("failed", "j", DESCRIPTION, None, reason="no")
    assert not store.claim("done", again=True)
    assert not store.claim("failed")
    assert store.claim("failed", again=True)


def test_claims_given_back_are_free(store):
    assert store.claim("k")
    store.give_back()
    with closing(sqlite3.connect(store.path)) as connection, connection:
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_a_row_that_cannot_be_written_whole_is_not_written(store):
    broken = Outcome([(10, "ap_macro", -1, 0.5), (10, "ap_macro", -1, 0.6)], [], 1.0, 1.0)
    with pytest.raises(sqlite3.IntegrityError):
        store.write("k", "i", DESCRIPTION, broken)
    assert store.rows() == []
    assert store.metric_values("ap_macro") == {}


def test_other_files_are_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but my notes\n" * 100)
    with pytest.raises(ValueError, match=r"the store .*notes.txt cannot be used: file is not a database"):
        Store(text)
    assert text.read_text().startswith("not a database")
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE music (title TEXT)")
    with pytest.raises(ValueError, match="it is a database of another program"):
        Store(other)
    with pytest.raises(ValueError, match=r"the folder of the store .* does not exist"):
        Store(tmp_path / "nowhere" / "results.sqlite")


def test_a_later_format_is_refused(tmp_path):
    path = tmp_path / "results.sqlite"
    made(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE about SET value = '99'")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"it has format 99, this version of ilfs reads formats 1 to 3: update ilfs$"):
        Store(path)
    assert path.read_bytes() == before


@needs_posix
def test_reading_writes_nothing(store):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    before = store.path.read_bytes()
    with closing(sqlite3.connect(f"file:{store.path}?mode=ro", uri=True)):
        store.path.chmod(0o444)
    with Store(store.path) as again:
        again._connection.execute("PRAGMA query_only = ON")  # root could write in spite of the file mode
        assert len(again.rows()) == 1
        with pytest.raises(OSError, match=r"the store .*results.sqlite cannot be used: attempt to write a readonly"):
            again.claim("j")
    assert store.path.read_bytes() == before


def test_a_full_disk_gives_an_error_of_one_sentence_and_the_store_stays_usable(store):
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    long = Outcome([(size, "ap_macro", -1, 0.5) for size in range(5000)], list(range(9999)), 0.1, 0.1)
    with pytest.raises(OSError, match=r"the store .*results.sqlite cannot be used: database or disk is full"):
        store.write("k", "i", DESCRIPTION, long)
    assert store.rows() == []
    store._connection.execute("PRAGMA max_page_count = 100000")
    store.write("k", "i", DESCRIPTION, long)
    assert len(store.metric_values("ap_macro")) == 5000


def test_an_interrupted_transaction_does_not_block_the_next(store):
    store._connection.execute("BEGIN IMMEDIATE")  # and then came Ctrl-C
    store._connection.execute("INSERT INTO claims VALUES ('k', 'h', 1, 0)")
    store.give_back()
    assert store._connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_a_write_that_is_ended_after_the_file_was_closed_is_quiet(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        writing = store._writing()
        writing.__enter__()  # Ctrl-C here leaves the block without __exit__
    writing.gen.close()  # as the garbage collector does
    with Store(tmp_path / "s.sqlite") as store:
        assert store.statuses() == {}
        assert store.claim("k")


def test_a_damaged_file_gives_an_error_of_one_sentence(store, tmp_path):
    for k in range(50):
        store.write(f"k{k}", f"i{k}", DESCRIPTION, OUTCOME)
    whole = store.path.read_bytes()
    for name, content in (
        ("cut", whole[: len(whole) // 2]),
        ("overwritten", whole[:4096] + b"x" * (len(whole) - 4096)),
    ):
        path = tmp_path / f"{name}.sqlite"
        path.write_bytes(content)
        with (
            pytest.raises((ValueError, OSError), match=rf"the store .*{name}.sqlite cannot be used: "),
            Store(path) as bad,
        ):
            bad.rows()


def test_a_folder_or_a_file_without_a_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"the store .* cannot be used: unable to open database file"):
        Store(tmp_path)
    path = tmp_path / "results.sqlite"
    made(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM about")
    with pytest.raises(ValueError, match=r"it has no format, this version of ilfs reads formats 1 to 3$"):
        Store(path)


def test_no_file_is_made_before_something_is_written(tmp_path):
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        assert store.rows() == []
        assert store.statuses() == {}
        assert store.last_run() is None
        assert store.metric_values("ap") == {}
        store.mark_for_recompute(["k"])
        assert not path.exists()
        with Store(path) as other:
            other.write("k", "i", DESCRIPTION, OUTCOME)
        assert len(store.rows()) == 1  # the file has been created by now


def test_a_file_that_cannot_be_initialised_is_removed(tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    monkeypatch.setattr("ilfs.benchmark.store.schema.SCHEMA", "CREATE TABLE x (a); CREATE TABLE x (a)")
    with Store(path) as store, pytest.raises((OSError, sqlite3.Error)):
        store.claim("k")
    assert not list(tmp_path.iterdir())


def test_a_store_of_format_1_is_read_as_it_is(of_format_1):
    before = of_format_1.read_bytes()
    with Store(of_format_1) as store:
        (row,) = store.rows()
        assert (row.key, row.order, row.provenance) == ("k", [3, 1], "{}")
        assert store.statuses() == {"k": "done"}
        assert store.metric_values("ap_macro") == store.metric_values("ap_macro", "linear_svm") == {("k", 10, -1): 0.5}
        assert store.metric_values("ap_macro", "knn") == {}
        assert store.last_run() is None
    assert of_format_1.read_bytes() == before


def test_a_store_of_format_1_is_upgraded_when_it_is_written_to(of_format_1):
    with Store(of_format_1) as store, Store(of_format_1) as other:
        store.write("l", "j", DESCRIPTION, OUTCOME, provenance={"method": "abc"})
        assert store.metric_values("ap_macro") == {("k", 10, -1): 0.5, ("l", 10, -1): 0.5}
        other.write("m", "k", DESCRIPTION, OUTCOME)  # opened when the file had format 1
        assert sorted((row.key, row.provenance) for row in other.rows()) == [
            ("k", "{}"),
            ("l", '{"method": "abc"}'),
            ("m", "{}"),
        ]
    assert sql(of_format_1, "SELECT value FROM about WHERE name = 'format'") == [("3",)]
    with Store(of_format_1) as store:
        assert len(store.rows()) == 3


def test_an_upgrade_that_fails_leaves_the_old_format(of_format_1, monkeypatch):
    statements = ("ALTER TABLE cells ADD COLUMN provenance TEXT NOT NULL DEFAULT '{}'", "SELECT * FROM nowhere")
    monkeypatch.setattr("ilfs.benchmark.store.schema.FROM_FORMAT_1", statements)
    with Store(of_format_1) as store:
        with pytest.raises(OSError, match=r"the store .*old.sqlite cannot be used: no such table"):
            store.claim("l")
        assert len(store.rows()) == 1
    assert sql(of_format_1, "SELECT value FROM about") == [("1",)]


def content_of(store):
    rows = sorted((row.key, row.status, row.reason, row.seconds_evaluated, row.order) for row in store.rows())
    values = [store.metric_values("ap_macro", one) for one in ("linear_svm", "knn")]
    return rows, values, store.statuses(), store.last_run()


def test_a_store_of_format_2_is_read_as_it_is(of_format_2):
    before = of_format_2.read_bytes()
    with Store(of_format_2) as store:
        rows, values, statuses, last_run = content_of(store)
    assert rows == [("k", "done", "", 0.5, [3, 1]), ("l", "failed", "slow", None, [])]
    assert values == [{("k", 10, -1): 0.5}, {("k", 10, -1): 0.75}]
    assert statuses == {"k": "done"}  # the other is marked to be computed again
    assert last_run == {"asked": {"protocol": {"test_fraction": 0.25}}}
    assert of_format_2.read_bytes() == before


def test_an_upgrade_from_format_2_loses_nothing(of_format_2):
    with Store(of_format_2) as store, Store(of_format_2) as reader:
        before = content_of(store)
        store.heartbeat()  # writes, and so upgrades
        assert content_of(store) == content_of(reader) == before  # the reader was opened when the file had format 2
        assert store.claim("l")
    assert sql(of_format_2, "SELECT value FROM about WHERE name = 'format'") == [("3",)]
    assert sql(of_format_2, "SELECT provenance FROM jobs WHERE key = 'k'") == [('{"method": "abc"}',)]
    assert sql(of_format_2, "SELECT name FROM sqlite_master WHERE name IN ('cells', 'figures')") == []
    sql(of_format_2, "PRAGMA foreign_keys = ON")
    with Store(of_format_2) as store:
        assert content_of(store) == before
        store.mark_for_recompute(["k"])
        store.write("k", "i", DESCRIPTION, OUTCOME)
        assert store.metric_values("ap_macro", "knn") == {}  # the metrics of the old row are deleted with it


def test_jobs_with_old_names_in_their_description_are_found(of_format_2):
    suite = Suite("s", "sizes", ("wine",), (BenchmarkMethod("l1_path"),), 1, Protocol(test_fraction=0.25))
    (job,) = suite.jobs()
    text = json.dumps(job.describe(), sort_keys=True)
    old = text.replace("test_fraction", "test_share").replace("baselines.l1_path.L1Path", "rivals.L1Path")
    old_identity = digest(json.loads(old))
    assert old_identity != job.identity
    sql(of_format_2, "UPDATE cells SET identity = ?, description = ? WHERE key = 'k'", old_identity, old)
    with Store(of_format_2) as store:
        assert [row.key for row in store.rows([job.identity])] == ["k"]
        store.heartbeat()
        assert [row.key for row in store.rows([job.identity])] == ["k"]
    assert sql(of_format_2, "SELECT identity, description FROM jobs WHERE key = 'k'") == [(job.identity, text)]


@pytest.mark.parametrize("description", ["{", "[" * 100_000])
def test_a_damaged_description_does_not_stop_an_upgrade(of_format_2, description):
    sql(of_format_2, "UPDATE cells SET description = ? WHERE key = 'k'", description)
    with Store(of_format_2) as store:
        store.heartbeat()
        assert len(store.rows()) == 2


def test_rows_that_are_to_be_recomputed_stay_until_the_new_ones_are_there(store):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    store.write("l", "j", DESCRIPTION, OUTCOME)
    assert not store.claim("k")
    store.mark_for_recompute(["k", "nobody"])
    assert store.statuses() == {"l": "done"}
    assert len(store.rows()) == 2
    assert store.claim("k")
    assert not store.claim("l")
    assert len(store.metric_values("ap_macro")) == 2
    store.write("k", "i", DESCRIPTION, Outcome([(10, "ap_macro", -1, 0.75)], [1], 1.0, 1.0))
    assert store.metric_values("ap_macro") == {("k", 10, -1): 0.75, ("l", 10, -1): 0.5}
    assert store.statuses() == {"k": "done", "l": "done"}
    store.write("k", "i", DESCRIPTION, OUTCOME)  # a second result, from a process that finished later
    assert store.metric_values("ap_macro")["k", 10, -1] == 0.75


def test_the_row_with_a_wanted_key_comes_before_later_ones(store):
    store.write("present", "i", DESCRIPTION, None, reason="fails now")
    store.write("other", "i", DESCRIPTION, OUTCOME)
    assert [row.key for row in store.rows()] == ["other"]
    assert [row.key for row in store.rows(keys=["present"])] == ["present"]


def test_the_last_run_is_remembered(store):
    store.remember({"suite": {"name": "a"}})
    store.remember({"suite": {"name": "b"}})
    with Store(store.path) as again:
        assert again.last_run() == {"suite": {"name": "b"}}
        again._connection.execute("PRAGMA query_only = ON")
        again.remember({"suite": {"name": "b"}})  # writes nothing


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("columns", "[1, 2"),
        ("columns", "3"),
        ("columns", "[-1]"),
        ("columns", '["a"]'),
        ("columns", "[" * 100_000),
        ("columns", b"\xff\xfe"),
        ("seconds", "quick"),
    ],
)
def test_a_damaged_row_gives_an_error_of_one_sentence_and_can_be_replaced(store, column, value):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    sql(store.path, f"UPDATE jobs SET {column} = ?", value)
    with pytest.raises(
        OSError, match=r"^the store .*results.sqlite is damaged in the row of toy, ilfs, split 0 \(.*\): "
    ):
        store.rows()
    store.mark_for_recompute(["k"])
    store.write("k", "i", DESCRIPTION, OUTCOME)
    assert store.rows()[0].order == [3, 1, 2]


def test_a_damaged_value_and_a_damaged_last_run_give_errors_of_one_sentence(store):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    sql(store.path, "UPDATE metrics SET value = 'good' WHERE metric = 'ap_macro'")
    with pytest.raises(OSError, match=r"results.sqlite is damaged: a value of ap_macro must be a number, got 'good'; "):
        store.metric_values("ap_macro")
    sql(store.path, "INSERT INTO about VALUES ('last_run', '{')")
    with pytest.raises(OSError, match=r"results.sqlite is damaged: its last run is not JSON; name the suite$"):
        store.last_run()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE metrics SET value = value + 1e-9 WHERE metric = 'ap_macro'",
        "UPDATE metrics SET size = size + 1",
        "UPDATE jobs SET columns = '[3, 1, 4]'",
        "DELETE FROM metrics WHERE metric = 'ap_macro'",
    ],
)
def test_changed_values_are_noticed(store, change):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    assert store.rows()[0].checksum
    sql(store.path, change)
    with pytest.raises(OSError, match=r"is damaged in the row of toy, ilfs, split 0 \(its values are not those that"):
        store.rows()


def test_text_that_is_not_unicode_gives_an_error_of_one_sentence(store):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    sql(store.path, "UPDATE jobs SET dataset = CAST(x'b3b3' AS TEXT)")
    with pytest.raises(OSError, match=r"^the store .*results.sqlite (is damaged: it has|cannot be used: .*UTF-8)"):
        store.rows()


def test_an_index_that_does_not_fit_its_table_is_noticed(store):
    for k in range(50):
        store.write(f"k{k}", f"i{k}", DESCRIPTION, OUTCOME)
    ((page,),) = sql(store.path, "SELECT rootpage FROM sqlite_master WHERE name = 'by_identity'")
    ((size,),) = sql(store.path, "PRAGMA page_size")
    content = bytearray(store.path.read_bytes())
    start = (page - 1) * size
    content[start : start + size] = content[start : start + size].replace(b"i17", b"i71")
    damaged = store.path.with_name("damaged.sqlite")
    damaged.write_bytes(content)
    with pytest.raises(ValueError, match=r"the store .*damaged.sqlite cannot be used: it is damaged: "):
        Store(damaged)
