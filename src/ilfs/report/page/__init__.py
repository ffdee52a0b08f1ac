"""Self-contained HTML pages: one file without any request to the network."""

from ilfs.report.page.document import Document, Section, figure, package_text, paragraphs, warning_box

__all__ = ["Document", "Section", "figure", "package_text", "paragraphs", "warning_box"]
