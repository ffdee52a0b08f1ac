"""Inner loops and closed forms: plain functions on arrays, serial inside.

The modules that need Numba are imported at the first fit, not with the package: the import alone costs
a few tenths of a second, which somebody who only reads a fitted selector should not pay.
"""
