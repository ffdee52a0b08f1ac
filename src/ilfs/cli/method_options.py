"""Options that choose the method, the number of features and the test against chance."""

import argparse
from collections.abc import Sequence
from typing import Any

RULE_CHOICES = ("fdr", "auto", "absorption")
DEFAULT_SELECTED = 20  # features that are selected if nothing is asked for and the method has no test
TEST_OPTIONS = {"fdr": "--fdr", "n_permutations": "--permutations"}


def add_method(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose methods, and whether ILFS searches for interactions."""
    group = parser.add_argument_group("the method")
    group.add_argument(
        "--method",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="ilfs, fisher, mi, relieff, ...: see ilfs methods (ilfs); several may be named",
    )
    group.add_argument(
        "--interactions",
        type=int,
        choices=(2, 3),
        help="with ilfs: also pick pairs (2) or triples (3) of features that tell the class together only, and list "
        "them; see ilfs interactions",
    )


def add_size(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which features are selected."""
    group = parser.add_argument_group(
        "which features are selected",
        "Without one of --top, --fraction and --rule: --rule fdr if the method has a test against chance (ilfs, fisher "
        f"and mi have), otherwise --top {DEFAULT_SELECTED}.",
    )
    size = group.add_mutually_exclusive_group()
    size.add_argument("--top", type=int, metavar="K", help="the best K features")
    size.add_argument("--fraction", type=float, metavar="F", help="a fraction of the features, from 0 to 1")
    size.add_argument(
        "--rule",
        choices=RULE_CHOICES,
        help="by the false discovery rate (fdr), by cross-validation of a linear SVM (auto) or by the random walk of "
        "ILFS (absorption)",
    )
    group.add_argument(
        "--must-keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="features that are always selected, by name or pattern",
    )


def add_certainty(parser: argparse.ArgumentParser) -> Any:
    """Add the options of the test against chance, and return their group."""
    group = parser.add_argument_group("how sure")
    group.add_argument(
        "--fdr",
        type=float,
        metavar="LEVEL",
        help="false discovery rate of --rule fdr, and level of the test against chance (0.05)",
    )
    group.add_argument(
        "--permutations",
        type=int,
        metavar="B",
        help="permutations of the labels that the method is tested with (20, or more if --fdr needs more; 0: no test)",
    )
    group.add_argument("--seed", type=int, metavar="N", help="seed of all random numbers (0)")
    return group


def method_names(options: argparse.Namespace) -> list[str]:
    """Return the names of the methods, each once; ``--method ilfs,fisher`` names two."""
    return distinct_names(options.method) or ["ilfs"]


def distinct_names(words: Sequence[str] | None) -> list[str]:
    """Split words at commas and return the names in them, each once.

    Examples
    --------
    >>> from ilfs.cli.method_options import distinct_names
    >>> distinct_names(["ilfs,fisher", "mi", "ilfs"])
    ['ilfs', 'fisher', 'mi']
    """
    names = [name.strip() for word in words or () for name in word.split(",")]
    return list(dict.fromkeys(filter(None, names)))


def make_selectors(options: argparse.Namespace) -> dict[str, Any]:
    """Make the selectors of all methods, with the number of features and the test against chance.

    Parameters
    ----------
    options : argparse.Namespace
        Those of `add_method`, `add_size` and `add_certainty`, and ``jobs``.

    Returns
    -------
    dict of str to RankingSelector
        Unfitted selectors by the names of their methods.
    """
    check_numbers(options)
    selectors = {name: plain_selector(name, options.jobs) for name in method_names(options)}
    for name, value in given_parameters(options).items():
        takers = [one for one in selectors.values() if name in one.get_params(deep=False)]
        if not takers:
            raise ValueError(refusal(name, list(selectors)))
        for one in takers:
            one.set_params(**{name: value})
    for one in selectors.values():
        set_permutations(one, options)
        one.set_params(n_features_to_select=wanted_size(one, options))
        one._check_parameters()
    return selectors


def need_labels(selectors: dict[str, Any]) -> bool:
    """Return True if a method needs the classes of the rows."""
    return any(selector._reads_labels for selector in selectors.values())


def check_numbers(options: argparse.Namespace) -> None:
    """Raise an error if an option is out of range."""
    from ilfs.parameters import check_between, check_integer, is_fraction

    for name, least in (("top", 1), ("permutations", 0), ("seed", 0)):
        if getattr(options, name) is not None:
            check_integer(f"--{name}", getattr(options, name), least)
    if options.fraction is not None and not is_fraction(options.fraction):
        raise ValueError(f"--fraction must be above 0 and at most 1, got {options.fraction:g}")
    if options.fdr is not None:
        check_between("--fdr", options.fdr, 0, 1)
    if options.rule == "fdr" and options.permutations == 0:
        raise ValueError("--rule fdr needs permutations, got --permutations 0: leave one of the two out")


def plain_selector(name: str, n_jobs: int | None) -> Any:
    """Make a selector by the name of its method."""
    from ilfs.registry import SelectorNames
    from ilfs.selector import RankingSelector

    selector = SelectorNames().make(name, {}, defaults={"n_jobs": n_jobs})
    if not isinstance(selector, RankingSelector) or "n_features_to_select" not in selector.get_params(deep=False):
        raise ValueError(f"--method must be one that ilfs methods lists, got {name!r}")
    return selector


def given_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the test that options give."""
    given = {"fdr": options.fdr, "n_permutations": options.permutations, "random_state": options.seed}
    given["interactions"] = getattr(options, "interactions", None)
    return {name: value for name, value in given.items() if value is not None}


def refusal(parameter: str, names: list[str]) -> str:
    """Say which methods have a parameter that the chosen ones lack."""
    from ilfs.registry import classes_with

    asked = f"--method {' '.join(names)}"
    if parameter in TEST_OPTIONS:
        option = TEST_OPTIONS[parameter]
        return f"{option} needs a method that has p-values ({classes_with('null')}), got {asked}"
    if parameter == "interactions":
        return f"--interactions needs --method ilfs, got {asked}"
    return f"--seed needs a method that uses random numbers, got {asked}, which uses none"


def has_test(selector: Any) -> bool:
    """Return True if a method can be tested against chance."""
    return "n_permutations" in selector.get_params(deep=False)


def set_permutations(selector: Any, options: argparse.Namespace) -> None:
    """Set the number of permutations to what the level needs, unless it is given."""
    from ilfs.permutations import MIN_PERMUTATIONS, permutations_to_make

    if has_test(selector) and options.permutations is None:
        selector.set_params(n_permutations=permutations_to_make(0, selector.fdr, MIN_PERMUTATIONS))


def wanted_size(selector: Any, options: argparse.Namespace) -> Any:
    """Return the number of features to select, or the rule that finds it."""
    if is_size_given(options):
        return next(one for one in (options.top, options.fraction, options.rule) if one is not None)
    return "fdr" if has_test(selector) and selector.n_permutations > 0 else DEFAULT_SELECTED


def fit_to_table(selectors: dict[str, Any], source: Any, options: argparse.Namespace) -> None:
    """Set what depends on the columns: features that are always selected, and at most all features by default."""
    for selector in selectors.values():
        if not is_size_given(options) and selector.n_features_to_select == DEFAULT_SELECTED:
            selector.set_params(n_features_to_select=min(DEFAULT_SELECTED, source.n_features))
    if options.must_keep:
        set_must_keep(selectors, source, options.must_keep)


def is_size_given(options: argparse.Namespace) -> bool:
    """Return True if an option says how many features are selected."""
    return any(one is not None for one in (options.top, options.fraction, options.rule))


def set_must_keep(selectors: dict[str, Any], source: Any, wanted: list[str]) -> None:
    """Set the features that are always selected, by their names or patterns."""
    from ilfs.preparing import match_columns

    names = [str(name) for name in source.feature_names or [f"x{j}" for j in range(source.n_features)]]
    columns = match_columns(wanted, names, "--must-keep")
    for name, selector in selectors.items():
        if "must_keep" not in selector.get_params(deep=False):
            raise ValueError(f"--must-keep is not possible with --method {name}: leave one of the two out")
        kept = columns if source.feature_names else [names.index(one) for one in columns]
        selector.set_params(must_keep=kept)
