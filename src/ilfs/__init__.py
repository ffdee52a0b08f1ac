"""Feature selection: Infinite Latent Feature Selection as a scikit-learn selector."""

from ilfs.methods import ILFS, METHODS

__version__ = "0.1.0"

__all__ = ["ILFS", "METHODS", "__version__"]
