"""Sphinx extension: words that lead to a page when readers search for them, and highlighting that survives icons.

Sphinx puts pages first whose title has the word. These words are put first, too: readers know them, titles lack them.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

WORDS = {
    "apply": ["transform", "new samples", "saved selection"],
    "benchmark": ["evaluation", "cross-validation", "splits", "nested"],
    "certainty": ["fdr", "false discovery rate", "permutation test", "p-value", "q-value", "knockoffs", "significance"],
    "cluster": ["dask"],
    "datasets": ["microarray data", "download"],
    "files": ["batch", "csv", "excel", "genes in rows", "sample sheet"],
    "hospitals": ["federated", "privacy", "several sites"],
    "howto/images": ["pixels", "cnn", "deep features"],
    "howto/pipeline": ["leakage", "scikit-learn", "GridSearchCV"],
    "howto/single_cell": ["anndata", "scanpy", "scrna-seq", "markers", "h5ad"],
    "howto/text": ["tf-idf", "words"],
    "ilfs": ["plate diagram", "plsa", "tokens"],
    "input": ["missing values", "nan", "weights", "sparse", "sample_weight", "polars", "pandas"],
    "interactions": ["xor", "epistasis", "pairs"],
    "large": ["memory", "out of core", "parquet", "streaming"],
    "methods/svm_rfe": ["SVMRFE", "recursive feature elimination"],
    "page": ["report", "html"],
    "pictures": ["plots", "volcano", "heatmap", "matplotlib"],
    "redundancy": ["redundancy", "redundant", "correlated", "mrmr"],
    "selection": ["number of features", "cut-off", "auto", "n_features_to_select", "absorption"],
    "speed": ["benchmark of speed", "time", "memory peak"],
    "stability": ["bootstrap", "stability selection", "complementary pairs"],
    "statistics": ["friedman", "nemenyi", "wilcoxon", "holm"],
}

# Sphinx asks every SVG element around a word for its size; the titles of the theme's icons have none.
ICONS_WITHOUT_SIZE = """
SVGElement.prototype.getBBox ??= () => ({x: 0, y: 0, width: 0, height: 0});
"""


class SearchWords(SphinxTransform):
    """Add the words of a page to the index that the search uses."""

    default_priority = 840  # before the index is collected

    def apply(self, **_):
        words = WORDS.get(self.env.docname, [])
        entries = [("single", word, "", "main", None) for word in words]
        if entries and (first := next(self.document.findall(nodes.section), None)) is not None:
            first.insert(1, addnodes.index(entries=entries, inline=False))


def setup(app):
    app.add_transform(SearchWords)
    app.add_js_file(None, body=ICONS_WITHOUT_SIZE, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
