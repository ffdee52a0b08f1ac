"""
Would other patients give the same genes?
=========================================

``stability`` selects features on random halves of the rows, and counts how often each one is chosen. A list whose
features change from half to half will hardly be confirmed by the next study.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from ilfs import ILFS
from ilfs.selection import stability

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
found = stability(ILFS(), X, y, k=6, random_state=0)
print(found)

# %%
# How often each feature is among the first six.
chosen = found.selection_frequency.argsort()[::-1][:12]
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.barh(X.columns[chosen], found.selection_frequency[chosen], color="#0072b2")
ax.invert_yaxis()
ax.set(xlabel="fraction of the halves in which the feature is selected", xlim=(0, 1))
