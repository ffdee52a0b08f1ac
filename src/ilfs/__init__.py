"""Feature selection: Infinite Latent Feature Selection and eleven more methods, as scikit-learn selectors.

The names are imported when they are first used: importing scikit-learn takes seconds, during which the
command ``ilfs`` must be able to handle Ctrl-C.
"""

from importlib import import_module

TYPE_CHECKING = False  # importing typing.TYPE_CHECKING would take longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any

    from ilfs.applying import apply
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
        GeneralizedFisherScore,
        HallCFS,
        InfFS,
        LaplacianScore,
        MutualInformation,
        Novelty,
        ReliefF,
    )
    from ilfs.methods.novelty import novel_order
    from ilfs.reading import read
    from ilfs.registry import list_methods
    from ilfs.scoring import scorer
    from ilfs.selection.saved import load
    from ilfs.sites import summarise
    from ilfs.summaries import Summary

__version__ = "0.2.0"

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
    "GeneralizedFisherScore",
    "HallCFS",
    "InfFS",
    "LaplacianScore",
    "MutualInformation",
    "Novelty",
    "ReliefF",
    "Summary",
    "__version__",
    "apply",
    "list_methods",
    "load",
    "novel_order",
    "read",
    "scorer",
    "summarise",
]

MODULES = {  # modules of the public names that are not in ilfs.methods
    "Summary": "ilfs.summaries",
    "apply": "ilfs.applying",
    "list_methods": "ilfs.registry",
    "load": "ilfs.selection.saved",
    "novel_order": "ilfs.methods.novelty",
    "read": "ilfs.reading",
    "scorer": "ilfs.scoring",
    "summarise": "ilfs.sites",
}
PACKAGES = ("benchmark", "datasets", "interactions", "methods", "omics", "registry", "report", "selection")


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
