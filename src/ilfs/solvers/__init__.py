"""Optimisation problems that methods solve again and again, each from the solution before."""
