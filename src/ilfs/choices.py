"""Choices and defaults of command-line options that the library has in common with the command.

They have a module of their own because the parser of the command ``ilfs`` must not import numpy or scikit-learn. So
``ilfs --help`` and usage errors answer at once.
"""

STANDARD_INPUT = "-"
INPUT_FORMATS = (  # names of formats; the ending of a file is the name after a point
    *("csv", "tsv", "txt", "parquet", "feather", "arrow", "xlsx", "npz", "npy", "svmlight", "arff", "mat", "h5ad"),
    *("gct", "res"),
)
DELIMITED_ENDINGS = (".csv", ".tsv", ".tab", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")
PICTURE_ENDINGS = (".png", ".svg", ".pdf")

DEFAULT_FOLDS, DEFAULT_REPEATS = 5, 2  # of cross-validation
DEFAULT_HALF_SAMPLES = 20  # of a comparison; their interval is shown, so that fewer than usual suffice
N_COMPARED_RANKS = 10  # features that a comparison lists side by side
N_LISTED_CLASSES = 6  # classes whose sizes are told

RESULT_FORMATS = ("text", "json", "csv")  # formats of rankings and comparisons
FORMATS = ("text", "markdown", "latex", "html", "csv")  # formats of tables
LAYOUTS = ("full", "paper")  # layouts of the tables of a benchmark
METRIC_TITLES = {  # titles of metrics over all classes
    "ap_macro": "average precision, mean of the classes",
    "ap_majority": "average precision, class with most samples",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1, mean of the classes",
    "auc": "area under the curve",
}
