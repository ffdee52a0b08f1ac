"""
A first ranking
===============

Which measurements of a tumour tell whether it is malignant? Rank them, see how sure the ranking is, and draw it.

The table ships with scikit-learn: 569 tumours, 30 measurements of each.
"""

import textwrap

from sklearn.datasets import load_breast_cancer

from ilfs import ILFS

cancer = load_breast_cancer(as_frame=True)
X, kind = cancer.data, cancer.target.map({0: "malignant", 1: "benign"})

# %%
# Six features are kept. The labels are permuted 99 times, to see what chance alone would give.
selector = ILFS(n_features_to_select=6, n_permutations=99).fit(X, kind)
table = selector.table(top=6)
print(table.to_text(["rank", "feature", "score", "q_value", "direction", "effect"]))

# %%
# The bars of the selected features are in full colour, and each colour stands for the class in which the feature is
# higher. The small curve shows the relevance of all 30 features, by which the candidates are found.
selector.plot.scores(top=14)

# %%
# Effect against certainty. All features at the top have the smallest q-value that 99 permutations can give.
selector.plot.volcano()

# %%
# Why is a feature where it is?
print(textwrap.fill(str(selector.explain("worst texture")), 95))
