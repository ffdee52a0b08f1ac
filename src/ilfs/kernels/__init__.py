"""Compiled inner loops: functions on arrays, each of which runs in one thread.

Modules that need Numba are imported at the first fit, not with the package. The import takes a few tenths of a second,
which code that only uses a fitted selector should not have to wait for.
"""
