"""
Which method suits this table?
==============================

``compare`` ranks the features by several methods, predicts the classes from the best ones, and says which differences
are real. Features drawn at random are the baseline.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from ilfs.report import comparison_text
from ilfs.selection import compare

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
found = compare(["ilfs", "fisher", "mi", "relieff"], X, y, sizes=[1, 2, 4, 8, 16], stability=False)
print(comparison_text(found).split("\n\n")[1])

# %%
# The same numbers as a picture: accuracy of a linear SVM against the number of features.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for m, name in enumerate(found.names):
    ax.plot(found.sizes, found.scores[m, 0].mean(axis=0), marker="o", label=name)
ax.set(xscale="log", xlabel="number of features", ylabel="accuracy", xticks=found.sizes, xticklabels=found.sizes)
ax.legend()
