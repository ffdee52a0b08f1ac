import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from platforms import needs_repository

import ilfs


def test_every_public_name_exists():
    assert set(ilfs.__all__) <= set(dir(ilfs))
    assert all(hasattr(ilfs, name) for name in ilfs.__all__)
    assert ilfs.methods.METHODS is ilfs.METHODS
    assert ilfs.METHODS["ilfs"] is ilfs.ILFS
    assert isinstance(ilfs.__version__, str)


@needs_repository
def test_every_public_name_of_selection_is_in_the_reference():
    reference = (Path(__file__).parents[1] / "docs/api.rst").read_text()
    assert "selection" in dir(ilfs)
    assert all(f"ilfs.selection.{name}\n" in reference for name in ilfs.selection.__all__)
    assert all(hasattr(ilfs.selection, name) for name in ilfs.selection.__all__)


def test_an_unknown_name_raises_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'ilfs' has no attribute 'IFLS'"):
        _ = ilfs.IFLS


def test_importing_ilfs_imports_no_slow_library_that_scikit_learn_does_not():
    script = (
        "import sys, sklearn.feature_selection; before = set(sys.modules); from ilfs import *;"
        "slow = {'numba', 'pandas', 'polars', 'matplotlib', 'pyarrow', 'dask'};"
        "print(*slow & (set(sys.modules) - before), *{'numba', 'polars', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_a_pickled_selector_is_loaded_without_numba(tmp_path):
    fitted = ilfs.ILFS(2).fit(np.arange(24.0).reshape(8, 3) % 7, np.arange(8) % 2)
    (tmp_path / "selector.pkl").write_bytes(pickle.dumps(fitted))
    script = (
        "import pickle, sys; from pathlib import Path; import numpy as np;"
        "selector = pickle.loads(Path(sys.argv[1]).read_bytes());"
        "selector.transform(np.zeros((2, 3))); selector.table();"
        "sys.exit('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "selector.pkl")], check=False)
    assert done.returncode == 0
