"""Measure the realised false discovery rate, power and CPU time of selection by q-values, beside other packages.

    make bench-fdr                                            # the whole study, in an environment of its own
    python benchmarks/fdr.py run --methods ilfs fisher        # some methods; finished repeats are skipped
    python benchmarks/fdr.py run --sizes wide --designs counts --repeats 50
    python benchmarks/fdr.py refused                          # methods whose scores are not comparable
    python benchmarks/fdr.py uneven                           # half of the features with few values
    python benchmarks/fdr.py table                            # the tables of docs/certainty.md

A repeat draws a table and labels, and fits every method to them. Some features depend on the labels; the others, and
all features under the global null, do not. The designs differ in the distribution of the values. `run` appends one
line for each repeat and method to a file. `table` writes Markdown tables and a CSV file to docs/findings.

Methods of this library are fitted by `FDRSelector` with 20 permutations. Of the peers, SelectFdr (scikit-learn) and
tsfresh adjust p-values of single features, Boruta compares features with shuffled copies and has no rate to control,
and knockoffs (hidimstat) control the rate of features that matter given all others. The time of a fit is CPU time in
one thread.
"""

import argparse
import csv
import json
import math
import time
import warnings
import zlib
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from scipy.stats import false_discovery_control
from sklearn.feature_selection import f_classif
from threadpoolctl import threadpool_limits

from ilfs import ILFS, list_methods
from ilfs.selection import FDRSelector
from ilfs.text_table import markdown_lines

LEVELS = (0.05, 0.1)
STORE = Path("out/fdr.jsonl")
TABLES = Path(__file__).parents[1] / "docs/findings"


# Designs: each draws values and shifts the features that depend on the labels


def effect(n_samples):
    """Return a shift, in standard deviations, that about two thirds of the tests find in balanced normal data."""
    return 8 / math.sqrt(n_samples)


def independent(rng, y, n_features, true):
    return rng.normal(size=(y.size, n_features)) + effect(y.size) * shift_of(y, true)


def block(rng, y, n_features, true):
    """Draw normal values in blocks of 10 features with a correlation of 0.7."""
    common = np.repeat(rng.normal(size=(y.size, -(-n_features // 10))), 10, axis=1)[:, :n_features]
    values = math.sqrt(0.7) * common + math.sqrt(0.3) * rng.normal(size=(y.size, n_features))
    return values + effect(y.size) * shift_of(y, true)


def log_normal(rng, y, n_features, true):
    return np.exp(independent(rng, y, n_features, true))


def heavy_tailed(rng, y, n_features, true):
    """Draw values of Student's distribution with 3 degrees of freedom."""
    return rng.standard_t(3, size=(y.size, n_features)) + 1.5 * effect(y.size) * shift_of(y, true)


def counts(rng, y, n_features, true):
    """Draw negative binomial counts with means from 2 to 200 that differ between features."""
    mean = np.exp(rng.uniform(math.log(2), math.log(200), n_features))
    return negative_binomial(rng, mean * np.exp(0.7 * effect(y.size) * shift_of(y, true)), 3.0)


def sparse_counts(rng, y, n_features, true):
    """Draw negative binomial counts with means from 0.03 to 1: about 80 % of the values are zero."""
    mean = np.exp(rng.uniform(math.log(0.03), math.log(1), n_features))
    return negative_binomial(rng, mean * np.exp(2.5 * effect(y.size) * shift_of(y, true)), 2.0)


def strong(rng, y, n_features, true):
    """Draw normal values; the features that depend on the labels are far apart and have a common factor."""
    return rng.normal(size=(y.size, n_features)) + np.outer(3 * y + rng.normal(size=y.size), true)


def shift_of(y, true):
    """Return 1 for the features that depend on the labels in rows of the second class, 0 elsewhere."""
    return np.outer(y, true).astype(np.float64)


def negative_binomial(rng, mean, size):
    return rng.poisson(rng.gamma(size, mean / size)).astype(np.float64)


DESIGNS = {
    "independent": independent,
    "block-correlated": block,
    "unbalanced": independent,  # a fifth of the rows are in the second class
    "log-normal": log_normal,
    "heavy-tailed": heavy_tailed,
    "counts": counts,
    "sparse counts": sparse_counts,
}
OTHER_DESIGNS = {"strong": strong}  # for `refused` only


@dataclass(frozen=True)
class Setting:
    """Distribution and size of a table; ``n_true`` features depend on the labels."""

    design: str
    n_samples: int
    n_features: int
    n_true: int

    def draw(self, repeat):
        """Return X, y and the features that depend on y."""
        rng = np.random.default_rng([zlib.crc32(repr(self).encode()), repeat])
        true = np.zeros(self.n_features, dtype=bool)
        true[rng.choice(self.n_features, self.n_true, replace=False)] = True
        y = (np.arange(self.n_samples) % (5 if self.design == "unbalanced" else 2) == 0).astype(int)
        return (DESIGNS | OTHER_DESIGNS)[self.design](rng, y, self.n_features, true), y, true


# Methods: functions of X, y and a seed that return the selected features at each level, and the p-value of the verdict


def by_permutations(selector):
    def select(X, y, seed):
        found = FDRSelector(selector, random_state=seed).fit(X, y)
        return [found.q_values_ <= level for level in LEVELS], found.chance_p_value_

    return select


def by_f_test(X, y, seed):  # noqa: ARG001
    """Select as scikit-learn's SelectFdr(f_classif) does."""
    p_values = f_classif(X, y)[1]
    adjusted = false_discovery_control(np.where(np.isnan(p_values), 1.0, p_values))
    return [adjusted <= level for level in LEVELS], None


def by_tsfresh(X, y, seed):  # noqa: ARG001
    """Select as tsfresh does by default: by its p-values and the procedure of Benjamini and Yekutieli."""
    import pandas as pd
    from tsfresh.feature_selection.relevance import calculate_relevance_table

    frame = pd.DataFrame(X).add_prefix("x")
    found = calculate_relevance_table(frame, pd.Series(y), ml_task="classification", fdr_level=LEVELS[0], n_jobs=0)
    adjusted = false_discovery_control(found["p_value"].reindex(frame.columns).fillna(1.0), method="by")
    return [adjusted <= level for level in LEVELS], None


def by_boruta(X, y, seed):
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", random_state=seed, n_jobs=1)
    found = BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y)
    return [found.support_] * len(LEVELS), None


def by_knockoffs(X, y, seed):
    from hidimstat import ModelXKnockoff

    knockoffs = ModelXKnockoff(random_state=seed)
    knockoffs.fit_importance(X, y.astype(float))
    return [np.asarray(knockoffs.fdr_selection(fdr=level), dtype=bool) for level in LEVELS], None


METHODS = {
    "ilfs": by_permutations(ILFS(redundancy=None)),  # tests the same relevance as the default
    "ilfs_default": by_permutations(ILFS()),  # for the time only
    "fisher": by_permutations("fisher"),
    "mi": by_permutations("mi"),
    "f_classif": by_f_test,
    "tsfresh": by_tsfresh,
    "boruta": by_boruta,
    "knockoffs": by_knockoffs,
}
TITLES = {
    "ilfs": "`ILFS`",
    "ilfs_default": "`ILFS`, and picking of a subset",
    "fisher": "`FisherScore`",
    "mi": "`MutualInformation`",
    "f_classif": "`SelectFdr(f_classif)`",
    "tsfresh": "tsfresh",
    "boruta": "Boruta",
    "knockoffs": "knockoffs",
}
SIZES = {"usual": (100, 1000, 25), "small": (40, 1000, 25), "wide": (40, 10_000, 50)}
REPEATS = dict.fromkeys(METHODS, 200) | {"ilfs_default": 10, "tsfresh": 20, "boruta": 4, "knockoffs": 10}
SLOW = {"tsfresh", "boruta", "knockoffs"}  # fitted at the usual size only
DESIGNS_OF_SLOW = {"independent", "block-correlated", "heavy-tailed", "sparse counts"}
DESIGNS_OF_WIDE = {"independent", "sparse counts"}


# Running


def run(args):
    """Fit the methods to the repeats that are not yet in the file, one setting after the other."""
    args.store.parent.mkdir(exist_ok=True)
    done = {(Setting(*line["setting"]), line["method"], line["repeat"]) for line in lines_of(args.store)}
    for setting in settings_of(args):
        jobs: dict[int, list[str]] = {}
        for name in methods_for(setting, args.methods):
            for repeat in range(args.repeats or REPEATS[name]):
                if (setting, name, repeat) not in done:
                    jobs.setdefault(repeat, []).append(name)
        tasks = (delayed(one_repeat)(setting, repeat, names) for repeat, names in jobs.items())
        for results in Parallel(n_jobs=args.n_jobs, return_as="generator")(tasks):
            with args.store.open("a") as file:
                file.writelines(json.dumps(result) + "\n" for result in results)
        print(f"{time.strftime('%H:%M:%S')} {setting}", flush=True)


def methods_for(setting, names):
    """Return the methods that are fitted in a setting."""
    shape = (setting.n_samples, setting.n_features)
    if shape == SIZES["wide"][:2] and setting.design not in DESIGNS_OF_WIDE:
        return []
    slow_too = shape == SIZES["usual"][:2] and setting.design in DESIGNS_OF_SLOW
    return [name for name in names if slow_too or name not in SLOW]


def settings_of(args):
    """Return the settings of the chosen sizes and designs, with true features and without."""
    shapes = [SIZES[name] for name in args.sizes]
    return [
        Setting(design, n_samples, n_features, true)
        for n_samples, n_features, n_true in shapes
        for design in args.designs
        for true in (n_true, 0)
    ]


def one_repeat(setting, repeat, names):
    """Draw a table, fit some methods to it, and count their true and false discoveries."""
    X, y, true = setting.draw(repeat)
    results = []
    for name in names:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            start = time.process_time()
            selected, p_value = METHODS[name](X, y, repeat)
            seconds = time.process_time() - start
        found = [[int((one & true).sum()), int((one & ~true).sum())] for one in selected]
        results.append(
            {"setting": list(vars(setting).values()), "method": name, "repeat": repeat, "found": found}
            | {"p_value": p_value, "seconds": round(seconds, 4)}
        )
    return results


# Methods that `FDRSelector` refuses


class Unchecked(FDRSelector):
    """Test the scores of any method, comparable between permutations or not."""

    def _check_parameters(self):
        pass


def refused(args):
    """Test the scores of all supervised methods: with many true features, with few, and with strong effects."""
    settings = {
        "40 true": Setting("independent", 60, 200, 40),
        "5 true": Setting("independent", 60, 200, 5),
        "40 strong": Setting("strong", 200, 200, 40),
    }
    lines = [["method", "comparable", *(f"{what}, {title}" for title in settings for what in ("FDR", "power"))]]
    for method in list_methods():
        if method.supervised:
            rates = [rate_of_any(method.name, setting, args.repeats or 40) for setting in settings.values()]
            words = [word for pair in rates for word in pair]
            lines.append([f"`{method.class_name}`", "yes" if method.comparable_scores else "no", *words])
    write("fdr_refused.md", lines)


def rate_of_any(name, setting, n_repeats):
    """Return the realised rate with its interval, and the power, of a method at the level 0.1."""
    proportions, power = [], []
    for repeat in range(n_repeats):
        X, y, true = setting.draw(repeat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selected = Unchecked(name, LEVELS[1], random_state=repeat).fit(X, y).get_support()
        proportions.append((selected & ~true).sum() / max(selected.sum(), 1))
        power.append(selected[true].mean())
    rate, half = mean_with_interval(np.array(proportions))
    words = f"{rate:.3f} ± {half:.3f}"
    return f"**{words}**" if rate - half > LEVELS[1] else words, f"{np.mean(power):.2f}"


def uneven(args):
    """Test features of which half have few values: all together, and the complete features alone."""
    setting = Setting("independent", 60, 400, 40)
    lines = [["method", "features", "FDR", "power for complete features"]]
    for name in ("ilfs", "fisher", "mi"):
        for title, part in (("all together", slice(None)), ("the complete half alone", slice(1, None, 2))):
            rate, power = uneven_rate(name, setting, part, args.repeats or 60)
            lines.append([TITLES[name], title, rate, f"{power:.2f}"])
    write("fdr_uneven.md", lines)


def uneven_rate(name, setting, part, n_repeats):
    """Return the realised rate at the level 0.1, and the power for features without missing values."""
    proportions, power = [], []
    for repeat in range(n_repeats):
        X, y, true = setting.draw(repeat)
        few = X[:, ::2]
        few[np.random.default_rng(repeat).random(few.shape) < 0.85] = np.nan
        selected = np.zeros(true.size, dtype=bool)
        selected[part] = FDRSelector(name, LEVELS[1], random_state=repeat).fit(X[:, part], y).get_support()
        proportions.append((selected & ~true).sum() / max(selected.sum(), 1))
        power.append(selected[1::2][true[1::2]].mean())
    return "{:.3f} ± {:.3f}".format(*mean_with_interval(np.array(proportions))), np.mean(power)


def lines_of(store):
    """Read the results; two runs at the same time may have written a repeat twice."""
    lines = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    return list({(*line["setting"], line["method"], line["repeat"]): line for line in lines}.values())


# Tables


def summary_of(setting, method, lines):
    """Summarise the repeats of a method: rates with 95 % confidence intervals, power, CPU seconds."""
    row = {"design": setting.design, "samples": setting.n_samples, "features": setting.n_features}
    row |= {"true": setting.n_true, "method": method, "repeats": len(lines)}
    for i, level in enumerate(LEVELS):
        true, false = np.array([line["found"][i] for line in lines]).T
        rate, half = mean_with_interval(false / np.maximum(true + false, 1))
        row |= {f"fdr_{level}": rate, f"half_{level}": half, f"power_{level}": true.mean() / max(setting.n_true, 1)}
        verdicts = np.array([line["p_value"] <= level for line in lines if line["p_value"] is not None], dtype=float)
        row[f"verdict_{level}"], row[f"verdict_half_{level}"] = mean_with_interval(verdicts)
    seconds = [line["seconds"] for line in lines if line["seconds"] is not None]
    return row | {"seconds": float(np.median(seconds)) if seconds else math.nan}


def mean_with_interval(values):
    """Return the mean and half the width of its 95 % confidence interval.

    Proportions of 0 and 1 have an interval by the rule of Agresti and Coull, which is not empty if all of them are 0.
    """
    if not values.size:
        return math.nan, math.nan
    if set(np.unique(values)) <= {0.0, 1.0}:
        centre = (values.sum() + 2) / (values.size + 4)
        return float(values.mean()), float(1.96 * math.sqrt(centre * (1 - centre) / (values.size + 4)))
    error = values.std(ddof=1) / math.sqrt(values.size)
    return float(values.mean()), float(stats.t.ppf(0.975, values.size - 1) * error)


def summaries(store):
    """Return a row for each setting and method."""
    lines = sorted(lines_of(store), key=lambda line: (line["setting"], line["method"]))
    return [
        summary_of(Setting(*setting), method, list(group))
        for (setting, method), group in groupby(lines, key=lambda line: (line["setting"], line["method"]))
    ]


def table(args):
    """Write the tables of the documentation, and all numbers as CSV."""
    rows = summaries(args.store)
    with (TABLES / "fdr.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: rounded(value) for key, value in row.items()} for row in rows)
    for title, shape in SIZES.items():
        chosen = [
            row for row in rows if (row["samples"], row["features"]) == shape[:2] and row["method"] != "ilfs_default"
        ]
        if chosen:
            write(f"fdr_{title}.md", control_table(chosen))
            write(f"fdr_{title}_null.md", null_table(chosen))
    write("fdr_overall.md", overall_table(lines_of(args.store)))
    write("fdr_seconds.md", seconds_table(rows))


def control_table(rows):
    """Tabulate the realised rate and the power at both levels, for tables with true features."""
    lines = [
        ["design", "method", "repeats", *(f"{what} at {level:g}" for level in LEVELS for what in ("FDR", "power"))]
    ]
    for row in ordered(row for row in rows if row["true"]):
        values = [word for level in LEVELS for word in (interval(row, level), f"{row[f'power_{level}']:.2f}")]
        lines.append([row["design"], TITLES[row["method"]], str(row["repeats"]), *values])
    return lines


def null_table(rows):
    """Tabulate how often anything is selected, and the verdict, for tables without true features."""
    lines = [["design", "method", "repeats", *(f"any at {level:g}" for level in LEVELS)]]
    lines[0] += [f"verdict at {level:g}" for level in LEVELS]
    for row in ordered(row for row in rows if not row["true"]):
        any_selected = [interval(row, level) for level in LEVELS]
        verdicts = [interval(row, level, "verdict", "verdict_half") for level in LEVELS]
        lines.append([row["design"], TITLES[row["method"]], str(row["repeats"]), *any_selected, *verdicts])
    return lines


def overall_table(lines):
    """Tabulate the rates over all settings together, for the methods that are fitted in all of them."""
    header = ["method", "level", "tables", "FDR", "tables without true features", "any", "verdict"]
    table = [header]
    for method in METHODS:
        if method in SLOW or method == "ilfs_default":
            continue
        for level in LEVELS:
            counts = {}
            for has_true in (True, False):
                chosen = [line for line in lines if line["method"] == method and bool(line["setting"][3]) is has_true]
                row = summary_of(Setting("all", 0, 0, int(has_true)), method, chosen)
                counts[has_true] = (str(row["repeats"]), interval(row, level))
            verdict = interval(row, level, "verdict", "verdict_half")
            table.append([TITLES[method], f"{level:g}", *counts[True], *counts[False], verdict])
    return table


def seconds_table(rows):
    """Tabulate the median CPU seconds of a fit over the designs with true features."""
    shapes = list(SIZES.values())
    lines = [["method", *(f"{m} x {n:,}" for m, n, _ in shapes)]]
    for method in METHODS:
        of_method = [row for row in rows if row["method"] == method and row["true"]]
        of_shape = [
            [row["seconds"] for row in of_method if row["features"] == n and row["samples"] == m] for m, n, _ in shapes
        ]
        if of_method:
            lines.append([TITLES[method], *(f"{np.nanmedian(one):.2g}" if one else "" for one in of_shape)])
    return lines


def ordered(rows):
    """Sort rows by design and method, in the order in which they are defined."""
    return sorted(rows, key=lambda row: (list(DESIGNS).index(row["design"]), list(METHODS).index(row["method"])))


def interval(row, level, what="fdr", half="half"):
    """Format a rate with its interval; one that is significantly above the level is bold."""
    rate, half = row[f"{what}_{level}"], row[f"{half}_{level}"]
    if math.isnan(rate):
        return ""
    words = f"{rate:.3f} ± {half:.3f}"
    return f"**{words}**" if rate - half > level else words


def rounded(value):
    return f"{value:.4f}" if isinstance(value, float) else value


def write(name, lines):
    text = "\n".join(markdown_lines(lines, [False, False] + [True] * (len(lines[0]) - 2))) + "\n"
    (TABLES / name).write_text(text)
    print(f"{name}\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    runs, tables, others, halves = (commands.add_parser(name) for name in ("run", "table", "refused", "uneven"))
    for command in (runs, tables):
        command.add_argument("--store", type=Path, default=STORE)
    for command in (runs, others, halves):
        command.add_argument("--repeats", type=int, help="by default 200, and 4 to 20 for slow methods")
    runs.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    runs.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    runs.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    runs.add_argument("--n-jobs", type=int, default=1)
    runs.set_defaults(command=run)
    tables.set_defaults(command=table)
    others.set_defaults(command=refused)
    halves.set_defaults(command=uneven)
    args = parser.parse_args()
    args.command(args)


if __name__ == "__main__":
    main()
