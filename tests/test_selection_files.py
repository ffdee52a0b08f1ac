"""Files of selections: what is written, and errors for anything else."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ilfs.selection_files import plain, read_selection, write_selection

FIELDS = {
    "method": "ILFS",
    "parameters": {"n_features_to_select": 2, "fdr": 0.05, "must_keep": ("a", 1), "random_state": object},
    "n_features": 3,
    "feature_names": ["a", "b", "c"],
    "target": "kind",
    "classes": np.array(["no", "yes"]),
    "selected": np.array([0, 2]),
    "order": np.array([2, 0, 1]),
    "scores": np.array([0.1 + 0.2, -np.inf, np.nan]),
    "columns": {"relevance": np.array([1 / 3, 5e-324, 1.7976931348623157e308]), "nearest": np.array(["c", "", "a"])},
}


def written(tmp_path, **changes):
    path = tmp_path / "selection.json"
    write_selection(path, FIELDS | changes)
    return path


def changed(tmp_path, **changes):
    """Write a file with other values of some keys, as they are."""
    path = written(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path


class TestRoundTrip:
    def test_all_fields_are_read_back(self, tmp_path):
        found = read_selection(written(tmp_path))
        for key in ("method", "n_features", "feature_names", "target"):
            assert found[key] == FIELDS[key]
        for key in ("classes", "selected", "order", "scores"):
            np.testing.assert_array_equal(found[key], FIELDS[key])
        np.testing.assert_array_equal(found["columns"]["relevance"], FIELDS["columns"]["relevance"])
        assert found["columns"]["nearest"].tolist() == ["c", "", "a"]
        assert found["parameters"] == {
            "n_features_to_select": 2,
            "fdr": 0.05,
            "must_keep": ["a", 1],
            "random_state": "<class 'object'>",
        }

    @given(scores=st.lists(st.floats(width=64), min_size=3, max_size=3))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_scores_are_equal_to_the_last_bit(self, scores, tmp_path):
        found = read_selection(written(tmp_path, scores=np.array(scores)))["scores"]
        finite = np.where(np.isnan(scores), 0.0, scores)
        assert np.where(np.isnan(found), 0.0, found).tobytes() == finite.tobytes()
        np.testing.assert_array_equal(np.isnan(found), np.isnan(scores))

    @given(names=st.lists(st.text(st.characters(exclude_categories=())), min_size=3, max_size=3, unique=True))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_any_names(self, names, tmp_path):
        assert read_selection(written(tmp_path, feature_names=names))["feature_names"] == names

    @pytest.mark.parametrize("target", ["kind", 5, ("a", ("b", 1)), None])
    def test_names_of_the_target(self, target, tmp_path):
        assert read_selection(written(tmp_path, target=target))["target"] == target

    @pytest.mark.parametrize("classes", [np.array([0, 1]), np.array([0.5, 1.5]), np.array([False, True]), None])
    def test_classes(self, classes, tmp_path):
        found = read_selection(written(tmp_path, classes=classes))["classes"]
        if classes is None:
            assert found is None
        else:
            np.testing.assert_array_equal(found, classes)
            assert found.dtype == classes.dtype

    def test_columns_keep_their_kinds(self, tmp_path):
        columns = {"n": np.array([1, 2, 3]), "is_new": np.array([True, False, True]), "p": np.array([1.0, 0.5, 0.0])}
        found = read_selection(written(tmp_path, columns=columns))["columns"]
        assert {title: values.dtype.kind for title, values in found.items()} == {"n": "i", "is_new": "b", "p": "f"}

    def test_the_file_is_strict_json_with_a_line_for_each_key(self, tmp_path):
        text = written(tmp_path).read_text()

        def refuse(name):
            raise AssertionError(name)

        record = json.loads(text, parse_constant=refuse)
        assert list(record)[:3] == ["kind", "format", "ilfs_version"]
        assert record["selected_names"] == ["a", "c"]
        assert record["scores"][1:] == ["-Infinity", "NaN"]
        assert text.count("\n") == len(record)
        assert text.isascii()

    def test_the_size_of_many_features(self, tmp_path):
        n, rng = 100_000, np.random.default_rng(0)
        names = [f"ENSG{j:011d}" for j in range(n)]
        path = written(
            tmp_path,
            n_features=n,
            feature_names=names,
            order=rng.permutation(n),
            scores=rng.normal(size=n),
            selected=np.arange(50),
            columns={},
        )
        assert 4.5e6 < path.stat().st_size < 5e6  # the documentation says so


class TestErrors:
    def read(self, path, message):
        with pytest.raises(ValueError, match=message) as caught:
            read_selection(path)
        text = str(caught.value)
        assert str(path) in text
        assert "\n" not in text
        assert text.count(". ") == 0

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.json': save a selection first"):
            read_selection(tmp_path / "none.json")

    def test_a_file_that_is_cut_off(self, tmp_path):
        path = written(tmp_path)
        whole = path.read_bytes()
        for size in range(1, len(whole) - 1):
            path.write_bytes(whole[:size])
            self.read(path, "cut off before its end" if size < len(whole) - 2 else "cut off|damaged")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "is empty"),
            (b"  \n", "is empty"),
            (b"rank,feature\n1,a\n", "is no JSON object"),
            (b"PAR1\x00\xff\xfe", "is not text"),
            (b"[1, 2]", "is another kind of file"),
            (b"{}", "is another kind of file"),
            (b'{"kind": "other"}', "is another kind of file"),
            (b'{"kind": }', "is damaged JSON, in line 1"),
            (b'{"kind": "ilfs selection", "format": NaN}', "is damaged JSON"),
            (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "is damaged JSON"),
        ],
    )
    def test_other_content(self, content, message, tmp_path):
        path = tmp_path / "selection.json"
        path.write_bytes(content)
        self.read(path, message)

    def test_a_newer_format(self, tmp_path):
        self.read(
            changed(tmp_path, format=7, ilfs_version="9.1"),
            r"it has format 7 of ilfs 9\.1, and this version \(.*\) reads format 1: install a newer version of ilfs",
        )

    @pytest.mark.parametrize("number", [0, None, "1", True, 1.5])
    def test_another_format(self, number, tmp_path):
        self.read(changed(tmp_path, format=number), "its format is .*, and this version of ilfs reads format 1")

    @pytest.mark.parametrize("key", ["method", "parameters", "n_features", "target", "classes", "order", "columns"])
    def test_a_missing_key(self, key, tmp_path):
        path = written(tmp_path)
        record = json.loads(path.read_text())
        del record[key]
        path.write_text(json.dumps(record))
        self.read(path, f"it lacks '{key}'")

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_features": 0}, "'n_features' is 0"),
            ({"n_features": True}, "'n_features' is True"),
            ({"feature_names": ["a", "b"]}, "'feature_names' does not name each of the 3 columns"),
            ({"feature_names": ["a", "b", 3]}, "'feature_names' does not name each"),
            ({"feature_names": ["a", "b", "a"]}, "'feature_names' has a name twice"),
            ({"order": [0, 1]}, "'order' has 2 of the 3 columns"),
            ({"order": [0, 1, 1]}, "'order' does not hold different columns from 0 to 2"),
            ({"order": [0, 1, 3]}, "'order' does not hold different columns"),
            ({"order": [0, 1, 2.0]}, "'order' does not hold different columns"),
            ({"order": "012"}, "'order' does not hold different columns"),
            ({"selected": [3]}, "'selected' does not hold different columns"),
            ({"selected": [1]}, "'selected_names' are not those"),
            ({"scores": [1, 2]}, "'scores' does not hold a number for each"),
            ({"scores": [1, 2, "x"]}, "'scores' does not hold a number for each"),
            ({"scores": [1, 2, None]}, "'scores' does not hold a number for each"),
            ({"scores": [1, 2, 10**400]}, "int too large"),
            ({"columns": {"p_value": [1.0]}}, "'p_value' does not hold a value for each|number for each"),
            ({"columns": {"p_value": [[1], [2], [3]]}}, "'p_value' does not hold a value for each"),
            ({"columns": []}, "'parameters' and 'columns' are no JSON objects"),
            ({"parameters": None}, "'parameters' and 'columns' are no JSON objects"),
            ({"classes": {"a": 1}}, "'classes' is no list of labels"),
        ],
    )
    def test_values_that_do_not_fit(self, changes, message, tmp_path):
        self.read(changed(tmp_path, **changes), message)

    @pytest.mark.parametrize("key", [*FIELDS, "selected_names", "ilfs_version"])
    def test_any_other_value_is_refused_in_one_sentence_or_read(self, key, tmp_path):
        for value in (
            None,
            True,
            -1,
            1.5,
            "x",
            [],
            [[]],
            [None, None, None],
            ["x", 1, {}],
            {},
            {"a": {}},
            {"a": [1, 2, 3]},
        ):
            path = changed(tmp_path, **{key: value})
            with suppress(ValueError):  # any other error fails the test
                read_selection(path)

    def test_a_folder_that_does_not_exist(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="make its folder first"):
            write_selection(tmp_path / "none" / "selection.json", FIELDS)


def test_values_without_a_form_in_json_become_text():
    assert plain(np.float32(0.5)) == 0.5
    assert plain(math.inf) == "Infinity"
    assert plain({1: (2, {"a": None})}) == {"1": [2, {"a": None}]}
    assert plain(slice(1)) == "slice(None, 1, None)"


def test_threads_that_write_to_one_path_leave_one_whole_file(tmp_path):
    path = tmp_path / "selection.json"
    many = [FIELDS | {"scores": np.full(3, float(i))} for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda fields: write_selection(path, fields), many))
    scores = read_selection(path)["scores"]
    assert (scores == scores[0]).all()
    assert [file.name for file in tmp_path.iterdir()] == ["selection.json"]
