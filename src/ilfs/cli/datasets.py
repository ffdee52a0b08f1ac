"""``ilfs datasets``: list the data sets that are known by name; its actions describe and fetch them."""

import argparse
import sys
import time
from typing import Any

from ilfs.cli import layers

DOWNLOAD_LINE_CHARACTERS = 70  # of the line of progress, which covers a longer one before it
LEGEND = [
    "standing: the same data as in the paper or the source (exact), some of the rows (partial), built again by the "
    "recipe (rebuilt), other data in their place (substitute), or synthetic (made).",
    "here: on disk (yes), computed when loaded (made), downloaded when loaded (OpenML, mirror), to be fetched by "
    "ilfs datasets fetch NAME (fetch), or to be obtained by you (no): see ilfs datasets show NAME.",
]

EXAMPLES = """\
examples:
  ilfs datasets                       # the list
  ilfs datasets show colon
  ilfs datasets fetch colon dexter    # or --all: those of the paper
  ilfs datasets --properties colon mine.csv
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs datasets`` and its actions; without an action it prints the list."""
    from ilfs.choices import FORMATS

    parser = commands.add_parser(
        "datasets",
        help="list, describe and fetch the data sets that are known by name",
        description="List the data sets that are known by name, and say which ones are here.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="format of the list (text)")
    parser.add_argument(
        "--properties",
        nargs="*",
        metavar="NAME",
        help="measure the properties of the paper's Table 1 instead: names or paths of files (the paper's data sets)",
    )
    parser.set_defaults(function=print_list)
    actions = parser.add_subparsers(metavar="ACTION")
    add_show(actions)
    add_fetch(actions)
    layers.add_to(actions)


def add_show(actions: Any) -> None:
    """Add ``ilfs datasets show``."""
    parser = actions.add_parser(
        "show",
        help="print what is known of one data set",
        description="Print what is known of a data set: its source, size and classes, and whether it is here.",
    )
    parser.add_argument("name", metavar="NAME", help="a name from the list")
    parser.set_defaults(function=print_one)


def add_fetch(actions: Any) -> None:
    """Add ``ilfs datasets fetch``."""
    parser = actions.add_parser(
        "fetch",
        help="fetch or build data sets from public sources",
        description="Fetch or build data sets from public sources, verify them, and store them in the\n"
        "cache folder. Prints one line for each on stdout: status, name, and file or\n"
        "reason. The exit code is 1 if one failed.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="names from the list")
    parser.add_argument("--all", action="store_true", help="all data sets of the paper")
    parser.add_argument(
        "--from", dest="folder", metavar="FOLDER", help="use files that you have downloaded; nothing is downloaded"
    )
    parser.add_argument("--again", action="store_true", help="fetch also what is there already")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(function=fetch_all)


def print_list(options: argparse.Namespace) -> int:
    """Print the list of data sets, or the properties of some."""
    if options.properties is not None:
        return print_properties(options)
    from ilfs.datasets import REGISTRY
    from ilfs.datasets.loading import whereabouts
    from ilfs.text_table import Grid

    rows = [
        [
            spec.name,
            spec.title,
            spec.paper and spec.paper.row,
            spec.samples,
            spec.features,
            spec.classes,
            spec.standing,
            whereabouts(spec),
        ]
        for spec in REGISTRY.values()
    ]
    header = ["name", "title", "paper", "samples", "features", "classes", "standing", "here"]
    print(Grid("Data sets by name", header, rows, notes=LEGEND).render(options.format, spreadsheet_safe=True))
    return 0


def print_properties(options: argparse.Namespace) -> int:
    """Print the properties of data sets beside the paper's; a named one that is not available is an error."""
    from ilfs.benchmark.paper_tables import dataset_rows
    from ilfs.datasets import load, measure_properties
    from ilfs.report.datasets import properties_grid

    measured: dict[str, Any] = {}
    for name in options.properties or dataset_rows():
        try:
            measured[name] = measure_properties(load(name))
        except (OSError, ValueError):  # not here, or not what it should be
            if options.properties:
                raise
            measured[name] = None
    print(properties_grid(measured).render(options.format, spreadsheet_safe=True))
    return 0


def print_one(options: argparse.Namespace) -> int:
    """Print what is known of one data set."""
    from ilfs.datasets.describe import description
    from ilfs.datasets.naming import registered

    print(description(registered(options.name)))
    return 0


def fetch_all(options: argparse.Namespace) -> int:
    """Fetch data sets one after the other; the exit code is 1 if one of them failed."""
    from ilfs.datasets.naming import registered
    from ilfs.datasets.registry import PAPER

    if bool(options.names) == options.all:
        raise ValueError("name the data sets to fetch, or give --all for those of the paper, and not both")
    names = [spec.name for spec in PAPER] if options.all else [registered(name).name for name in options.names]
    results = [fetch_one(name, options) for name in dict.fromkeys(names)]
    return 0 if all(results) else 1


def fetch_one(name: str, options: argparse.Namespace) -> bool:
    """Fetch one data set and print the result; return False if it failed."""
    from ilfs.datasets import fetch_dataset

    talk = DownloadTalk(name, quiet=options.quiet)
    try:
        found = fetch_dataset(
            name, folder=options.folder, again=options.again, say=talk.say, progress=talk.show_progress
        )
    except (OSError, ValueError, ImportError) as error:
        print(f"failed   {name}: {error}")
        return False
    finally:
        talk.end_line()
    status = "fetched" if found.is_new else "here"
    print(f"{status:8} {name}: {found.path or found.source}", flush=True)
    for field, text in (("source", found.source), ("verified", found.verified), ("differs", found.differs)):
        if text:
            talk.say(f"{field}: {text}")
    return True


def download_text(done: int, size: int, seconds: float) -> str:
    """Format the bytes of a download that began some seconds ago, and the time left if its size is known.

    Examples
    --------
    >>> from ilfs.cli.datasets import download_text
    >>> download_text(2_000_000, 8_000_000, 10.0), download_text(2_000_000, 0, 10.0)
    ('2.0 of 8.0 MB, 30 s left', '2.0 MB')
    """
    from ilfs.cli.progress import time_left

    if not size:
        return f"{done / 1e6:.1f} MB"
    left = time_left(seconds * (size / done - 1)) if done and seconds > 1 else ""
    return f"{done / 1e6:.1f} of {size / 1e6:.1f} MB{left and f', {left}'}"


class DownloadTalk:
    """Sentences and the progress of downloads on stderr, for one data set."""

    def __init__(self, name: str, *, quiet: bool) -> None:
        self.name, self.quiet = name, quiet
        self._is_open = False  # the last line shows progress and has no end yet
        self._begun, self._n_last = time.monotonic(), 0  # start of the download, and its bytes so far

    def say(self, sentence: str) -> None:
        """Print a sentence."""
        self.end_line()
        if not self.quiet:
            print(f"{self.name}: {sentence}", file=sys.stderr)

    def show_progress(self, done: int, size: int) -> None:
        """Show the bytes of a download on a terminal, and the time left."""
        if self.quiet or not sys.stderr.isatty():
            return
        if done < self._n_last:  # the next file
            self._begun = time.monotonic()
        self._n_last = done
        line = f"{self.name}: {download_text(done, size, time.monotonic() - self._begun)}"
        print(f"\r{line:{DOWNLOAD_LINE_CHARACTERS}}", end="", file=sys.stderr, flush=True)
        self._is_open = True

    def end_line(self) -> None:
        """End the line of progress."""
        if self._is_open:
            print(file=sys.stderr)
            self._is_open = False
