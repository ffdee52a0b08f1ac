"""Pictures of selectors: the numbers behind them, bad input, hostile names, and files."""

import os
import subprocess
import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from helpers import planted
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.exceptions import NotFittedError

import ilfs
from ilfs import CFS, ILFS, FisherScore, Novelty, list_methods
from ilfs.registry import make_selector
from ilfs.report.plots import check_plot_path, write_plot
from ilfs.report.plots.canvas import CLASS_COLOURS, shown_name
from ilfs.report.plots.families import FamilyMap
from ilfs.report.plots.heatmap import HeatMap, feature_order, z_scores
from ilfs.report.plots.labels import place_boxes
from ilfs.report.plots.pixels import PixelMap
from ilfs.report.plots.scores import BestFeatures, ScoreCurve, finite_lengths, score_limits
from ilfs.report.plots.volcano import Volcano
from ilfs.selection import FDRSelector, SizeCV

HOSTILE = [
    "$x^2$", "_private", "<script>alert(1)</script>", "a\nb", "100 %", r"\frac{1}{0", "$", "名前", "\N{GRINNING FACE}",
    "=SUM(A1)", "x" * 10_000, "\N{RIGHT-TO-LEFT OVERRIDE}gnp", "", "{}", "#", "&amp;", "q_1$_$", "nul\0", "tab\t", "é",
]  # fmt: skip


def axes(width=7.0, height=5.0):
    return Figure(figsize=(width, height), dpi=100).subplots()


def drawn(ax):
    """Draw a figure with all warnings as errors, as a file would be."""
    ax.figure.savefig(os.devnull, format="png")
    return ax


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.fixture(scope="module")
def data():
    return planted(n_samples=80, n_features=40, n_informative=6)


@pytest.fixture(scope="module")
def tested(data):
    return FisherScore(5, n_permutations=30).fit(*data)


class TestScores:
    def test_bars_are_the_best_features_in_order(self, data):
        selector = FisherScore(3).fit(*data)
        best = BestFeatures.from_selector(selector, 8)
        assert best.names == tuple(f"x{column}" for column in selector.order_[:8])
        np.testing.assert_array_equal(best.scores, np.sort(selector.scores_)[::-1][:8])
        assert best.is_selected.tolist() == [True] * 3 + [False] * 5
        assert (best.n_features, best.n_selected, best.n_first_selected) == (40, 3, 3)

    def test_directions_are_the_classes_with_the_larger_mean(self, data):
        X, y = data
        labels = np.array(["sick", "well"])[y]
        best = BestFeatures.from_selector(FisherScore(3).fit(X, labels), 4)
        columns = [int(name[1:]) for name in best.names]
        larger = X[y == 1][:, columns].mean(axis=0) > X[y == 0][:, columns].mean(axis=0)
        assert best.directions == tuple(np.where(larger, "well", "sick"))

    def test_bars_have_the_lengths_of_the_scores_and_pale_colours_if_not_selected(self, data):
        ax = drawn(FisherScore(3).fit(*data).plot.scores(6, ax=axes()))
        widths = [bar.get_width() for bar in ax.patches]
        assert widths == sorted(widths, reverse=True)
        darkness = [3 - sum(bar.get_facecolor()[:3]) for bar in ax.patches]
        assert min(darkness[:3]) > max(darkness[3:])

    def test_the_curve_in_the_corner_is_covered_by_no_bar(self):
        for lengths in (np.ones(20), np.geomspace(1, 1e-3, 20), np.array([5.0, *np.ones(9)])):
            low, high = score_limits(lengths, 0.74, has_q=True)
            in_corner = lengths[int(0.26 * lengths.size) + 1 :]
            assert (in_corner.max() - low) / (high - low) <= 0.5
            assert (lengths.max() - low) / (high - low) <= 0.9

    def test_negative_scores_are_dots_not_bars(self, data):
        ax = drawn(CFS(3).fit(data[0]).plot.scores(10, ax=axes()))
        assert not ax.patches
        (dots,) = (one for one in ax.collections if len(one.get_offsets()) == 10)
        places = dots.get_offsets()[:, 0]
        assert (np.diff(places) <= 0).all()

    def test_infinite_scores_have_the_longest_bars(self):
        np.testing.assert_array_equal(finite_lengths(np.array([np.inf, 2.0, np.nan])), [2.3, 2.0, 0.0])
        X, y = np.array([[0.0, 1], [0, 2], [1, 1], [1, 3]]), [0, 0, 1, 1]
        drawn(FisherScore(1).fit(X, y).plot.scores(ax=axes()))

    @pytest.mark.parametrize("method", list_methods(), ids=lambda method: method.name)
    def test_every_method_draws_its_scores(self, method):
        X, y = planted(n_samples=40, n_features=12)
        selector = make_selector(f"{method.name}(fisher)" if method.wraps_another else method.name)
        selector.fit(np.abs(X), y)
        ax = drawn(selector.plot.scores(ax=axes()))
        assert row_names(ax) == [f"x{column}" for column in selector.order_]
        drawn(selector.plot.curve(ax=axes()))

    @pytest.mark.parametrize("wrapped", [FDRSelector("fisher"), SizeCV(ILFS()), Novelty(FisherScore())])
    def test_selectors_around_others_draw_their_scores(self, data, wrapped):
        drawn(wrapped.fit(*data).plot.scores(ax=axes()))

    def test_a_loaded_selection_draws_its_scores_and_volcano(self, tested, tmp_path):
        tested.save(tmp_path / "selection.json")
        loaded = ilfs.load(tmp_path / "selection.json")
        assert row_names(drawn(loaded.plot.scores(ax=axes()))) == row_names(tested.plot.scores(ax=axes()))
        drawn(loaded.plot.volcano(ax=axes()))

    def test_several_labels_are_drawn_without_directions(self, data):
        X, y = data
        selector = FisherScore(3).fit(X, np.column_stack([y, np.arange(y.size) % 2]))
        assert BestFeatures.from_selector(selector).directions == ()
        drawn(selector.plot.scores(ax=axes()))

    def test_more_classes_than_colours_have_one_colour(self):
        rng = np.random.default_rng(0)
        y = np.arange(120) % (len(CLASS_COLOURS) + 2)
        ax = drawn(FisherScore(30).fit(rng.normal(size=(120, 30)), y).plot.scores(30, ax=axes()))
        assert len({bar.get_facecolor() for bar in ax.patches}) == 1


class TestCurve:
    def test_the_curve_of_scores_falls_and_ends_its_selection_at_the_cut(self, data):
        curve = ScoreCurve.from_selector(FisherScore(4).fit(*data))
        assert (np.diff(curve.values) <= 0).all()
        assert curve.selected.tolist() == [1, 2, 3, 4]
        assert (curve.title, curve.n_first_selected, curve.null) == ("score", 4, None)

    def test_the_tested_statistic_is_drawn_with_its_null(self, data):
        selector = ILFS(5, n_permutations=30).fit(*data)
        curve = ScoreCurve.from_selector(selector)
        assert curve.title == "relevance"
        np.testing.assert_array_equal(curve.values, np.sort(selector.relevance_)[::-1])
        np.testing.assert_allclose(curve.values[curve.null.ranks - 1], curve.null.observed)
        picked = np.sort(selector.relevance_[selector.get_support()])[::-1]
        np.testing.assert_array_equal(curve.values[curve.selected - 1], picked)

    def test_features_that_are_no_candidates_are_not_in_the_curve_of_picks(self, data):
        curve = ScoreCurve.from_selector(ILFS(3, n_candidates=15).fit(*data))
        assert curve.values.size == 15
        assert curve.values.min() >= 0

    def test_a_selection_that_is_not_the_first_part_is_marked_by_dots(self, data):
        X, y = data
        repeated = X[:, :1] + 1e-3 * X[:, 1:4]  # as relevant as the first feature, but nothing new
        selector = ILFS(4, n_permutations=30).fit(np.hstack([X, repeated]), y)
        curve = ScoreCurve.from_selector(selector)
        assert curve.n_first_selected is None
        ax = drawn(selector.plot.curve(ax=axes()))
        dots = [one for one in ax.collections if len(one.get_offsets()) == curve.selected.size]
        np.testing.assert_array_equal(dots[0].get_offsets()[:, 0], curve.selected)


class TestVolcano:
    def test_points_are_effects_and_logarithms_of_q_values(self, tested, data):
        X, y = data
        volcano = Volcano.from_selector(tested)
        column = tested.order_[0]
        a, b = X[y == 0, column], X[y == 1, column]
        pooled = np.sqrt((a.var(ddof=1) * (a.size - 1) + b.var(ddof=1) * (b.size - 1)) / (a.size + b.size - 2))
        x, height = volcano.points()[0]
        np.testing.assert_allclose(x, (b.mean() - a.mean()) / pooled, rtol=1e-6)
        np.testing.assert_allclose(height, -np.log10(tested.q_values_[column]))

    def test_infinite_effects_are_drawn_at_the_edge(self, tested):
        volcano = Volcano.from_selector(tested)
        effect = volcano.effect.copy()
        effect[:3] = np.inf, -np.inf, np.nan
        points = replace(volcano, effect=effect).points()
        largest = np.abs(effect[np.isfinite(effect)]).max()
        np.testing.assert_allclose(points[:3, 0], [1.08 * largest, -1.08 * largest, 0.0])

    def test_the_best_selected_features_are_named(self, tested):
        ax = drawn(tested.plot.volcano(3, ax=axes()))
        named = {text.get_text() for text in ax.texts} & {f"x{column}" for column in range(40)}
        assert named == {f"x{column}" for column in tested.order_[:3]}

    def test_names_do_not_overlap(self, tested):
        ax = drawn(tested.plot.volcano(5, ax=axes()))
        boxes = [text.get_window_extent() for text in ax.texts if text.get_text().startswith("x")]
        assert len(boxes) >= 2
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])

    def test_q_values_are_needed(self, data):
        with pytest.raises(ValueError, match=r"volcano needs q-values.*n_permutations=99"):
            FisherScore().fit(*data).plot.volcano(ax=axes())

    def test_classes_are_needed(self, data):
        X, y = data
        several = FisherScore(2, n_permutations=20).fit(X, np.column_stack([y, np.arange(y.size) % 2]))
        with pytest.raises(ValueError, match=r"one class for each sample.*per_label_"):
            several.plot.volcano(ax=axes())
        drawn(several.per_label_[0].plot.volcano(ax=axes()))


class TestPlacesOfNames:
    @pytest.mark.parametrize("seed", range(5))
    def test_boxes_overlap_neither_each_other_nor_points_and_stay_inside(self, seed):
        rng = np.random.default_rng(seed)
        anchors = rng.uniform(0, 400, size=(60, 2))
        sizes, bounds = rng.uniform([20, 8], [90, 14], size=(60, 2)), np.array([0.0, 0, 400, 400])
        centres = place_boxes(anchors, sizes, bounds, anchors)
        kept = np.flatnonzero(~np.isnan(centres[:, 0]))
        assert kept.size >= 10
        assert 0 in kept  # the most important one
        low, high = centres - sizes / 2, centres + sizes / 2
        assert (low[kept] >= 0).all()
        assert (high[kept] <= 400).all()
        for a in kept:
            assert not ((anchors > low[a]) & (anchors < high[a])).all(axis=1).any()
            for b in kept[kept < a]:
                assert not ((low[a] < high[b]) & (low[b] < high[a])).all()

    def test_no_names_need_no_places(self):
        assert place_boxes(np.empty((0, 2)), np.empty((0, 2)), np.zeros(4), np.empty((0, 2))).shape == (0, 2)


class TestFamilies:
    def test_members_and_correlations_are_those_of_the_selector(self):
        rng = np.random.default_rng(0)
        y = np.arange(100) % 2
        base = y + rng.normal(size=100)
        X = np.column_stack([base, base + 0.1 * rng.normal(size=100), -base + 0.2 * rng.normal(size=100)])
        X = pd.DataFrame(np.column_stack([X, rng.normal(size=(100, 4))]), columns=list("abcdefg"))
        selector = ILFS(1).fit(X, y)
        (family,) = FamilyMap.from_selector(selector).families
        assert {family.head, *family.members} == {"a", "b", "c"}
        found = dict(zip(family.members, family.correlations, strict=True))
        for name, correlation in found.items():
            np.testing.assert_allclose(correlation, np.corrcoef(X[family.head], X[name])[0, 1], atol=0.05)
        ax = drawn(selector.plot.families(ax=axes()))
        assert row_names(ax) == [family.head]
        assert ax.get_legend() is not None  # negative correlations have another colour

    def test_equal_names_do_not_merge_families(self, data):
        selector = ILFS(4).fit(*data)
        shown = FamilyMap.from_selector(selector, input_features=["same"] * 40)
        assert [family.head for family in shown.families] == ["same"] * 4

    @pytest.mark.parametrize("selector", [FisherScore(2), SizeCV(FisherScore())])
    def test_a_selector_without_families_is_named(self, data, selector):
        with pytest.raises(ValueError, match=rf"got {type(selector).__name__}: use ilfs.ILFS"):
            selector.fit(*data).plot.families(ax=axes())

    def test_redundancy_is_needed(self, data):
        with pytest.raises(ValueError, match="redundancy=None"):
            ILFS(2, redundancy=None).fit(*data).plot.families(ax=axes())


class TestHeatMap:
    def test_rows_are_z_scores_of_the_selected_features(self, data):
        X, y = data
        selector = FisherScore(4).fit(X, y)
        shown = HeatMap.from_selector(selector, X, y)
        assert sorted(shown.names) == sorted(f"x{column}" for column in np.flatnonzero(selector.get_support()))
        for name, row in zip(shown.names, shown.z, strict=True):
            values = X[:, int(name[1:])]
            np.testing.assert_allclose(np.sort(row), np.sort((values - values.mean()) / values.std()), rtol=1e-5)

    def test_samples_are_ordered_by_class(self, data):
        X, y = data
        X = np.column_stack([X, y])  # the feature is the class itself
        shown = HeatMap.from_selector(FisherScore(1).fit(X, y), X, y)
        assert (np.diff(shown.z[0]) >= 0).all()
        assert shown.sizes.tolist() == np.bincount(y).tolist()
        assert shown.labels == ("0", "1")

    def test_correlated_features_are_neighbours(self):
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=(2, 50))
        order = feature_order(np.column_stack([a, b, a, b, a]) + 0.01 * rng.normal(size=(50, 5))).tolist()
        assert {tuple(sorted(order[:3])), tuple(sorted(order[2:]))} & {(0, 2, 4)}

    def test_constant_and_missing_values_have_no_z_score(self):
        z = z_scores(np.array([[1.0, 7, np.nan], [2, 7, np.nan], [np.nan, 7, np.nan]]))
        np.testing.assert_array_equal(z, [[-1, 0, np.nan], [1, 0, np.nan], [np.nan, 0, np.nan]])

    def test_large_values_keep_their_digits(self):
        values = np.arange(5.0)[:, None]
        np.testing.assert_allclose(z_scores(values + 1e9), z_scores(values), atol=1e-6)

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame, lambda X: pd.DataFrame(X.copy())])
    def test_all_forms_of_a_table_give_the_same_picture(self, data, form):
        X, y = np.where(np.abs(data[0]) < 0.3, 0.0, data[0]), data[1]
        selector = FisherScore(4).fit(X, y)
        wanted, shown = HeatMap.from_selector(selector, X, y), HeatMap.from_selector(selector, form(X), y)
        assert shown.names == wanted.names
        np.testing.assert_allclose(shown.z, wanted.z, rtol=1e-6)

    def test_classes_are_taken_from_the_column_of_the_fit(self, data):
        frame = pd.DataFrame(data[0]).add_prefix("g").assign(kind=np.array(["a", "b"])[data[1]])
        selector = FisherScore(4).fit(frame, "kind")
        shown = HeatMap.from_selector(selector, frame)
        assert shown.labels == ("a", "b")
        assert "kind" not in shown.names

    def test_without_classes_there_is_no_strip(self, data):
        selector = FisherScore(4).fit(*data)
        assert HeatMap.from_selector(selector, data[0]).labels == ()
        drawn(selector.plot.heatmap(data[0], ax=axes()))

    @pytest.mark.parametrize("n_classes", [2, 3, 15])
    def test_classes_are_named_above_the_strip_or_in_a_legend(self, data, n_classes):
        y = np.array([f"a class with number {k}" for k in np.arange(80) % n_classes])
        ax = drawn(FisherScore(4).fit(data[0], y).plot.heatmap(data[0], y, ax=axes()))
        strip = ax.child_axes[0]
        named = [text.get_text() for text in strip.texts]
        legend = ax.get_legend()
        assert len(named) + (0 if legend is None else len(legend.get_texts())) == n_classes

    def test_other_columns_are_refused(self, data):
        X, y = data
        with pytest.raises(ValueError, match="39"):
            FisherScore(4).fit(X, y).plot.heatmap(X[:, 1:], y, ax=axes())

    def test_wrong_number_of_labels_is_refused(self, data):
        X, y = data
        with pytest.raises(ValueError, match="79"):
            FisherScore(4).fit(X, y).plot.heatmap(X, y[1:], ax=axes())

    def test_nothing_selected_is_refused(self):
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(30, 5)), np.arange(30) % 2
        selector = FisherScore("fdr", fdr=0.01).fit(X, y)
        assert not selector.get_support().any()
        with pytest.raises(ValueError, match="heatmap needs a selected feature"):
            selector.plot.heatmap(X, y, ax=axes())


class TestPixels:
    def test_the_image_has_the_values_of_the_pixels(self):
        X, y = planted(n_samples=60, n_features=12)
        selector = FisherScore(2).fit(X, y)
        shown = PixelMap.from_selector(selector, (3, 4))
        np.testing.assert_array_equal(shown.image.ravel(), selector.scores_)
        assert (shown.picks @ [4, 1]).tolist() == selector.order_[:2].tolist()

    def test_pixels_may_be_stored_column_by_column(self):
        X, y = planted(n_samples=60, n_features=12)
        selector = ILFS(2).fit(X, y)
        shown = PixelMap.from_selector(selector, (3, 4), "F")
        np.testing.assert_array_equal(shown.image.ravel(order="F"), selector.relevance_)
        assert (shown.picks @ [1, 3]).tolist() == selector.order_[:2].tolist()

    def test_colours_are_averaged(self):
        X, y = planted(n_samples=60, n_features=12)
        selector = FisherScore(2).fit(X, y)
        shown = PixelMap.from_selector(selector, (2, 2, 3))
        np.testing.assert_allclose(shown.image, selector.scores_.reshape(2, 2, 3).mean(axis=2))
        drawn(selector.plot.pixels((2, 2, 3), ax=axes()))

    @pytest.mark.parametrize("shape", [(4, 4), (12,), "3x4", 12, (3, 4.0), (0, 12), (-3, -4)])
    def test_a_wrong_shape_is_refused(self, shape):
        X, y = planted(n_samples=60, n_features=12)
        with pytest.raises(ValueError, match="shape must"):
            FisherScore(2).fit(X, y).plot.pixels(shape, ax=axes())


class TestAccessor:
    @pytest.mark.parametrize("name", ["scores", "curve", "volcano", "families"])
    def test_a_selector_that_is_not_fitted_is_refused(self, name):
        with pytest.raises(NotFittedError):
            getattr(ILFS().plot, name)()

    def test_the_axes_given_are_returned(self, tested, data):
        for draw in (tested.plot.scores, tested.plot.curve, tested.plot.volcano):
            ax = axes()
            assert draw(ax=ax) is ax

    @pytest.mark.parametrize("ax", [np.array([1]), "axes", 3])
    def test_anything_but_axes_is_refused(self, tested, ax):
        with pytest.raises(TypeError, match="ax must be the Axes"):
            tested.plot.scores(ax=ax)

    @pytest.mark.parametrize("top", [0, -1, 2.5, "all"])
    def test_a_wrong_number_is_refused(self, tested, top):
        with pytest.raises(ValueError, match="top must be an integer >= 1"):
            tested.plot.scores(top)

    def test_a_new_figure_is_made_with_the_backend_of_the_user(self):
        script = (
            "import matplotlib; matplotlib.use('svg'); import numpy as np; from ilfs import FisherScore;"
            "X, y = np.random.default_rng(0).normal(size=(40, 9)), np.arange(40) % 2;"
            "s = FisherScore(3, n_permutations=20).fit(X, y);"
            "[draw() for draw in (s.plot.scores, s.plot.curve, s.plot.volcano, lambda: s.plot.heatmap(X, y))];"
            "s.plot.pixels((3, 3)); import matplotlib.pyplot as plt, os; plt.gcf().savefig(os.devnull, format='svg');"
            "print(matplotlib.get_backend(), len(plt.get_fignums()))"
        )
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        assert done.stdout.split() == ["svg", "5"]

    def test_drawing_needs_the_extra_and_says_so(self, tested, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        wanted = 'needs the package matplotlib: pip install "ilfs\\[report\\]"'
        with pytest.raises(ImportError, match=wanted):
            tested.plot.scores()
        with pytest.raises(ImportError, match=wanted):
            write_plot(tested, tmp_path / "a.png")

    def test_the_settings_of_the_user_stay(self, tested, tmp_path):
        before = dict(matplotlib.rcParams)
        write_plot(tested, tmp_path / "a.svg")
        tested.plot.scores(ax=axes())
        assert dict(matplotlib.rcParams) == before


class TestHostileNames:
    @pytest.fixture(scope="class")
    @staticmethod
    def hostile():
        X, y = planted(n_samples=60, n_features=len(HOSTILE))
        labels = np.array(["_a$b$", "<i>$\\frac{"])[y]
        return ILFS(10, n_permutations=20).fit(pd.DataFrame(X, columns=HOSTILE), labels), X, labels

    def test_all_pictures_show_them_as_text(self, hostile):
        selector, X, labels = hostile
        frame = pd.DataFrame(X, columns=HOSTILE)
        ax = drawn(selector.plot.scores(ax=axes()))
        assert {"$x^2$", "_private", "a b", "100 %", "q_1$_$"} <= set(row_names(ax))
        assert max(map(len, row_names(ax))) <= 36
        drawn(selector.plot.volcano(ax=axes()))
        drawn(selector.plot.families(ax=axes()))
        drawn(selector.plot.heatmap(frame, labels, ax=axes()))

    @pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
    def test_files_show_them_as_text(self, hostile, tmp_path, ending):
        selector, X, labels = hostile
        path = write_plot(
            selector, tmp_path / f"a.{ending}", pd.DataFrame(X, columns=HOSTILE), labels, title="$a$ <b> _"
        )
        assert path.stat().st_size > 5000
        assert b"<script" not in path.read_bytes()

    def test_formulas_are_not_typeset_even_with_tex_settings(self, hostile):
        with matplotlib.rc_context({"text.usetex": True}):
            ax = hostile[0].plot.scores(ax=axes())
        assert not any(label.get_usetex() or label.get_parse_math() for label in ax.get_yticklabels())

    def test_characters_without_a_glyph_become_squares(self):
        assert shown_name("a名b") == "a□b"
        assert shown_name("naïve β") == "naïve β"


class TestFiles:
    @pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")])
    def test_the_ending_chooses_the_format(self, tested, tmp_path, ending, start):
        path = write_plot(tested, tmp_path / f"picture.{ending}")
        assert path.read_bytes().startswith(start)

    @pytest.mark.parametrize("name", ["a.jpg", "a", "png", "a.html", "a.png.txt"])
    def test_other_endings_are_refused_before_any_work(self, tmp_path, name):
        with pytest.raises(ValueError, match=r"must end in .png, .svg or .pdf"):
            check_plot_path(tmp_path / name)

    def test_a_missing_folder_is_refused_before_any_work(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="make it first"):
            check_plot_path(tmp_path / "nowhere" / "a.png")

    def test_equal_pictures_are_equal_files(self, tested, tmp_path):
        one, two = (write_plot(tested, tmp_path / name).read_bytes() for name in ("a.png", "b.png"))
        assert one == two

    def test_an_error_leaves_the_old_file_and_nothing_else(self, tested, tmp_path, monkeypatch):
        path = tmp_path / "a.png"
        path.write_bytes(b"old")

        def failing(self, file, **_):
            file.write(b"half")
            raise KeyboardInterrupt

        monkeypatch.setattr(Figure, "savefig", failing)
        with pytest.raises(KeyboardInterrupt):
            write_plot(tested, path)
        assert [one.name for one in tmp_path.iterdir()] == ["a.png"]
        assert path.read_bytes() == b"old"

    def test_a_selector_that_is_not_fitted_is_refused(self, tmp_path):
        with pytest.raises(NotFittedError):
            write_plot(ILFS(), tmp_path / "a.png")

    @pytest.mark.parametrize("selector", [FisherScore(2), CFS(3), ILFS("fdr"), SizeCV(FisherScore())])
    def test_all_kinds_of_selectors_are_drawn(self, data, selector, tmp_path):
        assert write_plot(selector.fit(*data), tmp_path / "a.png", *data).exists()

    def test_a_rule_that_selects_nothing_leaves_the_heat_map_out(self, tmp_path):
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(30, 5)), np.arange(30) % 2
        selector = FisherScore("fdr", fdr=0.01).fit(X, y)
        assert not selector.get_support().any()
        assert write_plot(selector, tmp_path / "a.png", X, y).exists()

    @pytest.mark.parametrize("columns", [[0], [0, 0], [0, 1]])
    def test_tiny_tables_are_drawn(self, tmp_path, columns):
        X, y = np.column_stack([np.arange(8.0), np.ones(8)])[:, columns], np.arange(8) // 4
        selector = FisherScore(1.0, n_permutations=20).fit(X, y)
        assert write_plot(selector, tmp_path / "a.png", X, y).exists()
        drawn(selector.plot.scores(ax=axes()))
        drawn(selector.plot.volcano(ax=axes()))

    def test_a_file_that_was_opened_by_read_is_drawn(self, data, tmp_path):
        frame = pd.DataFrame(data[0]).add_prefix("g").assign(kind=np.array(["a", "b"])[data[1]])
        frame.to_csv(tmp_path / "table.csv", index=False)
        source = ilfs.read(tmp_path / "table.csv", target="kind")
        selector = FisherScore(4).fit(source)
        shown = HeatMap.from_selector(selector, source)
        assert shown.labels == ("a", "b")
        np.testing.assert_allclose(shown.z, HeatMap.from_selector(selector, frame, "kind").z, rtol=1e-6)
        assert write_plot(selector, tmp_path / "a.png", source).exists()

    def test_a_table_with_thousands_of_features_stays_small(self, tmp_path):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(30, 5000)), np.arange(30) % 2
        path = write_plot(FisherScore(10, n_permutations=20).fit(X, y), tmp_path / "a.svg")
        assert path.stat().st_size < 1_000_000

    def test_no_window_system_is_imported(self, tmp_path):
        script = (
            "import sys; import numpy as np; from ilfs import FisherScore; from ilfs.report.plots import write_plot;"
            "X, y = np.random.default_rng(0).normal(size=(40, 9)), np.arange(40) % 2;"
            "write_plot(FisherScore(3).fit(X, y), sys.argv[1]); print('matplotlib.pyplot' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "a.png")], check=True, capture_output=True, text=True
        )
        assert done.stdout.split() == ["False"]
