"""Suites: the data sets, methods, splits and protocol that are run together, built in or read from a TOML file."""
