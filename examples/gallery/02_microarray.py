"""
Genes of a microarray, as a heat map
====================================

A table of 60 patients and 3,000 genes, in two kinds of leukaemia. The table is simulated: two groups of 15 genes work
together, as genes of a pathway do, and differ between the kinds. All other genes are noise.
"""

import numpy as np
import pandas as pd

from ilfs import ILFS

rng = np.random.default_rng(7)
kind = np.repeat(["ALL", "AML"], [38, 22])
levels = rng.normal(size=(60, 3000))
for start, shift in ((0, 2.6), (15, -2.2)):
    pathway = rng.normal(size=60) + shift * (kind == "AML")
    levels[:, start : start + 15] = 0.8 * pathway[:, None] + 0.6 * levels[:, start : start + 15]
names = [f"path{1 + j // 15}_gene{j % 15}" if j < 30 else f"gene{j}" for j in range(3000)]
genes = pd.DataFrame(levels, columns=names)

# %%
# How many genes are better than chance? ``"fdr"`` keeps those with a false discovery rate of at most 5 %.
# ``redundancy=None`` ranks each gene on its own, so that all genes of a pathway are found.
every = ILFS("fdr", redundancy=None, n_permutations=99).fit(genes, kind)
chosen = every.get_feature_names_out()
print(f"{len(chosen)} genes, {sum(name.startswith('path') for name in chosen)} of them in the two pathways")
every.plot.heatmap(genes, kind)

# %%
# A panel for a test needs few genes that do not repeat each other. The default picks one gene after the other, each
# for what it adds, and says which other genes it represents.
panel = ILFS(6).fit(genes, kind)
print(panel.table(top=6).to_text(["rank", "feature", "score", "direction", "nearest"]))
panel.plot.families()
