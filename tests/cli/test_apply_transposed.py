"""``ilfs apply --transpose``: the selected features of a table that has its features in rows."""

import numpy as np
import pandas as pd
import pytest

from ilfs import ILFS


@pytest.fixture
def run(tmp_path, command):
    return command(tmp_path)


@pytest.fixture
def folder(run):
    """A selection of three features, and the same table with features in rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, 6)).round(3), columns=list("abcdef"))
    frame["kind"] = np.tile(["no", "yes"], 10)
    frame["c"] += 2 * (frame["kind"] == "yes")
    ILFS(3).fit(frame, "kind").save("selection.json")
    frame.drop(columns="kind").T.set_axis([f"S{i}" for i in range(20)], axis=1).to_csv("rows.csv", index_label="gene")
    return frame


def test_a_row_for_each_sample_is_written(folder, run):
    code, _, err = run("apply", "selection.json", "rows.csv", "-o", "small.csv", "--transpose")
    assert (code, err) == (0, "written    small.csv: 3 selected columns\n")
    written = pd.read_csv("small.csv")
    assert written["sample"].tolist() == [f"S{i}" for i in range(20)]
    features = written.columns.drop("sample")
    assert len(features) == 3
    np.testing.assert_array_equal(written[features], folder[features])


def test_without_it_the_error_names_the_option(folder, run):
    code, _, err = run("apply", "selection.json", "rows.csv", "-o", "small.csv")
    assert code == 2
    assert err.endswith("; if it has its features in rows, add --transpose\n")


def test_it_cannot_be_combined_with_keep(folder, run):
    code, _, err = run("apply", "selection.json", "rows.csv", "-o", "x.csv", "--transpose", "--keep", "kind")
    assert code == 2
    assert err == "ilfs: --keep cannot be combined with --transpose, got kind: leave one of them out\n"
