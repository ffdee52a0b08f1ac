import numpy as np
import pytest

from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.challenge import read_challenge


def parts(folder, *texts):
    paths = []
    for number, (rows, labels) in enumerate(texts):
        pair = folder / f"{number}.data", folder / f"{number}.labels"
        for path, text in zip(pair, (rows, labels), strict=True):
            path.write_text(text)
        paths.append(pair)
    return read_challenge(paths, 5, "dexter", DEFAULT_LIMITS)


def test_parts_are_stacked(tmp_path):
    table = parts(tmp_path, ("1:999 5:7 \n3:2 \n", "1\n-1\n"), ("2:4\n", "-1\n"))
    np.testing.assert_array_equal(table.X.toarray(), [[999, 0, 0, 0, 7], [0, 0, 2, 0, 0], [0, 4, 0, 0, 0]])
    assert (table.y.tolist(), table.class_names) == ([1, 0, 0], ("-1", "1"))


@pytest.mark.parametrize(
    ("rows", "labels", "sentence"),
    [
        (
            "1:2\n6:1\n",
            "1\n-1\n",
            r"row 2 of .*0\.data must have pairs index:value with indices from 1 to 5, got '6:1'",
        ),
        ("0:2\n1:1\n", "1\n-1\n", r"row 1 of .*got '0:2'"),
        ("1:2 3\n1:1\n", "1\n-1\n", r"row 1 of .*got '1:2 3'"),
        ("1:2\n", "1\n-1\n", r"0\.labels must have 1 labels, one a row, got 2"),
        ("1:2\n2:1\n", "1\n1\n", r"must hold at least two classes"),
    ],
)
def test_wrong_rows_and_labels_are_refused(tmp_path, rows, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        parts(tmp_path, (rows, labels))
