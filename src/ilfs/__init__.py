"""Feature selection: Infinite Latent Feature Selection as a scikit-learn selector."""

from ilfs.methods import ILFS, METHODS, FisherScore, fisher_score

__version__ = "0.1.0"

__all__ = ["ILFS", "METHODS", "FisherScore", "__version__", "fisher_score"]
