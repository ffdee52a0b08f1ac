"""Store: results of jobs in a SQLite file, and the results of a suite as arrays."""
