"""Compute one job in a process that other jobs share."""

import warnings
from contextlib import nullcontext

import numpy as np

from ilfs.benchmark.evaluation.protocol import Cell, Outcome, compute, seed_of
from ilfs.benchmark.methods.importing import importable_from
from ilfs.execution import one_blas_thread


def compute_cell(cell: Cell) -> Outcome:
    """Compute a job; but for timing with one thread, since other processes have the other cores.

    Parameters
    ----------
    cell : Cell
        The job.

    Returns
    -------
    Outcome
        Its results.
    """
    limits = nullcontext() if cell.experiment == "timing" else one_blas_thread()
    with warnings.catch_warnings(), limits, importable_from(cell.contender.folder):
        warnings.simplefilter("ignore")
        check_provenance(cell)
        np.random.seed(seed_of("global", cell.identity))  # noqa: NPY002 scikit-learn's own default, else of chance
        return compute(cell)


def check_provenance(cell: Cell) -> None:
    """Refuse a job whose code or versions are other ones here than where it was described.

    A process that is started during a run imports what is in the files by then, and a worker of a cluster has files of
    its own. The result would be stored under the key of other code.
    """
    if not cell.provenance:
        return
    here = cell.contender.provenance(cell.protocol.evaluators())
    if differing := [name for name, value in here.items() if cell.provenance.get(name) != value]:
        raise RuntimeError(
            f"the {' and '.join(differing)} of method {cell.contender.name!r} changed since the run began: "
            "start the run again"
        )
