"""Exact nearest neighbours, among all samples or within each class, and graphs of them."""

from ilfs.neighbours.by_class import Pairs, class_neighbours
from ilfs.neighbours.distinct import DistinctSamples
from ilfs.neighbours.euclidean import Neighbours, nearest_neighbours
from ilfs.neighbours.graph import Weights, difference_grams, heat_graph, usable_neighbours

__all__ = [
    "DistinctSamples",
    "Neighbours",
    "Pairs",
    "Weights",
    "class_neighbours",
    "difference_grams",
    "heat_graph",
    "nearest_neighbours",
    "usable_neighbours",
]
