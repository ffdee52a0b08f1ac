"""``ilfs apply`` to tables with features in rows, with sample sheets and with repeated names."""

import numpy as np
import pandas as pd
import pytest
from helpers import read_csv_exactly

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
    written = read_csv_exactly("small.csv")
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


class TestSampleSheet:
    @pytest.fixture
    def sheet(self, folder):
        """Classes and ages of all samples but the last, in another order than that of the table."""
        listed = pd.DataFrame({"id": [f"S{i}" for i in range(19)], "kind": folder["kind"][:19], "age": range(19)})
        listed[::-1].to_csv("sheet.csv", index=False)
        return listed

    @pytest.mark.parametrize("transpose", [(), ("--transpose",)])
    def test_the_classes_of_the_sheet_stand_before_the_features(self, sheet, folder, run, transpose):
        code, _, err = run("apply", "selection.json", "rows.csv", "-o", "x.csv", "--samples", "sheet.csv", *transpose)
        assert code == 0
        assert "1 sample of rows.csv left out, as sheet.csv has no such names: S19" in " ".join(err.split())
        written = read_csv_exactly("x.csv")
        assert written.columns[:2].tolist() == ["sample", "kind"]
        assert written["sample"].tolist() == sheet["id"].tolist()
        assert written["kind"].tolist() == sheet["kind"].tolist()
        features = written.columns[2:]
        assert len(features) == 3
        np.testing.assert_array_equal(written[features], folder[features][:19])

    def test_samples_may_be_in_rows(self, sheet, folder, run):
        wide = folder.drop(columns="kind").set_axis([f"S{i}" for i in range(20)])
        wide.to_csv("wide.csv", index_label="id")
        code, _, err = run("apply", "selection.json", "wide.csv", "-o", "x.csv", "--samples", "sheet.csv")
        assert code == 0, err
        assert read_csv_exactly("x.csv")["kind"].tolist() == sheet["kind"].tolist()

    @pytest.mark.parametrize(("keep", "expected"), [(("age",), ["age"]), (("others",), ["kind", "age"])])
    def test_keep_names_columns_of_the_sheet(self, sheet, run, keep, expected):
        arguments = ("apply", "selection.json", "rows.csv", "-o", "x.csv", "--samples", "sheet.csv", "--keep", *keep)
        assert run(*arguments)[0] == 0
        assert read_csv_exactly("x.csv").columns[1:-3].tolist() == expected

    def test_an_unknown_column_is_refused(self, sheet, run):
        arguments = ("apply", "selection.json", "rows.csv", "-o", "x.csv", "--samples", "sheet.csv", "--keep", "sex")
        code, _, err = run(*arguments)
        assert code == 2
        assert err.splitlines()[-1].endswith("--keep must name columns of sheet.csv, got 'sex', which is none of them")


class TestRepeatedNames:
    """Two genes are called TP53, so that the second one is TP53.1 in the selection."""

    @pytest.fixture
    def table(self, folder):
        names = ["TP53", "MYC", "TP53", "d", "e", "f"]
        rows = read_csv_exactly("rows.csv").assign(gene=names)
        rows.to_csv("twice.csv", index=False)
        wide = folder.drop(columns="kind").set_axis(names, axis=1)
        wide.to_csv("wide.csv", index=False)
        ILFS(1).fit(folder.set_axis(["TP53", "MYC", "TP53.1", "d", "e", "f", "kind"], axis=1), "kind").save("one.json")
        return folder

    @pytest.mark.parametrize("arguments", [("twice.csv", "--transpose"), ("wide.csv",)])
    def test_the_second_feature_of_a_name_is_found(self, table, run, arguments):
        code, _, err = run("apply", "one.json", *arguments, "-o", "x.csv")
        assert code == 0, err
        np.testing.assert_array_equal(read_csv_exactly("x.csv")["TP53.1"], table["c"])

    def test_names_that_were_not_numbered_at_the_fit_stay_ambiguous(self, table, run):
        code, _, err = run("apply", "selection.json", "wide.csv", "-o", "x.csv")
        assert code == 2
        assert "names of columns of wide.csv must differ, got 'TP53' more than once" in err
