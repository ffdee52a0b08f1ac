"""Solvers for sequences of similar optimisation problems, each of which starts from the solution before."""
