"""``ilfs interactions``: list pairs and triples of features that tell the class together."""

import argparse
import sys
from typing import Any

from ilfs.choices import RESULT_FORMATS
from ilfs.cli import outputs, table_options
from ilfs.words import counted

DEFAULT_SHOWN = 20  # sets
USAGE = "ilfs interactions INPUT [--target COLUMN] [options]"
EXAMPLES = """examples:
  ilfs interactions expression.csv --target tumour
  ilfs interactions expression.csv --target tumour -o pairs.csv --report pairs.html
  ilfs interactions genes-in-rows.tsv --samples sheet.csv --target tumour --plot network.png
  ilfs interactions expression.csv --target tumour --order 3 --json
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs interactions``."""
    parser = commands.add_parser(
        "interactions",
        help="list pairs of features that tell the class together",
        usage=USAGE,
        description="Test all pairs of features for what they tell about the class together, beyond what each tells "
        "alone, and list the significant ones, strongest first. Features that are useless alone may be perfect "
        "together. The table is held in memory.",
        epilog=EXAMPLES,
    )
    table_options.add_table(parser, with_groups=False)
    add_search(parser)
    add_showing(parser)
    add_outputs(parser)
    group = parser.add_argument_group("memory and computers")
    group.add_argument(
        "--memory-limit", metavar="SIZE", help="memory for the table, such as 500MB or 2GB (half of the free memory)"
    )
    group.add_argument("--jobs", type=int, default=-1, metavar="N", help="number of threads (-1: one per core)")
    parser.set_defaults(
        function=interactions, engine="auto", scheduler=None, stopped="stopped, and nothing is saved of the search"
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of the search."""
    group = parser.add_argument_group("the search")
    group.add_argument(
        "--order",
        type=int,
        choices=(2, 3),
        default=2,
        help="2: pairs; 3: also triples, if there are at most about a thousand features",
    )
    group.add_argument(
        "--alpha", type=float, default=0.05, metavar="LEVEL", help="probability of at least one false set (0.05)"
    )


def add_showing(parser: argparse.ArgumentParser) -> None:
    """Add the options on what is printed."""
    group = parser.add_argument_group("what is printed")
    group.add_argument(
        "--show", type=int, metavar="N", help=f"number of sets to print ({DEFAULT_SHOWN}; all in JSON and CSV)"
    )
    group.add_argument("--format", choices=RESULT_FORMATS, default="text", help="format of the list on stdout (text)")
    group.add_argument("--json", action="store_const", const="json", dest="format", help="short for --format json")
    group.add_argument("--quiet", action="store_true", help="print nothing but the list and warnings")


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that name files to write."""
    group = parser.add_argument_group("files that are written")
    group.add_argument("-o", "--output", metavar="FILE", help="all sets: .csv, .tsv, .json, .parquet, .feather, .xlsx")
    group.add_argument("--report", metavar="FILE.html", help="a page with the network and a table of the sets")
    group.add_argument("--plot", metavar="FILE.png", help="a picture of the network: .png, .svg, .pdf")
    parser.set_defaults(selected=None, save=None)


def interactions(options: argparse.Namespace) -> int:
    """Search a table for interactions, show the strongest and write the files."""
    from ilfs.cli.rank import into_closed_pipe
    from ilfs.cli.showing import Talk, described
    from ilfs.cli.talk import set_aside_sentences

    path = table_options.input_of(options)
    check_options(options, path)
    talk = Talk(quiet=options.quiet)
    table = table_options.open_prepared(path, options)
    talk.tell("input", described(table))
    talk.tell_all("guessed", table.guesses)
    check_table(table)
    summary = search(table, options)
    with into_closed_pipe():
        print_sets(summary, table, options)
    tell_result(talk, summary)
    talk.tell_all("set aside", set_aside_sentences(table.set_aside, talk.terminal.ellipsis))
    talk.tell_all("warning", table.warnings)
    for sentence in write_outputs(summary, table, options):
        talk.tell("written", sentence)
    return 0


def check_options(options: argparse.Namespace, path: str) -> None:
    """Check all options before the table is read."""
    from ilfs.parameters import check_between, check_integer

    if options.show is not None:
        check_integer("--show", options.show, 1)
    check_between("--alpha", options.alpha, 0, 1)
    table_options.check_engine(options)
    outputs.check_outputs(options, 1, path, "interactions are")


def check_table(table: Any) -> None:
    """Raise an error if the table cannot be searched."""
    from ilfs.sources import TableSource

    if not isinstance(table.source, TableSource):
        raise ValueError(f"interactions need all rows of {table.name} in memory: raise --memory-limit if it fits")
    if not table.source.has_labels:
        raise ValueError("interactions need the classes of the rows: name their column, --target COLUMN")
    if table.source.n_features < 2:
        raise ValueError(f"interactions need at least two features, got {table.source.n_features} in {table.name}")


def search(table: Any, options: argparse.Namespace) -> Any:
    """Search all sets; rank the features alone, too, if there is something to compare."""
    from ilfs.cli.progress import WaitLine
    from ilfs.interactions.finding import interactions_in
    from ilfs.report.interactions import summarise_interactions

    with WaitLine("searching", quiet=options.quiet):
        found = interactions_in(table.source, options.order, options.alpha, options.jobs)
        alone = ranks_alone(table.source, options.jobs) if len(found) else None
    sizes = table.source.labellings[0].rows if len(table.source.labellings) == 1 else None
    return summarise_interactions(found, class_sizes=sizes, ranks_alone=alone, alpha=options.alpha)


def with_pairs(summary: Any, table: Any) -> Any:
    """Add the values of the strongest pairs, which the page draws."""
    import numpy as np

    from ilfs.report.class_values import rows_of_source
    from ilfs.report.interactions.pairs import pictured_columns, with_values

    columns = pictured_columns(summary)
    return (
        with_values(summary, rows_of_source(table.source, columns, np.random.default_rng(0)))
        if columns.size
        else summary
    )


def ranks_alone(source: Any, n_jobs: int | None) -> Any:
    """Return the rank of each feature by its relevance on its own."""
    from ilfs import ILFS
    from ilfs.report.interactions.summary import ranks_of

    return ranks_of(ILFS(redundancy=None, n_jobs=n_jobs).fit(source).relevance_)


def print_sets(summary: Any, table: Any, options: argparse.Namespace) -> None:
    """Print the sets on stdout."""
    if options.format == "json":
        from ilfs.report.ranking_json import json_text

        print(json_text(document(summary, table, options, options.show)))
    elif options.format == "csv":
        from ilfs.ranking_table import RankingTable, csv_text

        shown = RankingTable({title: values[: options.show] for title, values in summary.table.items()})
        print(csv_text(shown, spreadsheet_safe=True), end="")
    elif summary.sets:
        from ilfs.report.interactions import interactions_screen
        from ilfs.report.terminal import Terminal

        print(interactions_screen(summary, options.show or DEFAULT_SHOWN, Terminal.of_stream(sys.stdout)))


def document(summary: Any, table: Any, options: argparse.Namespace, top: int | None = None) -> dict[str, Any]:
    """Return the sets as a document for JSON; its shape is described in ``docs/command.md``."""
    from ilfs.cli.showing import document_head
    from ilfs.report.interactions.data import interactions_as_data
    from ilfs.report.ranking_json import as_json

    head = document_head(table, options.command)
    return as_json(head | interactions_as_data(summary, top))  # type: ignore[no-any-return]


def tell_result(talk: Any, summary: Any) -> None:
    """Tell how many sets are significant, how to read them, and what could have been found."""
    from ilfs.report.interactions.sentences import found_sentence, power_sentence, reading_sentence

    talk.tell("found", found_sentence(summary), "green" if summary.sets else "yellow")
    for title, sentence in (("reading", reading_sentence(summary)), ("power", power_sentence(summary))):
        if sentence:
            talk.tell(title, sentence)


def write_outputs(summary: Any, table: Any, options: argparse.Namespace) -> Any:
    """Write the files, one after the other, and yield a sentence on each."""
    n_kept = counted(len(summary.sets), "set")
    if options.output is not None:
        from ilfs.report.ranking_files import write_ranking_table

        path = write_ranking_table(summary.table, options.output, lambda: document(summary, table, options))
        yield f"{path}: {n_kept}"
    if options.plot is not None:
        from ilfs.report.plots.interactions import write_network_plot

        write_network_plot(summary, options.plot)
        drawn = "a picture of the network" if summary.sets else "one sentence, as no set is significant"
        yield f"{options.plot}: {drawn}"
    if options.report is not None:
        from ilfs.report.interactions import write_interactions_page

        path = write_interactions_page(
            with_pairs(summary, table),
            options.report,
            input_name=table.name,
            command=options.command,
            set_aside=[(one.name, one.reason) for one in table.set_aside],
            warnings=table.warnings,
            notes=table.guesses,
        )
        yield f"{path}: the page, open it in a browser"
