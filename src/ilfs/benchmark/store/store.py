"""Results in one SQLite file: one row for each job, written in one transaction with all its metrics.

The file survives a power cut at any moment: a transaction is in the file as a whole or not at all. Several processes
may work on it. Each claims a job before it computes it. The claim of a process that has ended, or that has sent no
heartbeat for a while, is void.

Files of older formats (`ilfs.benchmark.store.schema`) are read as they are, and upgraded when they are first written
to.
"""

import json
import os
import socket
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from ilfs.benchmark.evaluation.job import NO_CLASSIFIER, Measurement, Outcome
from ilfs.benchmark.evaluation.metrics import TIMING_METRICS
from ilfs.benchmark.provenance.describe import versions
from ilfs.benchmark.store import schema
from ilfs.benchmark.store.schema import CLASSIFIER_OF_FORMAT_1, FORMAT, OLD_COLUMNS, TABLES
from ilfs.benchmark.store.stored_job import StoredJob, host_facts, row_checksum

LOCK_TIMEOUT_SECONDS = 60.0  # maximum wait for another process that writes
HEARTBEAT_TIMEOUT_SECONDS = 300.0  # without a heartbeat for this long, a process elsewhere counts as ended
ADDED_IN_FORMAT_2 = ("provenance", "checksum")
OTHER_DATABASE = "it is a database of another program"


class Store:
    """A file of results.

    Parameters
    ----------
    path : path-like
        The file, which is created when the first row or claim is written. A file of any other kind is an error.

    Examples
    --------
    >>> import tempfile
    >>> from ilfs.benchmark import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     len(store.rows())
    0
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._opened: sqlite3.Connection | None = None
        self._format = FORMAT
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder of the store {self.path} does not exist")
        if not self.path.exists():
            return
        try:
            with self._path_in_errors():
                self._open()
        except OSError as error:
            self.close()
            raise ValueError(str(error)) from None

    def _open(self) -> None:
        """Connect and check the file. Nothing is written, so that read-only files can be used."""
        connection = self._opened = sqlite3.connect(self.path, timeout=LOCK_TIMEOUT_SECONDS, isolation_level=None)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return
        if "about" not in tables:
            raise sqlite3.DatabaseError(OTHER_DATABASE)
        self._format = self._read_format()
        if not TABLES[self._format] <= tables:
            raise sqlite3.DatabaseError(OTHER_DATABASE)
        (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"it is damaged: {' '.join(str(verdict).split())}")

    def _read_format(self) -> int:
        """Read the format of the file; an error if this version does not know it."""
        found = self._connection.execute("SELECT value FROM about WHERE name = 'format'").fetchone()
        number = int(found[0]) if found is not None and str(found[0]).isdecimal() else 0
        if not 1 <= number <= FORMAT:
            has = f"format {found[0]}" if found is not None else "no format"
            remedy = ": update ilfs" if number > FORMAT else ""
            raise sqlite3.DatabaseError(f"it has {has}, this version of ilfs reads formats 1 to {FORMAT}{remedy}")
        return number

    @property
    def _connection(self) -> sqlite3.Connection:
        """The connection; the file is created if it does not exist."""
        if self._opened is None:
            self._open()
        assert self._opened is not None
        return self._opened

    def _prepare(self) -> None:
        """Create or upgrade the tables, inside the transaction that needs them."""
        if not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            schema.create(self._connection)
        elif self._format < FORMAT and (found := self._read_format()) < FORMAT:  # else another process has done it
            schema.upgrade(self._connection, found)
        self._format = FORMAT

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run the block in one transaction, which is rolled back if the block raises."""
        is_new = not self.path.exists()
        before = self._format
        with self._path_in_errors():
            self._roll_back()  # Ctrl-C may have left a transaction open
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._prepare()
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._format = before
                self._roll_back()
                if is_new:
                    self._remove_empty()
                raise

    def _remove_empty(self) -> None:
        """Remove a new file that nothing could be written to, as on a full disk."""
        self.close()
        self._opened = None
        with suppress(OSError):
            if not self.path.stat().st_size:
                self.path.unlink()

    def _roll_back(self) -> None:
        """End the open transaction, if any: SQLite itself ends it when the disk is full or the file is closed."""
        with suppress(sqlite3.ProgrammingError):  # closed: Ctrl-C can leave a write that is ended after the file
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _path_in_errors(self) -> Iterator[None]:
        """Name the file in errors of SQLite: full disk, lock, damage, read-only file."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except UnicodeDecodeError:
            raise OSError(f"the store {self.path} is damaged: it has text that is not UTF-8") from None
        except sqlite3.Error as error:
            reason = "".join(c if c.isprintable() else "?" for c in str(error))
            raise OSError(f"the store {self.path} cannot be used: {reason}") from None

    def _read(self, query: str, *values: str) -> list[Any]:
        if self._is_empty():
            return []
        with self._path_in_errors():
            return self._connection.execute(query, values).fetchall()

    def _is_empty(self) -> bool:
        """Check if the file does not exist or has no tables, at this moment: another process may create it."""
        if self._opened is None and not self.path.exists():
            return True
        with self._path_in_errors():
            return not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

    def statuses(self) -> dict[str, str]:
        """Status of each finished job by its key, without jobs that are marked for recomputing."""
        self._refresh_format()
        which = "WHERE recompute = 0" if self._format >= 2 else ""
        return dict(self._read(f"SELECT key, status FROM {self._jobs} {which}"))

    def _refresh_format(self) -> None:
        """Read the format of an old file again: another process may have upgraded it."""
        if self._format < FORMAT:
            with self._path_in_errors():
                self._format = self._read_format()

    @property
    def _jobs(self) -> str:
        """Name of the table of jobs."""
        return "jobs" if self._format >= 3 else "cells"

    @property
    def _metrics(self) -> str:
        """Name of the table of metrics."""
        return "metrics" if self._format >= 3 else "figures"

    def last_run(self) -> dict[str, Any] | None:
        """Description of the last run, as stored by `remember`; None if there is none."""
        found = self._read("SELECT value FROM about WHERE name = 'last_run'")
        try:
            run = json.loads(found[0][0]) if found else None
        except (ValueError, TypeError, RecursionError):
            raise OSError(f"the store {self.path} is damaged: its last run is not JSON; name the suite") from None
        return schema.renamed(run) if isinstance(run, dict) else None

    def remember(self, last_run: dict[str, Any]) -> None:
        """Store the description of a run, so that tables can be made of it later.

        Parameters
        ----------
        last_run : dict
            Plain data.
        """
        if self.last_run() != last_run:  # a run of a complete, read-only file must not write
            with self._writing():
                self._connection.execute(
                    "INSERT OR REPLACE INTO about VALUES ('last_run', ?)", (json.dumps(last_run, sort_keys=True),)
                )

    def mark_for_recompute(self, keys: Iterable[str]) -> None:
        """Mark finished jobs to be computed again; their rows stay until the new ones are written.

        Parameters
        ----------
        keys : iterable of str
            Keys of the jobs; those without a row are ignored.
        """
        if not self._is_empty():
            with self._writing():
                self._connection.executemany("UPDATE jobs SET recompute = 1 WHERE key = ?", [(key,) for key in keys])

    def claim(self, key: str, *, again: bool = False) -> bool:
        """Claim a job for this process, unless it is finished or another process computes it.

        Parameters
        ----------
        key : str
            Key of the job.
        again : bool
            Whether a job that failed may be claimed again.

        Returns
        -------
        bool
            True if this process is to compute the job.
        """
        with self._writing():
            found = self._connection.execute("SELECT status, recompute FROM jobs WHERE key = ?", (key,)).fetchone()
            if found is not None and not found[1] and not (again and found[0] == "failed"):
                return False
            claim = self._connection.execute(
                "SELECT host, process, heartbeat FROM claims WHERE key = ?", (key,)
            ).fetchone()
            if claim is not None and _is_alive(*claim):
                return False
            self._connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)",
                (key, socket.gethostname(), os.getpid(), time.time()),
            )
        return True

    def give_back(self) -> None:
        """Withdraw the claims of this process: it will not compute these jobs now."""
        with self._writing():
            self._connection.execute(
                "DELETE FROM claims WHERE host = ? AND process = ?", (socket.gethostname(), os.getpid())
            )

    def heartbeat(self) -> None:
        """Renew the claims of this process: it is still computing its jobs."""
        with self._writing():
            self._connection.execute(
                "UPDATE claims SET heartbeat = ? WHERE host = ? AND process = ?",
                (time.time(), socket.gethostname(), os.getpid()),
            )

    def write(
        self,
        key: str,
        identity: str,
        description: dict[str, Any],
        outcome: Outcome | None,
        *,
        reason: str = "",
        peak_megabytes: float | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a finished job. A failed or marked row of it is replaced; any other row of it is kept.

        Parameters
        ----------
        key, identity, description
            Those of the job.
        outcome : Outcome or None
            Result of the job, None if it failed.
        reason : str
            Why it failed.
        peak_megabytes : float, optional
            Memory that the job took.
        provenance : mapping, optional
            Code and versions that the job was computed with.
        """
        order = json.dumps([] if outcome is None else outcome.order)
        measurements = [] if outcome is None else [Measurement(*one) for one in outcome.measurements]
        with self._writing():
            self._connection.execute("DELETE FROM jobs WHERE key = ? AND (status = 'failed' OR recompute = 1)", (key,))
            written = self._connection.execute(
                "INSERT OR IGNORE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
                (
                    key,
                    identity,
                    description["experiment"],
                    description["dataset"],
                    description["method"],
                    description["split"],
                    json.dumps(description, sort_keys=True),
                    json.dumps(versions(), sort_keys=True),
                    "failed" if outcome is None else "done",
                    reason,
                    None if outcome is None else outcome.seconds,
                    None if outcome is None else outcome.seconds_evaluated,
                    peak_megabytes,
                    json.dumps(host_facts(), sort_keys=True),
                    time.time(),
                    order,
                    json.dumps(dict(provenance or {}), sort_keys=True),
                    row_checksum(order, measurements),
                ),
            ).rowcount
            if written:
                self._connection.executemany(
                    "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", [(key, *one) for one in measurements]
                )
            self._connection.execute("DELETE FROM claims WHERE key = ?", (key,))

    def rows(self, identities: Sequence[str] | None = None, keys: Iterable[str] = ()) -> list[StoredJob]:
        """Finished jobs, one for each identity: that with a given key, else the last successful one, else the last.

        Parameters
        ----------
        identities : sequence of str, optional
            Identities of the jobs wanted; all by default.
        keys : iterable of str
            Keys of rows that are preferred to all others of their identity.

        Returns
        -------
        list of StoredJob
            In no particular order.
        """
        found: dict[str, StoredJob] = {}
        wanted, first = None if identities is None else set(identities), set(keys)
        for row in self._all_rows():
            is_settled = row.identity in found and found[row.identity].key in first
            if (wanted is None or row.identity in wanted) and not is_settled:
                found[row.identity] = row
        measurements = self._measurements_by_key() if any(row.checksum for row in found.values()) else {}
        for row in found.values():
            self._check(row, measurements.get(row.key, []))
        return list(found.values())

    def _all_rows(self) -> Iterator[StoredJob]:
        """All rows: failed ones first, then in the order in which they were finished."""
        self._refresh_format()
        names = [name for name in StoredJob.__dataclass_fields__ if self._format >= 2 or name not in ADDED_IN_FORMAT_2]
        columns = ", ".join(names if self._format >= 3 else [OLD_COLUMNS.get(name, name) for name in names])
        query = f"SELECT description, {columns} FROM {self._jobs} ORDER BY status DESC, finished, key"
        for description, *values in self._read(query):
            row = dict(zip(names, values, strict=True))
            if self._format < FORMAT:
                row["identity"] = schema.present_identity(row["identity"], description)
            yield StoredJob(**row)

    def _measurements_by_key(self) -> dict[str, list[Any]]:
        by_key: dict[str, list[Any]] = defaultdict(list)
        for key, *one in self._read(f"SELECT key, size, metric, class, value, classifier FROM {self._metrics}"):
            by_key[key].append(one)
        return by_key

    def _check(self, row: StoredJob, measurements: list[Any]) -> None:
        try:
            row.check(measurements)
        except (ValueError, TypeError, RecursionError) as error:
            raise OSError(
                f"the store {self.path} is damaged in the row of {row.dataset}, {row.method}, split {row.split} "
                f"({error}): ilfs bench run --recompute replaces it"
            ) from None

    def metric_values(self, metric: str, classifier: str | None = None) -> dict[tuple[str, int, int], float]:
        """Values of one metric, for all jobs.

        Parameters
        ----------
        metric : str
            Name of the metric.
        classifier : str, optional
            Name of the classifier; by default the linear SVM, or none for seconds and memory.

        Returns
        -------
        dict
            Values by key, size and class.
        """
        self._refresh_format()
        default = NO_CLASSIFIER if metric in TIMING_METRICS else CLASSIFIER_OF_FORMAT_1
        wanted = default if classifier is None else classifier
        query = f"SELECT key, size, class, value FROM {self._metrics} WHERE metric = ?"
        if self._format >= 2:
            found = self._read(f"{query} AND classifier = ?", metric, wanted)
        else:
            found = self._read(query, metric) if wanted in (CLASSIFIER_OF_FORMAT_1, NO_CLASSIFIER) else []
        if wrong := next((row for row in found if not isinstance(row[3], float | int | None)), None):
            raise OSError(
                f"the store {self.path} is damaged: a value of {metric} must be a number, got {wrong[3]!r}; "
                "ilfs bench run --recompute replaces it"
            )
        return {(key, size, k): float("nan") if value is None else value for key, size, k, value in found}


def _is_alive(host: str, process: int, heartbeat: float) -> bool:
    """Check if the process of a claim still runs, by its number or by its last heartbeat."""
    is_recent = time.time() - heartbeat < HEARTBEAT_TIMEOUT_SECONDS
    if host != socket.gethostname():
        return is_recent
    if process == os.getpid():
        return False  # a claim of an earlier run in this process, which has ended
    if os.name == "posix":
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
    return is_recent  # the number may belong to another process by now
