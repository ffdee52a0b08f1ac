"""Files that ``ilfs rank`` writes: checked before the work begins, written at its end."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ilfs.choices import PICTURE_ENDINGS
from ilfs.words import counted

FILE_OPTIONS = ("output", "selected", "report", "plot", "save")
NEEDS_ONE_METHOD = ("selected", "report", "plot", "save")
DEVICE_OPTIONS = ("report", "save")  # their format does not depend on the ending, so that a device may be named
ENDINGS_OF_OPTION = {"report": (".html", ".htm"), "plot": PICTURE_ENDINGS, "save": (".json",)}


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that name files to write."""
    group = parser.add_argument_group("files that are written")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the ranking of all features: .csv, .tsv, .json, .parquet, .feather, .xlsx",
    )
    group.add_argument(
        "--selected", metavar="FILE", help="the table with the selected columns: .csv, .tsv, .parquet, .feather"
    )
    group.add_argument("--report", metavar="FILE.html", help="a page to explore and to send")
    group.add_argument("--plot", metavar="FILE.png", help="a picture of the ranking: .png, .svg, .pdf")
    group.add_argument("--save", metavar="FILE.json", help="the selection, for ilfs apply")


def check_outputs(options: argparse.Namespace, n_methods: int, path: str, what: str = "a ranking is") -> None:
    """Raise an error if a file cannot be written, before the table is read.

    Parameters
    ----------
    options : argparse.Namespace
        Those of `add_outputs`.
    n_methods : int
        Number of methods; most files hold the result of one.
    path : str
        INPUT, which no output may replace.
    what : str, default="a ranking is"
        What ``--output`` holds, with the verb, for messages.
    """
    given = {name: getattr(options, name) for name in FILE_OPTIONS if getattr(options, name) is not None}
    if n_methods > 1:
        for name in NEEDS_ONE_METHOD:
            if name in given:
                raise ValueError(f"--{name} needs one method, got {n_methods}: see ilfs compare for a page of several")
    for name, file in given.items():
        check_one(name, file, what)
    check_different(given, path)


def check_one(name: str, file: str, what: str) -> None:
    """Raise an error if one file cannot be written."""
    from ilfs.files import check_writable

    if name == "output":
        from ilfs.report.ranking_files import check_ranking_path

        return check_ranking_path(file, what)
    if name == "selected":
        from ilfs.applying.writers import check_output

        check_ending(name, file, (".csv", ".tsv", ".parquet", ".feather", ".tab", ".pq", ".arrow"))
        check_writable(file)
        return check_output(Path(file))
    if name == "plot":
        from ilfs.importing import check_installed

        check_installed("matplotlib", "report", "--plot")
    check_ending(name, file, ENDINGS_OF_OPTION[name])
    return check_writable(file)


def check_ending(name: str, file: str, endings: tuple[str, ...]) -> None:
    """Raise an error if a file has another ending than its format."""
    is_device = Path(file).exists() and not Path(file).is_file() and not Path(file).is_dir()
    if not file.lower().endswith(endings) and not (is_device and name in DEVICE_OPTIONS):
        raise ValueError(f"--{name} must name a file that ends in {' or '.join(endings[:4])}, got {file!r}")


def check_different(given: dict[str, str], path: str) -> None:
    """Raise an error if two outputs are the same file, or one is an input."""
    seen: dict[str, str] = {}
    for name, file in given.items():
        real = os.path.realpath(file)
        if real in seen and Path(file).suffix:
            raise ValueError(f"--{seen[real]} and --{name} must be different files, got {file!r} twice")
        seen[real] = name
        if any(os.path.realpath(one) == real for one in files_in(path)):
            raise ValueError(f"--{name} must be another file than INPUT, got {file!r}: it would be replaced")


def files_in(path: str) -> list[str]:
    """Return the files that INPUT stands for."""
    from glob import glob

    return [path] if Path(path).is_file() else glob(path, recursive=True)


def write_outputs(selectors: dict[str, Any], table: Any, options: argparse.Namespace, document: Any) -> Iterator[str]:
    """Write the files, one after the other.

    Parameters
    ----------
    selectors : dict of str to RankingSelector
        Fitted selectors.
    table : PreparedTable
        What they were fitted on.
    options : argparse.Namespace
        Those of `add_outputs`.
    document : callable
        Returns what a JSON file holds.

    Yields
    ------
    str
        A sentence on each file, after it was written.
    """
    selector = next(iter(selectors.values()))
    if options.output is not None:
        from ilfs.report.ranking_files import write_ranking_table

        path = write_ranking_table(joint_table(selectors), options.output, document)
        yield f"{path}: the ranking of all {counted(selector.n_features_in_, 'feature')}"
    if options.selected is not None:
        yield write_selected_file(selector, table, options)
    if options.save is not None:
        selector.save(options.save)
        yield f"{options.save}: the selection, for ilfs apply {options.save} OTHER-TABLE -o FILE"
    if options.plot is not None:
        from ilfs.report.plots import write_plot

        write_plot(selector, options.plot, table.source)
        yield f"{options.plot}: a picture of the ranking"
    if options.report is not None:
        yield write_report(selector, table, options)


def joint_table(selectors: dict[str, Any]) -> Any:
    """Return the table of one method, or of several side by side."""
    if len(selectors) > 1:
        from ilfs.report.side_by_side import side_by_side_table

        return side_by_side_table(selectors)
    selector = next(iter(selectors.values()))
    table = selector.table()
    if "selected" not in table:
        from ilfs.ranking_table import RankingTable, in_order

        table = RankingTable(in_order({**table, "selected": selector.get_support()[table["column"]]}))
    return table


def write_selected_file(selector: Any, table: Any, options: argparse.Namespace) -> str:
    """Write the table with the selected columns."""
    from ilfs.applying.selected import write_selected

    before = {} if table.ids is None else {options.id or "id": table.ids}
    if table.groups is not None and options.groups:
        before[options.groups] = table.groups
    path = write_selected(selector, table.source, options.selected, before=before, memory_limit=options.memory_limit)
    n_selected = int(selector.get_support().sum())
    return f"{path}: the table with {counted(n_selected, 'selected feature')}"


def write_report(selector: Any, table: Any, options: argparse.Namespace) -> str:
    """Write the page."""
    from ilfs.report import write_page

    path = write_page(
        selector,
        options.report,
        table.source,
        command=options.command,
        input_name=table.name,
        set_aside=[(one.name, one.reason) for one in table.set_aside],
        warnings=table.warnings,
        notes=table.guesses,
        stability=getattr(options, "found_stability", None),
        preparation=getattr(options, "preparation", None),
    )
    return f"{path}: the page, open it in a browser"
