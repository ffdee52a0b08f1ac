"""
Features that tell the class only together
==========================================

Some genes matter in pairs: the patient is ill if both are high or both are low, and neither gene alone tells
anything. Methods that look at one feature at a time cannot find them. This example plants three such pairs, and looks
for them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ilfs import ILFS, FisherScore
from ilfs.interactions import find_interactions

rng = np.random.default_rng(2)
values = rng.normal(size=(600, 200))
names = [f"gene{j}" for j in range(200)]
pairs = [("gene7", "gene30"), ("gene7", "gene81"), ("gene120", "gene150")]
genes = pd.DataFrame(values, columns=names)
products = np.column_stack([genes[a] * genes[b] for a, b in pairs])
kind = np.where(products[np.arange(600), rng.integers(3, size=600)] > 0, "ill", "healthy")

# %%
# Ranked one by one, the planted genes are anywhere in the list.
alone = FisherScore().fit(genes, kind)
print({name: int(alone.ranking_[names.index(name)]) for name in ("gene7", "gene30", "gene81", "gene120", "gene150")})

# %%
# All pairs are searched. Each of the three planted ones is found.
found = find_interactions(genes, kind)
print(found.table())

# %%
# Two of the genes, and the classes of the samples: the colours prefer opposite quarters.
figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
for name, colour in (("healthy", "#0072b2"), ("ill", "#d55e00")):
    ax.scatter(genes.gene120[kind == name], genes.gene150[kind == name], s=9, c=colour, label=name, alpha=0.7)
ax.set(xlabel="gene120", ylabel="gene150")
ax.legend(loc="upper right")

# %%
# A selector that looks for pairs draws them as a network.
ILFS(6, interactions=2).fit(genes, kind).plot.interactions()
