"""Choices of command-line options.

They have a module of their own because the parser of the command ``ilfs`` must not import numpy or scikit-learn. So
``ilfs --help`` and usage errors answer at once.
"""

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
