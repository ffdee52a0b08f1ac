"""Solvers and closed forms on small arrays: topics, paths, picks, linear programs, least angles, margins."""
