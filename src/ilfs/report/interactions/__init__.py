"""Views of interacting features: a table for the terminal, a network, sentences and a page."""

from ilfs.report.interactions.page import write_interactions_page
from ilfs.report.interactions.screen import interactions_screen
from ilfs.report.interactions.summary import InteractionSummary, summarise_interactions

__all__ = ["InteractionSummary", "interactions_screen", "summarise_interactions", "write_interactions_page"]
