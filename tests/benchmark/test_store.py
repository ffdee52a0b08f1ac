"""The file of results: whole rows or none, claims, other people's files."""

import os
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

from ilfs.benchmark import Outcome, Store
from ilfs.benchmark.store import SILENCE

DESCRIPTION = {"experiment": "sizes", "dataset": "toy", "method": "ilfs", "split": 0}
OUTCOME = Outcome([(10, "ap_macro", -1, 0.5), (10, "ap", 0, float("nan"))], [3, 1, 2], 0.25, 0.5)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        yield store


def test_a_row_comes_back_as_it_was_written(store):
    store.write("k", "i", DESCRIPTION, OUTCOME, peak_megabytes=12.0)
    (row,) = store.rows()
    assert (row.key, row.identity, row.dataset, row.method, row.split) == ("k", "i", "toy", "ilfs", 0)
    assert row.is_done
    assert row.order == [3, 1, 2]
    assert (row.seconds, row.seconds_judged, row.peak_megabytes) == (0.25, 0.5, 12.0)
    assert store.figures("ap_macro") == {("k", 10, -1): 0.5}
    (missing,) = store.figures("ap").values()
    assert missing != missing


def test_what_is_done_is_not_written_again(store):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    store.write("k", "i", DESCRIPTION, None, reason="late")
    store.write("k", "i", DESCRIPTION, Outcome([(10, "ap_macro", -1, 0.9)], [], 9.0, 9.0))
    assert store.rows()[0].seconds == 0.25
    assert store.figures("ap_macro") == {("k", 10, -1): 0.5}


def test_a_failure_is_a_row_and_a_later_success_takes_its_place(store):
    store.write("k", "i", DESCRIPTION, None, reason="too slow")
    (row,) = store.rows()
    assert (row.status, row.reason) == ("failed", "too slow")
    store.write("k", "i", DESCRIPTION, OUTCOME)
    (row,) = store.rows()
    assert row.is_done


def test_of_several_versions_the_last_that_is_done_counts(store):
    store.write("old", "i", DESCRIPTION, OUTCOME)
    store.write("new", "i", DESCRIPTION, None, reason="does not work any more")
    assert [row.key for row in store.rows()] == ["old"]


def test_a_cell_is_claimed_once(store, tmp_path):
    assert store.claim("k")
    other = f"from ilfs.benchmark import Store; print(Store({str(store.path)!r}).claim('k'))"
    said = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"


def test_the_claim_of_a_process_that_is_gone_is_void(store):
    other = f"from ilfs.benchmark import Store; assert Store({str(store.path)!r}).claim('k')"
    subprocess.run([sys.executable, "-c", other], check=True)
    assert store.claim("k")


def test_a_claim_from_another_machine_is_good_for_a_while(store):
    with sqlite3.connect(store.path) as connection:
        connection.execute("INSERT INTO claims VALUES ('k', 'elsewhere', 1, ?)", (time.time(),))
        connection.execute("INSERT INTO claims VALUES ('old', 'elsewhere', 1, ?)", (time.time() - 2 * SILENCE,))
    assert not store.claim("k")
    assert store.claim("old")


def test_signs_of_life_renew_claims(store):
    assert store.claim("k")
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE claims SET heard = 0")
    store.sign_of_life()
    with sqlite3.connect(store.path) as connection:
        ((host, process, heard),) = connection.execute("SELECT host, process, heard FROM claims")
    assert (host, process) == (socket.gethostname(), os.getpid())
    assert time.time() - heard < 60


def test_finished_cells_are_not_claimed_but_failed_ones_may_be_tried_again(store):
    store.write("done", "i", DESCRIPTION, OUTCOME)
    store.write("failed", "j", DESCRIPTION, None, reason="no")
    assert not store.claim("done", again=True)
    assert not store.claim("failed")
    assert store.claim("failed", again=True)


def test_claims_given_back_are_free(store):
    assert store.claim("k")
    store.give_back()
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_a_row_that_cannot_be_written_whole_is_not_written(store):
    broken = Outcome([(10, "ap_macro", -1, 0.5), (10, "ap_macro", -1, 0.6)], [], 1.0, 1.0)
    with pytest.raises(sqlite3.IntegrityError):
        store.write("k", "i", DESCRIPTION, broken)
    assert store.rows() == []
    assert store.figures("ap_macro") == {}


def test_other_files_are_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but my notes\n" * 100)
    with pytest.raises(ValueError, match=r"the store .*notes.txt cannot be used: file is not a database"):
        Store(text)
    assert text.read_text().startswith("not a database")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE music (title TEXT)")
    with pytest.raises(ValueError, match="it is a database of something else"):
        Store(other)
    with pytest.raises(ValueError, match=r"the folder of the store .* does not exist"):
        Store(tmp_path / "nowhere" / "results.sqlite")


def test_a_later_format_is_refused(tmp_path):
    path = tmp_path / "results.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE about SET value = '99'")
    with pytest.raises(ValueError, match=r"it has format 99, this version of ilfs reads format 2"):
        Store(path)


def test_reading_writes_nothing(store):
    store.write("k", "i", DESCRIPTION, OUTCOME)
    before = store.path.read_bytes()
    with sqlite3.connect(f"file:{store.path}?mode=ro", uri=True):
        store.path.chmod(0o444)
    with Store(store.path) as again:
        again._connection.execute("PRAGMA query_only = ON")  # even where the user may do everything
        assert len(again.rows()) == 1
        with pytest.raises(OSError, match=r"the store .*results.sqlite cannot be used: attempt to write a readonly"):
            again.claim("j")
    assert store.path.read_bytes() == before


def test_a_full_disk_is_said_in_a_sentence_and_the_store_lives_on(store):
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    long = Outcome([(size, "ap_macro", -1, 0.5) for size in range(5000)], list(range(9999)), 0.1, 0.1)
    with pytest.raises(OSError, match=r"the store .*results.sqlite cannot be used: database or disk is full"):
        store.write("k", "i", DESCRIPTION, long)
    assert store.rows() == []
    store._connection.execute("PRAGMA max_page_count = 100000")
    store.write("k", "i", DESCRIPTION, long)
    assert len(store.figures("ap_macro")) == 5000


def test_a_transaction_that_was_cut_off_is_not_in_the_way(store):
    store._connection.execute("BEGIN IMMEDIATE")  # and then came Ctrl-C
    store._connection.execute("INSERT INTO claims VALUES ('k', 'h', 1, 0)")
    store.give_back()
    assert store._connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_a_damaged_file_is_said_in_a_sentence(store, tmp_path):
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
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM about")
    with pytest.raises(ValueError, match="it has no format, this version of ilfs reads format 2"):
        Store(path)
