"""Methods of a benchmark: a selector under a name, with parameters and a description as plain data."""
