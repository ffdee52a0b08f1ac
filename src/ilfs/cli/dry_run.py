"""What a ranking will take: size of the table, engine, number of reads, memory."""

from typing import Any

from ilfs.memory import GIGABYTE
from ilfs.registry import classes_with
from ilfs.words import counted

KILOBYTE, MEGABYTE = 1e3, 1e6
MOMENT_ARRAYS = 12  # arrays of classes x features: three moments, those being merged, and the parameters of the tokens
PRODUCT_ARRAYS = 8  # arrays of candidates x candidates: sums of threads, levels of the merge tree, correlations


def plan_lines(name: str, source: Any, selector: Any) -> list[str]:
    """Return the lines that ``ilfs rank --dry-run`` prints."""
    rows = [
        ("input", name),
        ("table", size_of(source)),
        ("engine", engine_of(source)),
        ("method", type(selector).__name__),
        ("reads", reads_of(source, selector)),
        ("memory", memory_of(source, selector)),
    ]
    return [f"{title:8}{text}" for title, text in rows]


def size_of(source: Any) -> str:
    """Format rows, columns and size of a table."""
    n_rows = getattr(source, "n_rows", None)
    rows = "an unknown number of rows" if n_rows is None else counted(n_rows, "row")
    n_bytes = dense_bytes(source)
    return f"{rows} x {counted(source.n_features, 'feature')}" + (f", {amount(n_bytes)}" if n_bytes else "")


def dense_bytes(source: Any) -> int | None:
    """Return the size of a dense table in memory, None if it is sparse or its number of rows is not known."""
    if source.is_sparse or getattr(source, "n_rows", None) is None:
        return None
    return int(source.n_rows * source.n_features * item_bytes(source))


def item_bytes(source: Any) -> int:
    """Return the bytes of a value."""
    reader = getattr(source, "reader", None)
    if reader is not None:
        return int(reader.dtype.itemsize)
    to_matrix = getattr(source, "to_matrix", None)
    return 8 if to_matrix is None else int(to_matrix().dtype.itemsize)


def amount(n_bytes: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> from ilfs.cli.dry_run import amount
    >>> amount(12_300_000_000), amount(450_000_000), amount(5_800_000), amount(20_000)
    ('12.3 GB', '450 MB', '5.8 MB', '20 kB')
    """
    if n_bytes >= GIGABYTE:
        return f"{n_bytes / GIGABYTE:.1f} GB"
    if n_bytes < MEGABYTE:
        return f"{max(n_bytes / KILOBYTE, 1):.0f} kB"
    return f"{n_bytes / MEGABYTE:.0f} MB" if n_bytes >= 10 * MEGABYTE else f"{n_bytes / MEGABYTE:.1f} MB"


def engine_of(source: Any) -> str:
    """Name the engine that reads a source."""
    from ilfs.sources import BatchSource, TableSource

    if isinstance(source, TableSource):
        return "in memory"
    return "read from disk in blocks" if isinstance(source, BatchSource) else "on Dask"


def held(source: Any) -> str:
    """Say where the rows of a source are, as the end of a sentence."""
    from ilfs.sources import BatchSource, TableSource

    if isinstance(source, TableSource):
        return "held in memory"
    return "read from disk in blocks" if isinstance(source, BatchSource) else "read by Dask"


def n_reads(selector: Any) -> int | None:
    """Return the number of reads of all rows that a method makes, None if it needs all rows in memory."""
    return getattr(selector, "n_reads", None)


def reads_of(source: Any, selector: Any) -> str:
    """Format the number of reads."""
    from ilfs.sources import TableSource

    if isinstance(source, TableSource):
        return "one, into memory"
    number = n_reads(selector)
    if number is None:
        return f"not possible: {type(selector).__name__} needs all rows in memory ({classes_with('streams')} do not)"
    return f"the labels, then all rows {counted(number, 'time')}"


def memory_of(source: Any, selector: Any) -> str:
    """Estimate the memory that a ranking takes beside the program itself."""
    from ilfs.sources import TableSource

    if isinstance(source, TableSource):
        n_bytes = dense_bytes(source)
        return "about the size of the table" if n_bytes is None else f"about {amount(n_bytes)} for the table"
    blocks = getattr(source, "block_bytes", 0)
    return f"about {amount(blocks + statistics_bytes(source, selector))} beside the program"


def statistics_bytes(source: Any, selector: Any, n_classes: int = 2) -> float:
    """Estimate the memory of the statistics: moments of the classes, and products of the candidates."""
    candidates = getattr(selector, "n_candidates", None) if getattr(selector, "redundancy", None) else 0
    n_candidates = source.n_features if candidates is None else min(candidates, source.n_features)
    moments = MOMENT_ARRAYS * n_classes * source.n_features
    return float(8 * (moments + PRODUCT_ARRAYS * n_candidates**2))
