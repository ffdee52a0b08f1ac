"""Choices of command-line options.

They are here, and not in the modules that use them, because the parser of the command ``ilfs`` must not import numpy or
scikit-learn: ``ilfs --help`` and a usage error answer at once.
"""

FORMATS = ("text", "markdown", "latex", "csv")  # of tables
METRIC_TITLES = {  # metrics of all classes together
    "ap_macro": "average precision, mean of the classes",
    "ap_majority": "average precision, class with most samples",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1, mean of the classes",
    "auc": "area under the curve",
}
