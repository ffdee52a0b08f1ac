"""Count the orders that change with rows, labels, storage, blocks or threads: the table of docs/robustness.md.

    make robustness

The tables and the changes are those of the tests (tests/metamorphic.py). The optional argument is the number of tables
of each kind.
"""

import sys
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))
metamorphic = import_module("metamorphic")
CONFIGURATIONS = import_module("configurations").CONFIGURATIONS


def main() -> None:
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    warnings.simplefilter("ignore")
    tried, changed = Counter(), Counter()
    for selector in CONFIGURATIONS:
        name = type(selector).__name__
        which, n = metamorphic.count_changed_orders(selector, range(n_tables))
        tried[name] += n
        changed[name] += which.total()
        if which:
            print(f"{selector!r}: {dict(which)}", file=sys.stderr)
    print("| method | comparisons | orders that changed |\n|---|---|---|")
    for name, n in tried.items():
        print(f"| {name} | {n:,} | {changed[name]} |")
    print(f"| **all** | {tried.total():,} | {changed.total()} |")


if __name__ == "__main__":
    main()
