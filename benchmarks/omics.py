"""Measure `ilfs.omics.rank` beside scanpy: speed, and false markers if the donors of the cells are ignored.

    python benchmarks/omics.py speed
    python benchmarks/omics.py donors

Needs scanpy: pip install scanpy. The tables are written to docs/findings. All data are simulated by
`ilfs.datasets.make_cells`. Speed is CPU time of one thread on 20,000 cells and 2,000 genes, in one run; numba compiles
before. The 30 groups are the five cell types of each of six donors. False markers are genes with an adjusted p-value of
at most 0.05 in data in which no gene depends on the group.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scanpy as sc

import ilfs
from ilfs.datasets import make_cells

TABLES = Path(__file__).parent.parent / "docs" / "findings"
ROUNDS = 20  # data sets for false markers
LEVEL = 0.05
DONOR_EFFECTS = (0.0, 0.3, 0.8)


def write(name, header, rows):
    """Print a Markdown table and write it to a file."""
    lines = [header, "|---|" + "---:|" * (header.count("|") - 2), *("| " + " | ".join(row) + " |" for row in rows)]
    (TABLES / name).write_text("\n".join(lines) + "\n")
    print(*lines, sep="\n")


def speed():
    big = make_cells(20_000, 2_000)
    big.obs["state"] = (big.obs["donor"].astype(str) + " " + big.obs["cell_type"].astype(str)).astype("category")
    functions = {
        "`ilfs.omics.rank`, without p-values": lambda *of: ilfs.omics.rank(*of, n_permutations=0),
        "`ilfs.omics.rank`, 20 permutations": ilfs.omics.rank,
        "scanpy, t-test": lambda *of: sc.tl.rank_genes_groups(*of, method="t-test", pts=True),
        "scanpy, Wilcoxon": lambda *of: sc.tl.rank_genes_groups(*of, method="wilcoxon", pts=True),
    }
    for function in functions.values():
        function(make_cells(2_000, 100), "cell_type")
    seconds = {groupby: {} for groupby in ("cell_type", "state")}
    for groupby, of_groups in seconds.items():
        for name, function in functions.items():
            start = time.process_time()
            function(big, groupby)
            of_groups[name] = time.process_time() - start
            print(name, groupby, f"{of_groups[name]:.1f}", flush=True)
    rows = []
    for name in functions:
        pairs = [(one[name], one[name] / one["scanpy, Wilcoxon"]) for one in seconds.values()]
        rows.append((name, *(text for spent, ratio in pairs for text in (f"{spent:.1f}", f"{ratio:.2f}"))))
    header = "5 groups | relative to Wilcoxon | 30 groups | relative to Wilcoxon"
    write("omics_speed.md", f"| function | {header} |", rows)


def significant(adata, key):
    """Return the number of genes of each group with a small adjusted p-value."""
    found = adata.uns[key]["pvals_adj"]
    return [int((found[group] <= LEVEL).sum()) for group in found.dtype.names]


def methods(adata, groupby, donor_key):
    """Return the numbers of significant genes of each group by each method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ilfs.omics.rank(adata, groupby)
        if donor_key:
            ilfs.omics.rank(adata, groupby, donor_key=donor_key, key_added="within")
        for key in ("t-test", "wilcoxon", "tied"):
            method = "wilcoxon" if key == "tied" else key
            sc.tl.rank_genes_groups(adata, groupby, method=method, key_added=key, tie_correct=key == "tied")
    keys = ["ilfs", *(["within"] if donor_key else []), "t-test", "wilcoxon", "tied"]
    return {key: significant(adata, key) for key in keys}


NAMES = {
    "ilfs": "`ilfs.omics.rank`, donors ignored",
    "within": '`ilfs.omics.rank`, `donor_key="donor"`',
    "t-test": "scanpy, t-test",
    "wilcoxon": "scanpy, Wilcoxon",
    "tied": "scanpy, Wilcoxon, `tie_correct=True`",
}


def donors():
    found = {}
    for effect in DONOR_EFFECTS:
        cells = (make_cells(1000, 300, marker_fold=1.0, donor_effect=effect, random_state=i) for i in range(ROUNDS))
        counts = [methods(adata, "cell_type", "donor") for adata in cells]
        for key in NAMES:
            of_method = np.array([one[key] for one in counts], dtype=float)
            found[key, effect] = f"{(of_method > 0).mean():.0%} ({of_method.mean():.2f})"
    rows = [(name, *(found[key, effect] for effect in DONOR_EFFECTS)) for key, name in NAMES.items()]
    header = " | ".join(f"donor effect {effect:g}" for effect in DONOR_EFFECTS)
    write("omics_donors.md", f"| method | {header} |", rows)
    nested(), power()


def nested():
    """Compare two halves of the donors, between which nothing differs but the donors themselves."""
    counts = []
    for seed in range(ROUNDS):
        adata = make_cells(1000, 300, marker_fold=1.0, random_state=seed)
        adata.obs["state"] = np.where(adata.obs["donor"].isin(["donor 1", "donor 2", "donor 3"]), "case", "control")
        counts.append(methods(adata, "state", None))
    means = {key: np.mean([one[key][0] for one in counts]) for key in counts[0]}
    print("cases and controls, donors differ:", {key: f"{mean:.1f} of 300" for key, mean in means.items()})


def power():
    """Count the markers that are found among the true ones, with and without donors."""
    found = {key: [] for key in NAMES}
    for seed in range(ROUNDS // 4):
        adata = make_cells(1000, 300, marker_fold=4.0, random_state=seed)
        methods(adata, "cell_type", "donor")
        for key in NAMES:
            result = adata.uns[key]
            for group in result["names"].dtype.names:
                true = [group in adata.var.loc[name, "marker_of"] for name in result["names"][group]]
                found[key].append(np.mean(result["pvals_adj"][group][true] <= LEVEL))
    print("weak markers found:", {key: f"{np.mean(some):.2f}" for key, some in found.items()})


if __name__ == "__main__":
    {"speed": speed, "donors": donors}[sys.argv[1]]()
