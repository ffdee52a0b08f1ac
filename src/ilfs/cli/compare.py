"""``ilfs compare``: which method for this table."""

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

from ilfs.choices import DEFAULT_FOLDS, DEFAULT_HALF_SAMPLES, DEFAULT_REPEATS, N_COMPARED_RANKS, RESULT_FORMATS
from ilfs.cli import method_options, outputs, table_options
from ilfs.words import counted

if TYPE_CHECKING:  # importing scikit-learn takes longer than the help text
    from ilfs.selection import Comparison
    from ilfs.selection.comparing import CompareProgress

DEFAULT_METHODS = ("ilfs", "fisher", "mi", "relieff")
COMPARISON_ENDINGS = {"output": (".csv", ".json"), "rankings": (".csv",), "report": (".html", ".htm")}
USAGE = "ilfs compare INPUT [--target COLUMN] [--methods NAME ...] [options]"
EXAMPLES = """examples:
  ilfs compare expression.csv --target tumour
  ilfs compare expression.csv --target tumour --methods ilfs fisher relieff --report methods.html
  ilfs compare expression.csv --target tumour --sizes 5 20 50 --folds 10 --repeats 5 --jobs -1
  ilfs compare table.csv --target y --groups donor --metric balanced_accuracy -o performance.csv
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs compare``."""
    parser = commands.add_parser(
        "compare",
        help="compare methods on a table: which one to use",
        usage=USAGE,
        description="Compare methods on a table: their rankings, how well classifiers predict the classes from the "
        "best features (chosen inside\nthe folds), how stable these features are, and the time. A method that cannot "
        "take the table is left out with its reason.",
        epilog=EXAMPLES,
    )
    table_options.add_table(parser)
    add_protocol(parser)
    add_showing(parser)
    add_files(parser)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes (1; -1: one per core)")
    parser.set_defaults(
        function=compare,
        stopped="stopped, and nothing is saved of an unfinished comparison",
        engine="memory",
        memory_limit=None,
    )


def add_protocol(parser: argparse.ArgumentParser) -> None:
    """Add the options on what is compared, and how."""
    group = parser.add_argument_group("what is compared")
    group.add_argument(
        "--methods",
        nargs="+",
        action="extend",
        metavar="NAME",
        help=f"methods, see ilfs methods ({' '.join(DEFAULT_METHODS)})",
    )
    group.add_argument("--sizes", nargs="+", type=int, metavar="K", help="numbers of features (about 12, up to 500)")
    group.add_argument("--folds", type=int, default=DEFAULT_FOLDS, metavar="N", help=f"folds ({DEFAULT_FOLDS})")
    group.add_argument(
        "--repeats", type=int, default=DEFAULT_REPEATS, metavar="N", help=f"divisions into folds ({DEFAULT_REPEATS})"
    )
    group.add_argument(
        "--metric", metavar="NAME", help="a metric of scikit-learn such as balanced_accuracy or f1_macro (accuracy)"
    )
    group.add_argument(
        "--top",
        type=int,
        metavar="K",
        help="best features for overlap and stability (20, or a fifth of fewer than 100 features)",
    )
    group.add_argument(
        "--half-samples",
        type=int,
        default=DEFAULT_HALF_SAMPLES,
        metavar="N",
        help=f"half-samples for the stability, an even number ({DEFAULT_HALF_SAMPLES}; 0: not measured)",
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all random numbers (0)")


def add_showing(parser: argparse.ArgumentParser) -> None:
    """Add the options on what is printed."""
    group = parser.add_argument_group("what is printed")
    group.add_argument(
        "--show", type=int, default=N_COMPARED_RANKS, metavar="N", help=f"features to print ({N_COMPARED_RANKS})"
    )
    group.add_argument(
        "--format", choices=RESULT_FORMATS, default="text", help="csv: the performance; json: all (text)"
    )
    group.add_argument("--json", action="store_const", const="json", dest="format", help="short for --format json")
    group.add_argument("--quiet", action="store_true", help="print nothing but the comparison")


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options that name files to write."""
    group = parser.add_argument_group("files that are written")
    group.add_argument("-o", "--output", metavar="FILE", help="the performance (.csv), or all numbers (.json)")
    group.add_argument("--rankings", metavar="FILE.csv", help="the rank of every feature under each method")
    group.add_argument("--report", metavar="FILE.html", help="a page to look at and to send")


def compare(options: argparse.Namespace) -> int:
    """Compare methods on a table, print the result and write the files."""
    from ilfs.cli import showing
    from ilfs.cli.talk import set_aside_sentences

    path = table_options.input_of(options)
    check(options, path)
    methods = method_names(options)
    talk = showing.Talk(quiet=options.quiet)
    table = table_options.open_prepared(path, options)
    talk.tell("input", showing.described(table))
    talk.tell_all("guessed", table.guesses)
    found = compared(methods, table, options)
    about = document_head(table, options)
    print(formatted(found, options, about))
    if options.format != "text":
        talk.tell_all("left out", [f"{one.name}: {one.reason}" for one in found.left_out])
    talk.tell_all("set aside", set_aside_sentences(table.set_aside, talk.terminal.ellipsis))
    talk.tell_all("warning", table.warnings)
    talk.tell_all("written", write_files(found, table, options, about))
    return 0


def method_names(options: argparse.Namespace) -> list[str]:
    """Return the names of the methods, each once; ``--methods ilfs,fisher`` names two."""
    from ilfs.registry import make_selector

    names = method_options.distinct_names(options.methods) or list(DEFAULT_METHODS)
    for name in names:
        make_selector(name)  # a wrong name is an error before the table is read
    return names


def check(options: argparse.Namespace, path: str) -> None:
    """Validate the options before the table is read."""
    from ilfs.files import check_writable
    from ilfs.parameters import check_integer

    least = {"folds": 2, "repeats": 1, "show": 1, "half_samples": 0, "seed": 0}
    for name, smallest in least.items():
        check_integer(f"--{name.replace('_', '-')}", getattr(options, name), smallest)
    if options.half_samples % 2:
        raise ValueError(f"--half-samples must be an even number, got {options.half_samples}")
    if options.top is not None:
        check_integer("--top", options.top, 1)
    if options.jobs == 0:
        raise ValueError("--jobs must be an integer other than 0, got 0")
    check_metric(options.metric)
    given = {name: getattr(options, name) for name in COMPARISON_ENDINGS if getattr(options, name) is not None}
    for name, file in given.items():
        outputs.check_ending(name, file, COMPARISON_ENDINGS[name])
        check_writable(file)
    outputs.check_different(given, path)


def check_metric(name: str | None) -> None:
    """Raise an error if scikit-learn has no such metric."""
    if name is None:
        return
    from difflib import get_close_matches

    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ", such as balanced_accuracy"
        raise ValueError(f"--metric must be a metric of scikit-learn, got {name!r}{hint}")


def compared(methods: list[str], table: Any, options: argparse.Namespace) -> "Comparison":
    """Run the comparison, with a line of progress."""
    from ilfs.selection import compare

    with progress_line(options.quiet) as line:
        return compare(
            methods,
            table.source,
            sizes=options.sizes,
            cv=options.folds,
            n_repeats=options.repeats,
            scoring=options.metric,
            k=options.top,
            stability=options.half_samples or False,
            groups=table.groups,
            random_state=options.seed,
            n_jobs=options.jobs,
            progress=line,
        )


def progress_line(quiet: bool) -> Any:
    """Make the line that shows the progress; the time left counts from the first fold."""
    from ilfs.cli.progress import ProgressLine

    class CompareLine(ProgressLine):
        began = time.monotonic()

        def __call__(self, progress: "CompareProgress") -> None:
            if not progress.fraction:  # the fits on all rows, after which the work is known
                self.began = time.monotonic()
            self.show(progress.doing, progress.fraction, time.monotonic() - self.began)

    return CompareLine(quiet=quiet)


def document_head(table: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Return what a JSON document tells about the input."""
    return {
        "command": options.command,
        "input": table.name,
        "target": table.target,
        "guesses": list(table.guesses),
        "warnings": list(table.warnings),
        "set_aside": [{"name": one.name, "reason": one.reason} for one in table.set_aside],
    }


def formatted(found: "Comparison", options: argparse.Namespace, about: dict[str, Any]) -> str:
    """Format the comparison for stdout."""
    from ilfs.report.comparison import comparison_json, comparison_text, performance_csv
    from ilfs.report.comparison.text import MAX_LINE_WIDTH
    from ilfs.report.terminal import width_of

    if options.format == "json":
        return comparison_json(found, about)
    if options.format == "csv":
        return performance_csv(found)
    return comparison_text(found, options.show, min(width_of(sys.stdout), MAX_LINE_WIDTH))


def write_files(found: "Comparison", table: Any, options: argparse.Namespace, about: dict[str, Any]) -> list[str]:
    """Write the files; return a sentence on each."""
    from ilfs.report.comparison import write_compared_ranks, write_comparison, write_comparison_page

    written = []
    if options.output is not None:
        write_comparison(found, options.output, about)
        what = "all numbers" if options.output.lower().endswith(".json") else "performance of each method"
        written.append(f"{options.output}: {what}")
    if options.rankings is not None:
        write_compared_ranks(found, options.rankings)
        written.append(f"{options.rankings}: the ranks of all {counted(found.n_features, 'feature')}")
    if options.report is not None:
        aside = [(one.name, one.reason) for one in table.set_aside]
        write_comparison_page(
            found,
            options.report,
            command=options.command,
            input_name=table.name,
            set_aside=aside,
            warnings=table.warnings,
            notes=table.guesses,
        )
        written.append(f"{options.report}: the page, open it in a browser")
    return written
