"""Small data sets that come with scikit-learn."""

from ilfs.datasets.dataset import Dataset


def load_bundled(name: str) -> Dataset:
    """Load a data set of scikit-learn by its name."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    class_names = tuple(map(str, bunch.target_names))
    return Dataset(name, bunch.data, bunch.target, class_names, tuple(map(str, bunch.feature_names)))
