"""Tables of the result file, and the statements that upgrade files of older formats.

Format 1 had no provenance and no classifier. Format 2 added both, checksums of rows, and the last run. Format 3 names
tables and columns as the rest of the library does: ``jobs`` (before: ``cells``), ``metrics`` (``figures``),
``seconds_evaluated`` (``seconds_judged``) and ``heartbeat`` (``heard``). Descriptions of jobs and runs changed with it:
see `renamed`.
"""

import json
import sqlite3
from typing import Any

from ilfs.benchmark.evaluation.job import NO_CLASSIFIER, digest
from ilfs.benchmark.evaluation.metrics import TIMING_METRICS

FORMAT = 3
SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS jobs (
    key TEXT PRIMARY KEY,
    identity TEXT NOT NULL,
    experiment TEXT NOT NULL,
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    split INTEGER NOT NULL,
    description TEXT NOT NULL,
    versions TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    reason TEXT NOT NULL,
    seconds REAL,
    seconds_evaluated REAL,
    peak_megabytes REAL,
    host TEXT NOT NULL,
    finished REAL NOT NULL,
    columns TEXT NOT NULL,
    provenance TEXT NOT NULL DEFAULT '{}',
    recompute INTEGER NOT NULL DEFAULT 0,
    checksum TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS by_identity ON jobs (identity);
CREATE TABLE IF NOT EXISTS metrics (
    key TEXT NOT NULL REFERENCES jobs (key) ON DELETE CASCADE,
    size INTEGER NOT NULL,
    metric TEXT NOT NULL,
    class INTEGER NOT NULL,
    value REAL,
    classifier TEXT NOT NULL,
    PRIMARY KEY (key, classifier, size, metric, class)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    heartbeat REAL NOT NULL
);
"""
TABLES = {1: {"about", "cells", "figures", "claims"}, 2: {"about", "cells", "figures", "claims"}}
TABLES[FORMAT] = {"about", "jobs", "metrics", "claims"}
CLASSIFIER_OF_FORMAT_1 = "linear_svm"  # the only one that files of format 1 can have
FROM_FORMAT_1 = (
    "ALTER TABLE cells ADD COLUMN provenance TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE cells ADD COLUMN recompute INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE cells ADD COLUMN checksum TEXT NOT NULL DEFAULT ''",  # old rows have none
    "ALTER TABLE figures RENAME TO figures_of_format_1",
    # a new table, since SQLite cannot add a column to a primary key
    """CREATE TABLE figures (
        key TEXT NOT NULL REFERENCES cells (key) ON DELETE CASCADE, size INTEGER NOT NULL, metric TEXT NOT NULL,
        class INTEGER NOT NULL, value REAL, classifier TEXT NOT NULL,
        PRIMARY KEY (key, classifier, size, metric, class)
    ) WITHOUT ROWID""",
    "INSERT INTO figures SELECT key, size, metric, class, value, "
    f"CASE WHEN metric IN {TIMING_METRICS} THEN '{NO_CLASSIFIER}' ELSE '{CLASSIFIER_OF_FORMAT_1}' END "
    "FROM figures_of_format_1",
    "DROP TABLE figures_of_format_1",
)
FROM_FORMAT_2 = (
    "ALTER TABLE cells RENAME TO jobs",
    "ALTER TABLE jobs RENAME COLUMN seconds_judged TO seconds_evaluated",
    "ALTER TABLE figures RENAME TO metrics",
    "ALTER TABLE claims RENAME COLUMN heard TO heartbeat",
)
OLD_COLUMNS = {"seconds_evaluated": "seconds_judged"}  # names before format 3
RENAMED_KEYS = {"test_share": "test_fraction"}  # in descriptions before format 3
RENAMED_CLASSES = {
    "ilfs.benchmark.rivals.FastCan": "ilfs.benchmark.baselines.fastcan.FastCan",
    "ilfs.benchmark.rivals.MRMR": "ilfs.benchmark.baselines.mrmr.MRMR",
    "ilfs.benchmark.rivals.ExtraTrees": "ilfs.benchmark.baselines.extra_trees.ExtraTrees",
    "ilfs.benchmark.rivals.L1Path": "ilfs.benchmark.baselines.l1_path.L1Path",
}


def create(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file."""
    for statement in SCHEMA.split(";\n"):
        connection.execute(statement)
    connection.execute("INSERT INTO about VALUES ('format', ?)", (str(FORMAT),))


def upgrade(connection: sqlite3.Connection, found: int) -> None:
    """Upgrade the tables of an older format to the present one; no row is lost.

    Parameters
    ----------
    connection : sqlite3.Connection
        In a transaction, so that a failure leaves the old format.
    found : int
        The format that the file has.
    """
    for statement in (*(FROM_FORMAT_1 if found < 2 else ()), *FROM_FORMAT_2):
        connection.execute(statement)
    for key, identity, description in connection.execute("SELECT key, identity, description FROM jobs").fetchall():
        connection.execute(
            "UPDATE jobs SET identity = ?, description = ? WHERE key = ?",
            (present_identity(identity, description), renamed_json(description), key),
        )
    for (run,) in connection.execute("SELECT value FROM about WHERE name = 'last_run'").fetchall():
        connection.execute("UPDATE about SET value = ? WHERE name = 'last_run'", (renamed_json(run),))
    connection.execute("UPDATE about SET value = ? WHERE name = 'format'", (str(FORMAT),))


def renamed(data: Any) -> Any:
    """Copy plain data with old names of keys and classes replaced by the present ones.

    Examples
    --------
    >>> from ilfs.benchmark.store.schema import renamed
    >>> renamed({"protocol": {"test_share": 0.25}, "selector": "ilfs.benchmark.rivals.MRMR"})
    {'protocol': {'test_fraction': 0.25}, 'selector': 'ilfs.benchmark.baselines.mrmr.MRMR'}
    """
    if isinstance(data, dict):
        return {RENAMED_KEYS.get(key, key): renamed(value) for key, value in data.items()}
    if isinstance(data, list):
        return [renamed(value) for value in data]
    return RENAMED_CLASSES.get(data, data) if isinstance(data, str) else data


def renamed_json(text: str) -> str:
    """Replace old names in JSON by the present ones; damaged JSON stays as it is and is reported when it is read."""
    try:
        return json.dumps(renamed(json.loads(text)), sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return text


def present_identity(identity: str, description: str) -> str:
    """Identity that a job of an older format has today: that of its description with the present names."""
    try:
        before = json.loads(description)
    except (ValueError, TypeError, RecursionError):
        return identity
    after = renamed(before)
    return identity if after == before else digest(after)
