"""Tables that the tests of preparing write to files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def write(path: Path, header: Sequence[Any], rows: Sequence[Sequence[Any]], delimiter: str = ",") -> Path:
    """Write delimited text."""
    lines = [delimiter.join(map(str, row)) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def expression(n_samples: int = 12, n_genes: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw values and classes; the first gene differs between the classes."""
    rng = np.random.default_rng(seed)
    y = np.array(["normal", "tumour"] * (n_samples // 2))
    rng.shuffle(y)
    X = rng.normal(size=(n_samples, n_genes)).round(3)
    X[:, 0] += 3 * (y == "tumour")
    return X.round(3), y


def samples(n: int) -> list[str]:
    return [f"S{i}" for i in range(n)]


def genes(n: int) -> list[str]:
    return [f"gene{j}" for j in range(n)]


def plain_csv(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    """Write samples in rows, with their names and classes."""
    rows = [[name, kind, *values] for name, kind, values in zip(samples(len(y)), y, X.tolist(), strict=True)]
    return write(path, ["sample", "diagnosis", *genes(X.shape[1])], rows)


def transposed_csv(path: Path, X: np.ndarray) -> Path:
    """Write genes in rows."""
    rows = [[name, *values] for name, values in zip(genes(X.shape[1]), X.T.tolist(), strict=True)]
    return write(path, ["gene", *samples(X.shape[0])], rows)


def sheet_csv(path: Path, y: np.ndarray, order: Sequence[int] | None = None) -> Path:
    """Write a sample sheet."""
    chosen = range(len(y)) if order is None else order
    return write(path, ["name", "diagnosis"], [[f"S{i}", y[i]] for i in chosen])


def values_of(table: Any) -> np.ndarray:
    """Return the features of a prepared table in memory."""
    X = table.source.to_matrix()
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
