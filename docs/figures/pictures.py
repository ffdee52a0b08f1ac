"""Draw the pictures of docs/pictures.md, from data that scikit-learn has.

``python docs/figures/pictures.py`` draws them again. The selectors are those of the page.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_digits

from ilfs import ILFS
from ilfs.report.plots import write_plot

HERE = Path(__file__).parent
# Without random names and dates in the files, equal pictures are equal files.
matplotlib.rcParams["svg.hashsalt"] = "ilfs"
METADATA = {"Date": None, "Creator": None}


def main():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    kind = y.map({0: "malignant", 1: "benign"})
    plot = ILFS(n_features_to_select=6, n_permutations=99).fit(X, kind).plot
    draw("scores", 7.2, 5.0, plot.scores, 14)
    draw("curve", 6.4, 3.4, plot.curve)
    draw("volcano", 7.2, 4.6, plot.volcano)
    draw("families", 8.4, 2.8, plot.families)
    draw("heatmap", 8.4, 3.4, plot.heatmap, X, kind)
    digits = load_digits()
    draw("pixels", 5.2, 4.6, ILFS(n_features_to_select=12).fit(digits.data, digits.target).plot.pixels, (8, 8))
    draw("interactions", 6.4, 3.2, interacting().plot.interactions)
    selector = ILFS(n_features_to_select=6, n_permutations=99).fit(X, kind)
    print(write_plot(selector, HERE / "picture_overview.svg", X, kind))


def interacting():
    """Fit the example of the page: x0 and x1 tell the class of half of the samples, x1 and x2 that of the others."""
    genes = np.random.default_rng(0).normal(size=(400, 30))
    rule = np.where(np.arange(400) % 2, genes[:, 0] * genes[:, 1], -genes[:, 1] * genes[:, 2])
    return ILFS(6, interactions=2).fit(genes, np.where(rule > 0, "tumour", "normal"))


def draw(name, width, height, picture, *arguments):
    """Write a picture as an SVG file of a size in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    picture(*arguments, ax=figure.subplots())
    path = HERE / f"picture_{name}.svg"
    figure.savefig(path, metadata=METADATA)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
