"""Average precision of the paper's formulas against the number of EM steps, from docs/findings/steps.csv."""

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

# The plot directive runs this script with its own folder as the working folder.
TABLE = next(path for path in (Path("../findings/steps.csv"), Path("docs/findings/steps.csv")) if path.is_file())
SPARSE = ("dexter", "polarity")

values = defaultdict(lambda: defaultdict(list))
with TABLE.open(encoding="utf-8") as lines:
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        values[row["dataset"]][row["method"]].append(float(row["ap_macro"]))

_, axes = plt.subplots(figsize=(7, 3.6))
counts = [int(name.removeprefix("steps_")) for name in values["colon"] if name.startswith("steps_")]
ends = [200, 400]  # places of "converged" and "toolbox" on the axis
for dataset, methods in values.items():
    means = [np.mean(methods[f"steps_{n}"]) for n in counts]
    colour = "#c8553d" if dataset in SPARSE else "#3b6ea5"
    line = {"color": colour, "ls": "--" if dataset == "polarity" else "-", "lw": 1.6 if dataset in SPARSE else 0.9}
    axes.plot([*counts, ends[0]], [*means, np.mean(methods["converged"])], marker=".", **line)
    axes.plot(ends[1], np.mean(methods["toolbox"]), marker="x", color=colour)
height = np.inf
for dataset, start in sorted(
    ((name, np.mean(of["steps_1"])) for name, of in values.items()), key=lambda pair: -pair[1]
):
    height = min(start, height - 2)  # no label on another
    axes.text(0.93, height, dataset, ha="right", va="center", size=6)
axes.set(xscale="log", xlim=(0.45, 600), ylim=(50, 101), ylabel="average precision, %", xlabel="steps of EM")
axes.set_xticks([*counts, *ends], [*map(str, counts), "converged", "topics\nfixed"], size=7)
axes.minorticks_off()
for side in ("top", "right"):
    axes.spines[side].set_visible(False)
