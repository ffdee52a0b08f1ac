"""Solvers and closed forms: pLSA, path sums, forward selection, linear programs, least angle regression, SVMs."""
