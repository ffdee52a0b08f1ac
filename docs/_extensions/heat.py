"""Decide how the tables of results look: which values are best, and how good each value is within its column or row.

The tables in docs/findings are generated, and each has a title above it. The title says what the numbers are, and so
whether large or small ones are good. A table that is written by hand says it by its first heading, such as *data set
(splits)*. Others are left as they are.
"""

import math
import re
from dataclasses import dataclass, replace

N_SHADES = 8  # heat0 is the worst, heat7 the best; _static/site.css has the colours
MIN_VALUES = 3  # with fewer values to compare, colours say nothing
DATA_SETS = "data set ("  # heading of the data sets of a table with a method in each column, best numbers the largest
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?")


@dataclass(frozen=True)
class Rule:
    """How the cells of a table are coloured: by column, by row, by distance from zero, or by words such as *better*.

    In a table that is coloured by row, a row whose name has the word *rank* has ranks, and small ones are good.
    """

    axis: str
    larger_is_better: bool = True
    is_logarithmic: bool = False


@dataclass(frozen=True)
class Look:
    """Look of one value: its shade (None: no colour), and whether it is among the best."""

    shade: str | None = None
    is_best: bool = False


RULES = (
    (r"Average precision|Balanced accuracy|Accuracy|Macro", Rule("column")),
    (r"The paper's Table [34]", Rule("column")),
    (r"Mean over the data sets / ", Rule("column")),
    (r"Mean rank over", Rule("column", larger_is_better=False)),
    (r"Seconds to order", Rule("column", larger_is_better=False, is_logarithmic=True)),
    (r"Stability of", Rule("column")),
    (r"Ours .*minus|.*ours minus the paper's", Rule("zero")),
    (r"True features among", Rule("row")),
    (r".* against each method", Rule("verdict")),
    (r".*average precision of each class|.*mean of the classes by number", Rule("row")),
)
VERDICTS = {"better": "above3", "worse": "below3"}
UNCOMPARED = {"k", "level", "repeats", "tables", "column", "features with weight"}  # columns that describe the row
NO_METHODS = {"random"}  # takes no time


def rule_of(title, first_heading=""):
    """Return the rule for a table with this title and this heading above its names, None if there is none."""
    by_title = next((rule for pattern, rule in RULES if re.match(pattern, title)), None)
    if by_title is None and first_heading.startswith(DATA_SETS):
        return Rule("row")
    return by_title


def number_in(word):
    """Return the number that a word begins with, or that follows the size in ``20: 85.1``; NaN if there is none."""
    found = NUMBER.match(word.rpartition(": ")[2].strip())
    return float(found[0].replace(",", "")) if found else math.nan


def looks(title, header, rows):
    """Return the look of every value of a table (the first column holds names), None for a table without a rule."""
    rule = rule_of(title, header[0])
    if rule is None:
        return None
    if rule.axis == "verdict":
        return [[verdict_look(word) for word in row] for row in rows]
    values = [
        [math.nan if is_uncompared(j, header[j], row[0], rule) else number_in(word) for j, word in enumerate(row)]
        for row in rows
    ]
    if rule.axis == "zero":
        return looks_around_zero(values)
    if rule.axis == "row":
        return [
            looks_of_line(line, replace(rule, larger_is_better="rank" not in row[0]))
            for line, row in zip(values, rows, strict=True)
        ]
    return [list(row) for row in zip(*(looks_of_line(line, rule) for line in zip(*values, strict=True)), strict=True)]


def is_uncompared(j, column, name, rule):
    """Return True for values that describe a row, that are differences, or times of what takes none."""
    return j == 0 or column in UNCOMPARED or " against " in column or (rule.is_logarithmic and name in NO_METHODS)


def looks_of_line(values, rule):
    """Return the looks of values that are compared with each other."""
    goodness = [oriented(value, rule) for value in values]
    known = [one for one in goodness if not math.isnan(one)]
    if len(known) < MIN_VALUES:
        return [Look()] * len(values)
    low, high = min(known), max(known)
    return [Look() if math.isnan(one) else Look(shade(one, low, high), one == high) for one in goodness]


def oriented(value, rule):
    """Return a number that is larger for a better value."""
    if rule.is_logarithmic:
        value = math.log10(max(value, 1e-3)) if not math.isnan(value) else value
    return value if rule.larger_is_better else -value


def shade(value, low, high):
    """Return the class of a value between the worst and the best one; shades near the best one differ most."""
    part = (value - low) / (high - low) if high > low else 1.0
    return f"heat{min(int(part**2 * N_SHADES), N_SHADES - 1)}"


def verdict_look(word):
    """Return the look of a significant difference."""
    return Look(next((shade for verdict, shade in VERDICTS.items() if verdict in word.split()), None))


def looks_around_zero(values):
    """Return looks of differences: one colour for positive ones, another for negative ones, none for small ones."""
    known = [abs(value) for row in values for value in row if not math.isnan(value)]
    largest = max(known, default=0.0) or 1.0
    return [[difference_look(value / largest) for value in row] for row in values]


def difference_look(part):
    """Return the look of a difference as a part of the largest one."""
    strength = 0 if math.isnan(part) else min(math.ceil(abs(part) * 4), 4)
    return Look(f"{'above' if part > 0 else 'below'}{strength}" if strength else None)
