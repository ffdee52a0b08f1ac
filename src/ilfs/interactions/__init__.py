"""Interactions: pairs and triples of features that are informative together, beyond what each says alone."""

from ilfs.interactions.finding import find_interactions
from ilfs.interactions.result import Interactions, InteractionTable

__all__ = ["InteractionTable", "Interactions", "find_interactions"]
