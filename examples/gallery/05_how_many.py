"""
How many features are enough?
=============================

``n_features_to_select="auto"`` cross-validates a classifier on the best 1, 2, 3, ... features, and keeps as few as
predict nearly as well as any number. The curve shows what it has seen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from ilfs import ILFS

X, y = make_classification(
    n_samples=300, n_features=400, n_informative=8, n_redundant=4, n_clusters_per_class=1, class_sep=0.9, random_state=3
)
selector = ILFS("auto").fit(X, y)
print(int(selector.get_support().sum()), "of 400 features")

# %%
# The shaded band reaches one standard error to each side. The dashed line is the chosen number.
results = selector.cv_results_
sizes, means = results["n_features"], results["mean_test_score"]
errors = results["std_error"]
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.fill_between(sizes, means - errors, means + errors, alpha=0.2)
ax.plot(sizes, means, marker="o")
ax.axvline(selector.get_support().sum(), linestyle="--", color="black")
ax.set(xscale="log", xlabel="number of features", ylabel="cross-validated score")

# %%
# Other rules answer other questions: which features are better than chance, and how many the random walk of ILFS
# returns to.
for rule in ("fdr", "absorption"):
    print(f"{rule:12} {int(ILFS(rule, random_state=0).fit(X, y).get_support().sum())} features")
