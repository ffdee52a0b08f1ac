"""Data frames that are converted block by block."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import planted

from ilfs import ILFS, FisherScore, MutualInformation, Novelty, ReliefF
from ilfs.execution import fold_of
from ilfs.sources import FrameSource, frames, table_source
from ilfs.statistics import Moments


def mixed(n_samples=90, n_features=7, missing=False):
    """A pandas frame with columns of several numeric types, and classes."""
    X, y = planted(n_samples, n_features)
    frame = pd.DataFrame(X.astype(np.float32), columns=[f"f{j}" for j in range(n_features)])
    frame["f1"] = (10 * X[:, 1]).astype(np.int8)
    frame["f2"] = X[:, 2] > 0
    frame["f3"] = X[:, 3]
    if missing:
        frame["f4"] = pd.array((10 * X[:, 4]).astype(int), dtype="Int64")
        frame.loc[3, "f4"] = pd.NA
        frame["f5"] = pd.array(X[:, 5], dtype="Float64")
        frame.loc[7, "f5"] = pd.NA
    return frame, y


FORMS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "pyarrow in chunks": lambda frame: pa.concat_tables(
        [pa.Table.from_pandas(part, preserve_index=False) for part in (frame.iloc[:20], frame.iloc[20:])]
    ),
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@pytest.fixture
def by_block(monkeypatch):
    """Convert even small frames block by block."""
    monkeypatch.setattr(frames, "MIN_BYTES_BY_BLOCK", 0)


@forms
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("selector", [ILFS(), FisherScore(), Novelty(FisherScore()), MutualInformation()], ids=str)
def test_a_frame_gives_the_same_bits_as_its_copy_in_one_array(selector, form, missing, small_blocks, monkeypatch):
    frame, y = mixed(missing=missing)
    expected = selector.fit(form(frame), y).scores_.copy()
    monkeypatch.setattr(frames, "MIN_BYTES_BY_BLOCK", 0)
    found = selector.fit(form(frame), y)
    np.testing.assert_array_equal(found.scores_, expected)
    assert found.feature_names_in_.tolist() == [f"f{j}" for j in range(7)]


@forms
def test_rectangles_columns_and_blocks_have_the_values_of_the_frame(form):
    frame, y = mixed(missing=True)
    source, expected = FrameSource(form(frame), y), frame.to_numpy(dtype=float, na_value=np.nan)
    rectangle, first = source.values(slice(5, 40), slice(2, 6))
    np.testing.assert_array_equal(rectangle[:, first : first + 4], expected[5:40, 2:6])
    np.testing.assert_array_equal(source.gather(slice(0, 90), np.array([4, 0, 5])), expected[:, [4, 0, 5]])
    np.testing.assert_array_equal(source.to_matrix(), expected)
    blocks = list(source.blocks())
    np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), expected)


@forms
def test_float32_is_kept_if_all_columns_are_exact_in_it(form):
    frame, y = mixed()
    assert FrameSource(form(frame), y).to_matrix().dtype == np.float64
    assert FrameSource(form(frame.drop(columns="f3")), y).to_matrix().dtype == np.float32
    assert FrameSource(form(frame[["f1"]]), y).to_matrix().dtype == np.float64


def test_moments_of_a_frame_are_those_of_its_array():
    frame, y = mixed(missing=True)
    found = fold_of(FrameSource(frame, y), n_jobs=2)(Moments())
    expected = fold_of(table_source(frame.to_numpy(dtype=float, na_value=np.nan), y))(Moments())
    np.testing.assert_array_equal(found.scatter, expected.scatter)


@forms
def test_methods_that_need_all_rows_get_one_copy(form, by_block):
    frame, y = mixed()
    expected = ReliefF().fit(frame.to_numpy(dtype=float), y).scores_
    np.testing.assert_allclose(ReliefF().fit(form(frame), y).scores_, expected, rtol=1e-6)


@forms
def test_errors_name_columns(form, by_block):
    frame, y = mixed()
    frame.loc[4, "f3"] = np.inf
    with pytest.raises(ValueError, match="column 'f3' of X holds infinity"):
        ILFS().fit(form(frame), y)


def test_the_target_may_be_a_column(by_block):
    frame, y = mixed()
    expected = ILFS().fit(frame, y).scores_
    np.testing.assert_array_equal(ILFS().fit(frame.assign(kind=y), "kind").scores_, expected)


def test_a_frame_stored_as_one_array_is_not_copied():
    assert frames.is_one_array(pd.DataFrame(np.zeros((5, 3))))
    assert not frames.is_one_array(pd.DataFrame({"a": [1.0], "b": [1]}))
    assert not frames.is_one_array(pd.DataFrame({"a": pd.array([1.0], dtype="Float64")}))


PEAK = """
import sys, numpy as np, pandas as pd
from ilfs import ILFS
def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
rng = np.random.default_rng(0)
X = rng.random(({n_samples}, {n_features}), dtype=np.float32)
frame = pd.DataFrame(X, columns=[f"f{{j}}" for j in range({n_features})])
del X
kind = "{kind}"
if kind == "one small integer":
    frame["f1"] = (100 * frame["f1"]).astype(np.int8)
elif kind == "one nullable column":
    frame["f1"] = pd.array((100 * frame["f1"]).astype(int), dtype="Int64")
elif kind == "polars":
    import polars as pl
    frame = pl.from_pandas(frame)
else:
    import pyarrow as pa
    frame = pa.Table.from_pandas(frame)
y = np.arange({n_samples}) % 2
small = frame.slice(0, 3000) if kind in ("polars", "pyarrow") else frame.iloc[:3000]
import ilfs.sources.frames as frames
frames.MIN_BYTES_BY_BLOCK = 0
ILFS(n_candidates=300).fit(small, y[:3000])  # so that compiling and loading libraries is not measured
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
ILFS(n_candidates=300).fit(frame, y)
print((status("VmHWM") - before) / 1024, {n_samples} * {n_features} * 4 / 2**20)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="peak memory is measured on Linux only")
@pytest.mark.parametrize(
    ("kind", "n_samples"),
    [
        ("one nullable column", 60_000),
        ("pyarrow", 60_000),
        *(
            pytest.param(kind, 250_000, marks=pytest.mark.slow)
            for kind in ("one small integer", "one nullable column", "polars", "pyarrow")
        ),
    ],
)
def test_a_large_frame_is_not_copied(kind, n_samples):
    code = PEAK.format(kind=kind, n_samples=n_samples, n_features=1000)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak, size = map(float, done.stdout.split())
    assert size > 200
    assert peak < 100


@forms
def test_names_are_set_as_scikit_learn_sets_them(form, monkeypatch):
    frame, y = mixed()
    expected = FisherScore().fit(form(frame), y)
    monkeypatch.setattr(frames, "MIN_BYTES_BY_BLOCK", 0)
    found = FisherScore().fit(form(frame), y)
    assert found.feature_names_in_.dtype == expected.feature_names_in_.dtype
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert found.n_features_in_ == expected.n_features_in_


def test_names_that_are_not_strings_are_left_to_scikit_learn(by_block):
    frame, y = mixed()
    selector = FisherScore().fit(frame, y).fit(frame.set_axis(range(7), axis=1), y)
    assert selector.n_features_in_ == 7
    assert not hasattr(selector, "feature_names_in_")
    with pytest.raises(TypeError, match="string names"):
        selector.fit(frame.rename(columns={"f0": 0}), y)
