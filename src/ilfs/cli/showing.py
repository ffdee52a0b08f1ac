"""What ``ilfs rank`` prints: the ranking on stdout, and sentences on it on stderr."""

import argparse
import sys
from typing import Any

from ilfs.choices import N_LISTED_CLASSES
from ilfs.cli.talk import Talk, set_aside_sentences
from ilfs.words import counted

DEFAULT_SHOWN = 20  # features

__all__ = ["Talk", "described", "document", "print_ranking", "tell_results"]


def described(table: Any) -> str:
    """Describe a table in one sentence: name, size, where it is held, classes."""
    from ilfs.cli.dry_run import held, size_of

    return f"{table.name}: {size_of(table.source)}, {held(table.source)}{classes_text(table)}"


def classes_text(table: Any) -> str:
    """Format the classes and their sizes, if they are known without a read."""
    from ilfs.sources import TableSource

    source = table.source
    if not isinstance(source, TableSource) or not source.has_labels or len(source.labellings) != 1:
        return ""
    sizes = class_sizes(source)
    named = f" of {table.target}" if table.target else ""
    listed = (
        ""
        if len(sizes) > N_LISTED_CLASSES
        else ": " + ", ".join(f"{label} ({size:,})" for label, size in sizes.items())
    )
    return f"; {counted(len(sizes), 'class')}{named}{listed}"


def class_sizes(source: Any) -> dict[str, int]:
    """Return the number of rows of each class."""
    classes = source.labellings[0]
    return {str(label): int(n) for label, n in zip(classes.labels.tolist(), classes.rows.tolist(), strict=True)}


def print_ranking(selectors: dict[str, Any], table: Any, options: argparse.Namespace) -> None:
    """Print the ranking on stdout."""
    if options.format == "json":
        from ilfs.report.ranking_json import json_text

        print(json_text(document(selectors, table, options, options.show)))
    elif options.format == "csv":
        print_csv(selectors, options.show)
    else:
        print(screen(selectors, options.show or DEFAULT_SHOWN))
        print_interactions(selectors, options.show or DEFAULT_SHOWN)


def screen(selectors: dict[str, Any], top: int) -> str:
    """Format the best features for the terminal."""
    from ilfs.report.ranking_screen import ranking_screen
    from ilfs.report.side_by_side import side_by_side_screen
    from ilfs.report.terminal import Terminal

    terminal = Terminal.of_stream(sys.stdout)
    if len(selectors) > 1:
        return side_by_side_screen(selectors, top, terminal)
    return ranking_screen(next(iter(selectors.values())), top, terminal)


def print_interactions(selectors: dict[str, Any], top: int) -> None:
    """Print the significant pairs and triples, if a method has searched for them and found some."""
    from ilfs.report.interactions import interactions_screen
    from ilfs.report.summary import interactions_of
    from ilfs.report.terminal import Terminal

    for selector in selectors.values():
        found = interactions_of(selector)
        if found is not None and found.sets:
            print(f"\n{interactions_screen(found, top, Terminal.of_stream(sys.stdout))}")


def print_csv(selectors: dict[str, Any], top: int | None) -> None:
    """Print the table of all features, or the first ones, as CSV."""
    from ilfs.cli.outputs import joint_table
    from ilfs.ranking_table import RankingTable, csv_text

    table = RankingTable({title: values[:top] for title, values in joint_table(selectors).items()})
    print(csv_text(table, spreadsheet_safe=True), end="")


def document_head(table: Any, command: str) -> dict[str, Any]:
    """Return the part of a JSON document that describes the command and its table."""
    from ilfs import __version__
    from ilfs.report.ranking_json import JSON_FORMAT

    return {
        "format": JSON_FORMAT,
        "ilfs_version": __version__,
        "command": command,
        "input": {"name": table.name, "rows": rows_of(table), "features": table.source.n_features},
        "target": target_as_data(table),
        "guesses": list(table.guesses),
        "warnings": list(table.warnings),
        "set_aside": [{"name": one.name, "reason": one.reason} for one in table.set_aside],
    }


def document(
    selectors: dict[str, Any], table: Any, options: argparse.Namespace, top: int | None = None
) -> dict[str, Any]:
    """Return the ranking as a document for JSON; its shape is described in ``docs/command.md``."""
    from ilfs.report.ranking_json import as_json, ranking_as_data

    head = document_head(table, options.command) | {"stability": stability_as_data(options.found_stability)}
    rankings = [ranking_as_data(selector, top, name) for name, selector in selectors.items()]
    return as_json(head | (rankings[0] if len(rankings) == 1 else {"rankings": rankings}))  # type: ignore[no-any-return]


def rows_of(table: Any) -> int | None:
    """Return the number of rows, if it is known."""
    n_rows = getattr(table.source, "n_rows", None)
    return None if n_rows is None else int(n_rows)


def target_as_data(table: Any) -> dict[str, Any] | None:
    """Describe the target: its name, and the classes with their sizes."""
    source = table.source
    if not source.has_labels:
        return None
    classes = [] if len(source.labellings) != 1 else [{"label": k, "rows": n} for k, n in class_sizes(source).items()]
    return {"name": table.target, "classes": classes}


def stability_as_data(found: Any) -> dict[str, Any] | None:
    """Describe the stability, if it was measured."""
    if found is None:
        return None
    return {"features": found.k, "half_samples": found.n_resamples, "nogueira": found.nogueira.value}


def tell_results(talk: Talk, selectors: dict[str, Any], table: Any, options: argparse.Namespace) -> None:
    """Tell the verdict, how many features are selected and why, and what was set aside."""
    for name, selector in selectors.items():
        tell_certainty(talk, selector, options, f"{name}: " if len(selectors) > 1 else "")
        tell_interactions(talk, selector, table)
    if len(selectors) > 1:
        from ilfs.report.side_by_side import agreement_sentence

        talk.tell("agreement", agreement_sentence(selectors, options.show or DEFAULT_SHOWN))
    if options.found_stability is not None:
        talk.tell("stability", stability_sentence(options.found_stability))
    talk.tell_all("set aside", set_aside_sentences(table.set_aside, talk.terminal.ellipsis))
    talk.tell_all("warning", table.warnings)


def tell_certainty(talk: Talk, selector: Any, options: argparse.Namespace, name: str) -> None:
    """Tell the verdict and the number of selected features of one method."""
    from ilfs.cli.messages import in_words_of_the_command
    from ilfs.cli.method_options import is_size_given
    from ilfs.report.certainty import is_found, kept_words, rule_sentence, selection_sentence, verdict_sentence

    for title, sentence in zip(("verdict", ""), verdict_sentence(selector), strict=False):
        talk.tell(title, name + sentence, "green" if is_found(selector) else "yellow")
    size = selector.n_features_to_select
    if not is_size_given(options) and not isinstance(size, str):
        usual = f"the best {size:,} of {counted(selector.n_features_in_, 'feature')}, the default; --top K changes it"
        talk.tell("selected", name + usual + kept_words(selector))
        return
    talk.tell("selected", name + in_words_of_the_command(selection_sentence(selector)))
    for sentence in rule_sentence(selector)[1:]:
        talk.tell("", sentence)


def tell_interactions(talk: Talk, selector: Any, table: Any) -> None:
    """Tell how many pairs and triples are significant, and what could have been found."""
    from ilfs.report.interactions.sentences import found_sentence, power_sentence, reading_sentence
    from ilfs.report.summary import interactions_of

    sizes = list(class_sizes(table.source).values()) if len(table.source.labellings) == 1 else None
    found = interactions_of(selector, class_rows=sizes)
    if found is None:
        return
    talk.tell("together", found_sentence(found), "green" if found.sets else "yellow")
    for sentence in filter(None, (reading_sentence(found), power_sentence(found))):
        talk.tell("", sentence)


def stability_sentence(found: Any) -> str:
    """Say how stable the best features are."""
    return (
        f"of the best {counted(found.k, 'feature')} on {found.n_resamples} halves of the rows: "
        f"{found.nogueira.value:z.2f} (1: always the same, 0: chance)"
    )
