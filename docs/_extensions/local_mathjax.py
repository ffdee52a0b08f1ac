"""Sphinx extension: serve MathJax from the pages themselves, so that formulas need no network.

The files come from the package sphinx-mathjax-offline. Only the one script that the pages load, and its fonts, are
copied.
"""

import shutil
from importlib.resources import as_file, files

PACKAGE = "sphinx-mathjax-offline"  # also the name of its folder, which no import statement can spell
SCRIPT = "tex-chtml.js"
FONTS = "output/chtml/fonts/woff-v2"


def copy_files(app, error):
    """Copy MathJax into the folder of static files."""
    if error is not None or app.builder.format != "html":
        return
    target = app.outdir / "_static" / "mathjax"
    with as_file(files(PACKAGE) / "static" / "mathjax") as source:
        shutil.copytree(source / FONTS, target / FONTS, dirs_exist_ok=True)
        shutil.copyfile(source / SCRIPT, target / SCRIPT)


def setup(app):
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
