"""Evaluation: split a data set, rank its features, fit classifiers to subsets and compute metrics."""
