import csv
import os
import threading

import numpy as np
import pytest
from helpers import planted
from platforms import needs_posix

from ilfs import ILFS
from ilfs.ranking_table import RankingTable
from ilfs.report import ranking_text, write_ranking


@pytest.fixture(scope="module")
def fitted():
    X, y = planted(n_features=12)
    return ILFS(3).fit(X, y)


def named(names):
    import pandas as pd

    X, y = planted(n_features=len(names))
    return ILFS().fit(pd.DataFrame(X, columns=names), y)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


class TestText:
    def test_one_line_a_feature_best_first(self, fitted):
        titles, *lines = ranking_text(fitted, top=4).splitlines()
        more = ["direction", "effect", "novelty", "nearest", "correlation"]
        assert titles.split() == ["rank", "feature", "score", "relevance", *more]
        assert [int(line.split()[0]) for line in lines] == [1, 2, 3, 4]
        assert [line.split()[1] for line in lines] == [f"x{j}" for j in fitted.order_[:4]]

    def test_ten_features_by_default(self, fitted):
        assert len(ranking_text(fitted).splitlines()) == 11
        assert len(ranking_text(fitted, top=99).splitlines()) == 13

    def test_columns_are_aligned(self, fitted):
        text = ranking_text(fitted, top=12)
        assert len({len(line) for line in text.splitlines()}) == 1
        assert not any(line.endswith(" ") for line in text.splitlines())

    def test_names_are_to_the_left_and_numbers_to_the_right(self):
        titles, *lines = ranking_text(named(["a", "a long name"])).splitlines()
        start, end = titles.index("feature"), titles.index("rank") + len("rank")
        assert {line[start] for line in lines} == {"a"}
        assert {line[end - 1] for line in lines} == {"1", "2"}

    def test_numbers_are_near_those_of_the_selector(self, fitted):
        line = ranking_text(fitted, top=1).splitlines()[1].split()
        assert float(line[2]) == pytest.approx(fitted.scores_.max(), rel=1e-3)
        assert float(line[3]) == pytest.approx(fitted.relevance_.max(), rel=1e-3)

    def test_names_may_be_given(self, fitted):
        names = [f"gene{j}" for j in range(12)]
        assert f"gene{fitted.order_[0]}" in ranking_text(fitted, top=1, input_features=names)


class TestFile:
    def test_file_holds_the_whole_ranking(self, fitted, tmp_path):
        path = write_ranking(fitted, tmp_path / "ranking.csv")
        assert path == tmp_path / "ranking.csv"
        titles, *rows = rows_of(path)
        assert titles == list(fitted.table())
        assert [int(row[2]) for row in rows] == fitted.order_.tolist()

    def test_names_that_a_spreadsheet_would_run_are_escaped_on_request(self, tmp_path):
        names = ["=1+1", "@sum", "+a", "-b", "\tc", "\rd", "plain", "'quoted"]
        selector = named(names)
        as_they_are = rows_of(write_ranking(selector, tmp_path / "names.csv"))[1:]
        assert {row[1] for row in as_they_are} == set(names)
        safe = rows_of(write_ranking(selector, tmp_path / "safe.csv", spreadsheet_safe=True))[1:]
        told = {int(row[2]): row[1] for row in safe}
        assert [told[j] for j in range(8)] == ["'=1+1", "'@sum", "'+a", "'-b", "'\tc", "'\rd", "plain", "'quoted"]
        nearest = {row[list(selector.table()).index("nearest")] for row in safe} - {""}
        assert nearest
        assert nearest <= set(told.values())
        assert [row[3:6] for row in safe] == [row[3:6] for row in as_they_are]  # numbers may be negative

    @needs_posix
    def test_a_link_stays_a_link(self, fitted, tmp_path):
        (tmp_path / "real.csv").write_text("old")
        (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
        write_ranking(fitted, tmp_path / "link.csv")
        assert (tmp_path / "link.csv").is_symlink()
        assert (tmp_path / "real.csv").read_text().startswith("rank,")

    @needs_posix
    def test_the_mode_of_a_file_is_kept(self, fitted, tmp_path):
        path = tmp_path / "ranking.csv"
        path.touch()
        path.chmod(0o640)
        write_ranking(fitted, path)
        assert path.stat().st_mode & 0o777 == 0o640

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_pipe_is_written_to_and_stays_a_pipe(self, fitted, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        write_ranking(fitted, pipe, top=2)
        assert os.read(reader, 1000).decode().startswith("rank,")
        os.close(reader)
        assert pipe.is_fifo()

    def test_a_folder_in_its_place_is_named(self, fitted, tmp_path):
        with pytest.raises(IsADirectoryError) as error:
            write_ranking(fitted, tmp_path)
        assert ".part" not in str(error.value)

    def test_numbers_come_back_to_the_last_bit(self, fitted, tmp_path):
        _, *rows = rows_of(write_ranking(fitted, tmp_path / "ranking.csv"))
        np.testing.assert_array_equal([float(row[3]) for row in rows], fitted.scores_[fitted.order_])
        np.testing.assert_array_equal([float(row[4]) for row in rows], fitted.relevance_[fitted.order_])

    def test_only_the_best_features_are_written(self, fitted, tmp_path):
        assert len(rows_of(write_ranking(fitted, str(tmp_path / "ranking.csv"), top=2))) == 3

    def test_awkward_names_come_back(self, tmp_path):
        names = ['said "so"', "comma, comma", "two\nlines", "größe", " spaces "]
        _, *rows = rows_of(write_ranking(named(names), tmp_path / "ranking.csv"))
        assert sorted(row[1] for row in rows) == sorted(names)

    def test_an_old_file_is_replaced(self, fitted, tmp_path):
        path = tmp_path / "ranking.csv"
        path.write_text("old " * 10_000)
        write_ranking(fitted, path, top=1)
        assert len(rows_of(path)) == 2
        assert list(tmp_path.iterdir()) == [path]

    def test_a_failed_write_leaves_the_old_file_and_nothing_else(self, fitted, tmp_path, monkeypatch):
        class FullDisk:
            def __init__(self, file, **options):
                self.file = file

            def writerow(self, row):
                self.file.write("rank,")
                raise OSError("no space left on device")

        path = tmp_path / "ranking.csv"
        path.write_text("old")
        monkeypatch.setattr("csv.writer", FullDisk)
        with pytest.raises(OSError, match="no space left"):
            write_ranking(fitted, path)
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    def test_an_interrupted_write_leaves_nothing(self, fitted, tmp_path, monkeypatch):
        def interrupt(*args, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr("csv.writer", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_ranking(fitted, tmp_path / "ranking.csv")
        assert list(tmp_path.iterdir()) == []

    def test_threads_that_write_one_file_never_mix(self, tmp_path):
        path, errors = tmp_path / "ranking.csv", []
        selectors = [named([f"{letter}{j}" for j in range(200)]) for letter in "ab"]

        def write(selector):
            try:
                for _ in range(25):
                    names = [row[1][0] for row in rows_of(write_ranking(selector, path))[1:]]
                    assert (len(names), len(set(names))) == (200, 1)
            except (OSError, AssertionError) as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=(selector,)) for selector in selectors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert list(tmp_path.iterdir()) == [path]

    def test_a_missing_folder_is_named(self, fitted, tmp_path):
        with pytest.raises(FileNotFoundError) as error:
            write_ranking(fitted, tmp_path / "nowhere" / "ranking.csv")
        assert ".part" not in str(error.value)
        assert str(tmp_path / "nowhere") in str(error.value)

    def test_a_selector_not_fitted_writes_nothing(self, tmp_path):
        with pytest.raises(ValueError, match="not fitted"):
            write_ranking(ILFS(), tmp_path / "ranking.csv")
        assert list(tmp_path.iterdir()) == []


def test_small_scores_keep_their_digits_and_one_infinite_score_does_not_matter():
    def words(scores):
        return RankingTable(score=np.array(scores)).to_text().split()

    assert words([-1e-6, -2e-6]) == ["score", "-1.0000e-06", "-2.0000e-06"]
    assert words([np.inf, 0.5]) == ["score", "inf", "0.5000"]
    assert words([0.0, 0.0]) == ["score", "0.0000", "0.0000"]
