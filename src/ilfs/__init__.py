"""Feature selection: Infinite Latent Feature Selection and eleven more methods, as scikit-learn selectors.

The names are imported when they are first used: importing scikit-learn takes seconds, during which the
command ``ilfs`` must be able to handle Ctrl-C.
"""

from importlib import import_module

TYPE_CHECKING = False  # that of typing takes longer to import than everything else here
if TYPE_CHECKING:
    from typing import Any

    from ilfs.methods import (
        CFS,
        FSV,
        ILFS,
        LLCFS,
        MCFS,
        METHODS,
        SVMRFE,
        UDFS,
        FisherScore,
        HallCFS,
        InfFS,
        LaplacianScore,
        MutualInformation,
        Novelty,
        ReliefF,
    )
    from ilfs.methods.cfs import cfs_score
    from ilfs.methods.fisher import fisher_score
    from ilfs.methods.inf_fs import inf_fs
    from ilfs.methods.laplacian_score import laplacian_score
    from ilfs.methods.llcfs import llcfs
    from ilfs.methods.mcfs import mcfs
    from ilfs.methods.mutual_information import mutual_information
    from ilfs.methods.novelty import novel_order
    from ilfs.methods.relieff import relieff
    from ilfs.methods.udfs import udfs
    from ilfs.registry import list_methods

__version__ = "0.1.0"

__all__ = [
    "CFS",
    "FSV",
    "ILFS",
    "LLCFS",
    "MCFS",
    "METHODS",
    "SVMRFE",
    "UDFS",
    "FisherScore",
    "HallCFS",
    "InfFS",
    "LaplacianScore",
    "MutualInformation",
    "Novelty",
    "ReliefF",
    "__version__",
    "cfs_score",
    "fisher_score",
    "inf_fs",
    "laplacian_score",
    "list_methods",
    "llcfs",
    "mcfs",
    "mutual_information",
    "novel_order",
    "relieff",
    "udfs",
]

MODULES = {
    "cfs_score": "ilfs.methods.cfs",
    "fisher_score": "ilfs.methods.fisher",
    "inf_fs": "ilfs.methods.inf_fs",
    "laplacian_score": "ilfs.methods.laplacian_score",
    "list_methods": "ilfs.registry",
    "llcfs": "ilfs.methods.llcfs",
    "mcfs": "ilfs.methods.mcfs",
    "mutual_information": "ilfs.methods.mutual_information",
    "novel_order": "ilfs.methods.novelty",
    "relieff": "ilfs.methods.relieff",
    "udfs": "ilfs.methods.udfs",
}
PACKAGES = ("benchmark", "datasets", "methods", "registry", "report")


def __getattr__(name: str) -> "Any":
    """Import a public name on first use."""
    if name in PACKAGES:
        return import_module(f"ilfs.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'ilfs' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(MODULES.get(name, "ilfs.methods")), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *PACKAGES})
