"""Two features: their values by class, how well they represent each sample, and the tokens."""

import matplotlib.pyplot as plt
import numpy as np

from ilfs import ILFS

rng = np.random.default_rng(3)
y = np.repeat([0, 1], 60)
X = rng.normal(size=(120, 2))
X[y == 1, 0] += 2.2

selector = ILFS(class_weight=None).fit(X, y)
means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
variance = sum(((X[y == k] - means[k]) ** 2).sum(axis=0) for k in (0, 1)) / (y.size - 2)
left_out = np.array([60, 60])[y][:, None] / (np.array([60, 60])[y][:, None] - 1)
own, other = ((X - means[y]) * left_out) ** 2, (X - means[1 - y]) ** 2
rho = 1 / (1 + np.exp(-(other - own) / (2 * variance)))

figure, axes = plt.subplots(2, 3, figsize=(8.5, 4.2), width_ratios=[1.1, 1.3, 1])
for f, (name, (values, evidence, counts)) in enumerate(zip(("informative", "noise"), axes, strict=True)):
    bins = np.linspace(X[:, f].min(), X[:, f].max(), 22)
    for k, colour in enumerate(("#3b6ea5", "#c8553d")):
        values.hist(X[y == k, f], bins, alpha=0.6, color=colour, label=f"class {k}")
        evidence.plot(X[y == k, f], rho[y == k, f], ".", color=colour, ms=4)
    values.set(title=f"{name}: values", yticks=[])
    evidence.set(title="how well represented", ylim=(0, 1), yticks=np.arange(7) / 6)
    evidence.set_yticklabels(["0", "", "", "1/2", "", "", "1"])
    evidence.grid(axis="y", lw=0.4)
    counts.bar(np.arange(1, 7), selector.token_counts_[f], color="#7a7a7a")
    counts.set(title=f"tokens; relevance {selector.relevance_[f]:.2f}", xticks=range(1, 7))
axes[0, 0].legend(frameon=False, fontsize=7)
