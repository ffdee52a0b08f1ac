"""The page about data sets must match the registry; a failure shows the table that the page should contain."""

import re
from pathlib import Path

from ilfs.datasets import REGISTRY
from ilfs.datasets.readers import ENDINGS

PAGE = (Path(__file__).parents[2] / "docs/datasets.md").read_text()


def table():
    rows = [
        "| name | title | standing | samples | features | classes | source | licence |",
        "|---|---|---|--:|--:|--:|---|---|",
    ]
    for spec in REGISTRY.values():
        sizes = [str(size or "") for size in (spec.samples, spec.features, spec.classes)]
        values = (f"`{spec.name}`", spec.title, spec.standing, *sizes, spec.source, spec.licence)
        rows.append(f"| {' | '.join(values)} |")
    return "\n".join(rows)


def differences():
    return "\n".join(f"- {spec.title}: {spec.differs}." for spec in REGISTRY.values() if spec.differs)


def sources():
    rows = [
        "| data set | source | licence | verified by | address last tried | stated by |",
        "|---|---|---|---|---|---|",
    ]
    for spec in REGISTRY.values():
        for source in spec.sources:
            sums = ["SHA-256"] * any(file.sha256 for file in source.files) + ["MD5"] * any(
                file.md5 for file in source.files
            )
            checks = ", ".join([*sums, "counts", *["values"] * bool(source.values)])
            values = (
                f"`{spec.name}`",
                source.title,
                source.licence,
                checks,
                source.verified.partition(":")[0],
                source.known_from,
            )
            rows.append(f"| {' | '.join(values)} |")
    return "\n".join(rows)


def part_after(comment):
    return re.search(rf"<!-- {comment}.*?-->\n(.*?)\n<!-- end -->", PAGE, re.S)[1]


def test_table_of_data_sets_matches_the_registry():
    assert part_after("registry") == table()


def test_list_of_differences_matches_the_registry():
    assert part_after("differs") == differences()


def test_table_of_sources_matches_the_registry():
    assert part_after("sources") == sources()


def test_every_ending_is_on_the_page():
    assert all(f"`{ending}`" in PAGE for ending in ENDINGS if not ending.endswith((".gz", ".bz2", ".xz", ".zip")))
