"""
Pixels that do not repeat each other
====================================

Neighbouring pixels of an image carry the same information. A method that scores pixels one by one takes many of them
from one spot. ``ILFS`` takes pixels that complement each other.

The images are 1,797 handwritten digits of 8 x 8 pixels, which ship with scikit-learn.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ilfs import ILFS, FisherScore

X, y = load_digits(return_X_y=True)
selectors = {"Fisher score, pixel by pixel": FisherScore(10), "ILFS, by what each pixel adds": ILFS(10)}

# %%
# The dots are the ten selected pixels. The colour is the score of each pixel on its own.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, (name, selector) in zip(axes, selectors.items(), strict=True):
    selector.fit(X, y).plot.pixels((8, 8), ax=ax)
    ax.set_title(name, loc="left")

# %%
# Ten pixels chosen in each way, and how many digits a nearest-neighbour classifier then reads correctly. The selector
# is inside the pipeline, so that it sees the training rows only.
for name, selector in selectors.items():
    accuracy = cross_val_score(make_pipeline(selector, KNeighborsClassifier()), X, y, cv=5).mean()
    print(f"{name:30} {accuracy:.2f}")
