"""Sphinx configuration."""

from ilfs import __version__

project = "ilfs"
author = "the ilfs developers"
copyright = "2026, the ilfs developers"
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "matplotlib.sphinxext.plot_directive",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "findings/*.md"]  # tables that a page includes
html_theme = "furo"
html_title = "ilfs"
html_static_path = ["_static"]
html_css_files = ["tables.css"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # README links to files of the repository

autosummary_generate = True
autodoc_typehints = "none"  # docstrings state the types
numpydoc_show_class_members = False
numpydoc_validation_checks = {"PR01", "PR02", "RT03", "SS03", "GL08"}
numpydoc_validation_exclude = {r"ilfs\.statistics", r"ilfs\.selector"}  # for those who write a method

plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 110)]
plot_rcparams = {"figure.constrained_layout.use": True, "font.size": 9, "axes.spines.top": False}
