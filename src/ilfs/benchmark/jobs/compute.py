"""Compute one job, inside a worker process that computes other jobs too."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numpy as np
from threadpoolctl import threadpool_limits

from ilfs.benchmark.evaluation.experiments import compute
from ilfs.benchmark.evaluation.job import Job, Outcome, seed_of
from ilfs.execution import one_blas_thread
from ilfs.importing import importable_from


def compute_job(job: Job) -> Outcome:
    """Compute a job with one thread, as other processes use the other cores; timing jobs have all threads.

    Parameters
    ----------
    job : Job
        The job.

    Returns
    -------
    Outcome
        Its results.
    """
    limits = nullcontext() if job.experiment == "timing" else one_thread()
    with warnings.catch_warnings(), limits, importable_from(job.method.folder):
        warnings.simplefilter("ignore")
        check_provenance(job)
        # Selectors without a random_state draw from numpy's global generator.
        np.random.seed(seed_of("global", job.identity))  # noqa: NPY002
        return compute(job)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra and the nearest neighbours of scikit-learn (OpenMP) to one thread."""
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        yield


def check_provenance(job: Job) -> None:
    """Raise an error if code or versions differ here from those where the job was described.

    A process that is started during a run imports the files as they are by then, and a worker of a cluster has its own
    files. The result would be stored under the key of other code.
    """
    if not job.provenance:
        return
    here = job.method.provenance(job.protocol.evaluators())
    if differing := [name for name, value in here.items() if job.provenance.get(name) != value]:
        raise RuntimeError(
            f"the {' and '.join(differing)} of method {job.method.name!r} changed since the run began: "
            "start the run again"
        )
