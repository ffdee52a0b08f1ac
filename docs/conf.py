"""Sphinx configuration."""

import sys
from pathlib import Path

from ilfs import __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

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
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "command_options",  # this and the next three are in docs/_extensions
    "local_mathjax",
    "search_words",
    "site_tables",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_templates",
    "findings/*.md",  # tables that a page includes
    "gallery/**/*.py",
    "gallery/**/*.ipynb",
    "gallery/**/*.json",
    "gallery/**/*.zip",
]
html_theme = "furo"
html_title = "ilfs"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_theme_options = {"top_of_page_buttons": []}
html_show_sourcelink = False

mathjax_path = "mathjax/tex-chtml.js"  # local_mathjax copies it
mathjax4_config = None
mathjax3_config = {"options": {"enableMenu": False}}

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_block"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # README links to files of the repository
    "config.cache",  # the gallery is configured by an object that cannot be pickled
]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "write_computation_times": False,  # a page that loads scripts from other hosts
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),  # print() shows what is worth seeing
}

autosummary_generate = True
autodoc_typehints = "none"  # docstrings state the types
numpydoc_show_class_members = False
numpydoc_validation_checks = {"PR01", "PR02", "RT03", "SS03", "GL08"}
numpydoc_validation_exclude = {r"ilfs\.statistics", r"ilfs\.selector"}  # for those who write a method

plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 110)]
plot_rcparams = {"figure.constrained_layout.use": True, "font.size": 9, "axes.spines.top": False}
