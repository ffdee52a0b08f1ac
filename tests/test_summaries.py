"""A fit on merged summaries of several sites is the fit on all rows in one place."""

import json
import pickle
import warnings
import zipfile
from functools import reduce
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from helpers import DATA, NO_DATA, load, planted
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression

import ilfs
from ilfs import CFS, ILFS, FisherScore, InfFS, MutualInformation, Novelty, ReliefF, Summary, summarise
from ilfs.npz import read_arrays, write_arrays
from ilfs.sites import permuted_at_site
from ilfs.sources import Batch, BatchReader, BatchSource, table_source
from ilfs.sources.permutations import PermutedLabels, permuted_classes

EDGES = [-1.0, 0.0, 0.5, 1.5]
SELECTORS = {
    "gain": ILFS(n_candidates=8),
    "novelty": ILFS(redundancy="novelty", n_candidates=8),
    "paths": ILFS(redundancy=None),
    "paper": ILFS.paper(),
    "pooled": ILFS(intervals="pooled", n_candidates=8),
    "fisher": FisherScore(),
    "fisher, equal": FisherScore(weighting="equal"),
    "mi": MutualInformation(edges=EDGES),
    "mi, bound": MutualInformation(edges=EDGES, estimate="lower_bound"),
    "novelty of fisher": Novelty(FisherScore(), n_candidates=8),
    "gain of mi": Novelty(MutualInformation(edges=EDGES), redundancy="gain", n_candidates=8),
}
ROUNDS = {"gain": 3, "novelty": 3, "paths": 2, "fisher": 1, "mi": 1, "novelty of fisher": 2}
selectors = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)
few_rows = pytest.mark.filterwarnings("ignore:the summary reveals", "ignore:label .*the summary reveals")


def table(n_samples=150, seed=0):
    """Return three classes, missing values, zeros, a constant column, and weights, some of which are 0."""
    rng = np.random.default_rng(seed)
    X, y = planted(n_samples, 12, n_classes=3, seed=seed)
    X[rng.random(X.shape) < 0.2] = 0.0
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, -1] = 0.1
    return X, np.array(["ill", "very ill", "well"])[y], rng.integers(0, 4, size=n_samples) / 2


def three_sites(n_samples, seed=1):
    """Return the rows of three sites of different sizes."""
    rows = np.random.default_rng(seed).permutation(n_samples)
    return np.split(rows, [n_samples // 5, n_samples // 2])


def rounds_of(sites, selector=None):
    """Yield the merged summary of each round; a site is a tuple of arguments and a dict of options."""
    merged = None
    while merged is None or not merged.is_complete:
        first, *others = [summarise(*rows, after=merged, selector=selector, **options) for rows, options in sites]
        merged = first.merge(*others)
        yield merged


def merged_over(sites, selector=None):
    return list(rounds_of(sites, selector))[-1]


def split(X, y, weight=None, parts=None):
    parts = three_sites(X.shape[0]) if parts is None else parts
    return [((X[rows], y[rows]), {} if weight is None else {"sample_weight": weight[rows]}) for rows in parts]


def assert_same(found, expected):
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10, atol=1e-10)
    if hasattr(expected, "classes_"):
        np.testing.assert_array_equal(found.classes_, expected.classes_)


class TestEqualsFitInOnePlace:
    @selectors
    @few_rows
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_with_missing_values_weights_and_three_classes(self, selector, form):
        X, y, weight = table()
        merged = merged_over(split(form(X), y, weight), selector)
        assert_same(clone(selector).fit(merged), clone(selector).fit(form(X), y, sample_weight=weight))

    @selectors
    def test_with_sites_that_have_one_class_each(self, selector):
        X, y, _ = table()
        parts = [np.flatnonzero(y == label) for label in np.unique(y)]
        merged = merged_over(split(X, y, parts=parts), selector)
        assert_same(clone(selector).fit(merged), clone(selector).fit(X, y))

    @selectors
    def test_with_a_class_that_only_one_site_has(self, selector):
        X, y, _ = table()
        without, rare = np.flatnonzero(y != "very ill"), np.flatnonzero(y == "very ill")
        parts = [without[:40], np.append(without[40:60], rare), without[60:]]
        merged = merged_over(split(X, y, parts=parts), selector)
        assert merged.labellings[0].labels.tolist() == ["ill", "very ill", "well"]
        assert_same(clone(selector).fit(merged), clone(selector).fit(X, y))

    @selectors
    @few_rows
    def test_with_several_labels_one_of_which_a_site_lacks(self, selector):
        X, _, weight = table()
        Y = np.random.default_rng(3).integers(0, 2, size=(len(X), 4))
        parts = three_sites(len(X))
        Y[parts[0], 1] = 0
        merged = merged_over(split(X, Y, weight, parts), selector)
        found, expected = clone(selector).fit(merged), clone(selector).fit(X, Y, sample_weight=weight)
        assert_same(found, expected)
        np.testing.assert_allclose(found.scores_per_label_, expected.scores_per_label_, rtol=1e-10, atol=1e-10)

    @few_rows
    def test_with_a_label_that_no_row_has(self):
        X, _, _ = table()
        Y = np.random.default_rng(3).integers(0, 2, size=(len(X), 3))
        Y[:, 2] = 0
        merged = merged_over(split(X, Y))
        with pytest.warns(UserWarning, match=r"labels \[2\] of y are the same for all samples"):
            found = ILFS().fit(merged)
        with pytest.warns(UserWarning, match=r"labels \[2\] of y"):
            assert_same(found, ILFS().fit(X, Y))

    @few_rows
    def test_with_a_site_of_one_row(self):
        X, y, _ = table()
        merged = merged_over(split(X, y, parts=[[0], np.arange(1, 80), np.arange(80, 150)]))
        assert_same(ILFS().fit(merged), ILFS().fit(X, y))

    @few_rows
    @pytest.mark.skipif(not DATA, reason=NO_DATA)
    @pytest.mark.parametrize("name", ["colon", "lung"])
    @pytest.mark.parametrize(
        "selector", [ILFS(), FisherScore(), Novelty(FisherScore())], ids=["ilfs", "fisher", "novelty"]
    )
    def test_on_real_data(self, name, selector):
        X, y = load(name)
        merged = merged_over(split(X, y), selector)
        assert_same(clone(selector).fit(merged), clone(selector).fit(X, y))

    @pytest.mark.parametrize("selector", [CFS(), InfFS(correlation="pearson")], ids=["cfs", "inf_fs"])
    def test_of_methods_without_labels(self, selector):
        X, _ = planted(90, 8)
        merged = merged_over([((X[rows],), {}) for rows in three_sites(90)], selector)
        assert_same(clone(selector).fit(merged), clone(selector).fit(X))

    def test_far_from_zero(self):
        X, y = planted(120, 10)
        X = 1e4 + X
        assert_same(ILFS().fit(merged_over(split(X, y))), ILFS().fit(X, y))

    @few_rows
    def test_for_other_forms_of_rows(self):
        X, y = planted(90, 6)
        frame = pd.DataFrame(X, columns=list("abcdef")).assign(state=np.where(y, "ill", "well"))
        first, second = frame[:50], frame[50:]
        merged = merged_over([((first, "state"), {}), ((second.drop(columns="state"), second["state"]), {})])
        expected = ILFS().fit(frame, "state")
        found = ILFS().fit(merged)
        assert_same(found, expected)
        assert found.feature_names_in_.tolist() == list("abcdef")

    @few_rows
    @pytest.mark.parametrize("target", ["state", 6], ids=str)
    def test_transform_leaves_the_target_column_out(self, target, tmp_path):
        X, y = planted(90, 6)
        names = list("abcdef") if target == "state" else list(range(6))
        frame = pd.DataFrame(X, columns=names).assign(**{"state": y}).rename(columns={"state": target})
        first, second = frame[:50], frame[50:]
        labels = [((second, target), {}), ((second.drop(columns=target), second[target]), {})]
        for other in labels:  # a site may give the name of the column, or the labels themselves
            for merged in (merged_over([((first, target), {}), other]), merged_over([other, ((first, target), {})])):
                merged.save(tmp_path / "merged.npz")
                for summary in (merged, Summary.load(tmp_path / "merged.npz"), pickle.loads(pickle.dumps(merged))):
                    found = ILFS(2).fit(summary)
                    assert found.target_name_ == target
                    np.testing.assert_array_equal(found.transform(frame), ILFS(2).fit(frame, target).transform(frame))

    @few_rows
    def test_without_a_common_name_of_the_target_there_is_none(self):
        X, y = planted(90, 6)
        first, second, third = (
            ((pd.DataFrame(X[rows], columns=list("abcdef")).assign(**{name: y[rows]}), name), {})
            for rows, name in zip(three_sites(90), ("state", "status", "state"), strict=True)
        )
        for sites in ([first, second, third], [first, third, second]):
            assert not hasattr(ILFS().fit(merged_over(sites)), "target_name_")

    def test_for_rows_that_are_read_in_batches(self):
        X, y = planted(90, 6)

        class Reader(BatchReader):
            n_features, has_labels = 6, True

            def __init__(self, rows):
                self.rows = rows

            def batches(self, columns, max_rows):
                for rows in np.array_split(self.rows, 3):
                    yield Batch(X[rows] if columns is None else X[rows][:, columns], y[rows], None, rows.size)

        parts = [np.flatnonzero(y == 0), np.flatnonzero(y == 1)]  # each of one class
        merged = merged_over([((BatchSource(Reader(rows)),), {}) for rows in parts])
        assert_same(ILFS().fit(merged), ILFS().fit(X, y))


class TestRounds:
    @pytest.mark.parametrize(("name", "n_rounds"), ROUNDS.items())
    def test_a_round_for_each_read(self, name, n_rounds):
        X, y, _ = table()
        found = list(rounds_of(split(X, y), SELECTORS[name]))
        assert [merged.n_rounds for merged in found] == list(range(1, n_rounds + 1))
        assert [merged.is_complete for merged in found] == [False] * (n_rounds - 1) + [True]

    def test_the_order_and_grouping_of_merges_change_only_rounding(self):
        X, y, _ = table()
        sites = split(X, y)
        before = next(rounds_of(sites))
        later = [summarise(*rows, after=before) for rows, _ in sites]
        found = [reduce(Summary.merge, order) for order in permutations(later)]
        found.append(later[0].merge(later[1].merge(later[2])))
        for merged in found:
            assert merged.n_rows == 150
            for one, two in zip(merged.rounds[-1].answers, found[0].rounds[-1].answers, strict=True):
                for name, array in vars(one.statistic).items():
                    np.testing.assert_allclose(array, getattr(two.statistic, name), rtol=1e-13, atol=1e-13)

    def test_a_missing_round_is_named(self):
        X, y, _ = table()
        merged = next(rounds_of(split(X, y)))
        with pytest.raises(
            ValueError, match=r"^the summary has 1 round and the method needs another one: call ilfs\.summ"
        ):
            ILFS().fit(merged)

    def test_a_complete_summary_takes_no_further_round(self):
        X, y, _ = table()
        merged = summarise(X, y, selector=FisherScore())
        with pytest.raises(ValueError, match=r"the summary is complete after 1 rounds: fit it, FisherScore\(\)\.fit"):
            summarise(X, y, after=merged)

    def test_a_site_that_is_missing_in_a_later_round_is_noticed(self):
        X, y, _ = table()
        sites = split(X, y)
        merged = next(rounds_of(sites))
        one, two, three = (summarise(*rows, after=merged) for rows, _ in sites)
        partial = one.merge(two)
        assert not partial.is_complete
        with pytest.raises(
            ValueError, match="round 2 must have the 150 rows of round 1, got 75: merge the summaries of all"
        ):
            ILFS(redundancy=None).fit(summarise(*sites[0][0], after=partial))
        assert one.merge(two, three).n_rows == 150

    def test_rows_may_not_change_between_rounds(self):
        X, y, _ = table()
        merged = summarise(X, y)
        other = np.where(y == "ill", "dead", y)
        with pytest.raises(ValueError, match="labels must be among those of the rounds before, which have no 'dead'"):
            summarise(X, other, after=merged)

    def test_parameters_that_change_no_statistics_are_free(self):
        X, y, _ = table()
        merged = merged_over(split(X, y), ILFS(3, n_jobs=2))
        assert ILFS(5, n_jobs=1).fit(merged).get_support().sum() == 5

    def test_warnings_come_from_the_final_fit_only(self):
        X, y, _ = table()
        selector = ILFS(topics="learned", max_iter=2)
        merged = merged_over(split(X, y), selector)  # warnings are errors in tests
        with pytest.warns(Warning, match="did not converge"):
            selector.fit(merged)


class TestRefusals:
    def one(self, X=None, y=None, **options):
        default_X, default_y, _ = table()
        return summarise(default_X if X is None else X, default_y if y is None else y, **options)

    def test_of_other_parameters(self):
        message = r"^n_tokens must be the same in all summaries, got 6 and 4: a summary serves only"
        with pytest.raises(ValueError, match=message):
            self.one().merge(self.one(selector=ILFS(n_tokens=4)))
        merged = self.one(selector=Novelty(FisherScore()))
        message = r"^selector__weighting must be the same in the summary and the selector, got 'size' and 'equal'"
        with pytest.raises(ValueError, match=message):
            Novelty(FisherScore(weighting="equal")).fit(merged)
        with pytest.raises(ValueError, match=r"^edges must be the same .*, got \[1\.0\] and \[2\.0\]"):
            self.one(selector=MutualInformation(edges=[1.0])).merge(self.one(selector=MutualInformation(edges=[2.0])))

    @pytest.mark.parametrize("selector", [FisherScore(), ReliefF(), CFS()], ids=["fisher", "relieff", "cfs"])
    def test_of_another_method(self, selector):
        message = (
            f"^the method must be the same in the summary and the selector, got 'ILFS' and '{type(selector).__name__}'"
        )
        with pytest.raises(ValueError, match=message):
            selector.fit(self.one())

    def test_of_other_columns(self):
        X, y, _ = table()
        names = [f"gene {j}" for j in range(12)]
        frame, swapped = pd.DataFrame(X, columns=names), pd.DataFrame(X, columns=[*names[:10], names[11], names[10]])
        with pytest.raises(ValueError, match="all sites must have the same columns, got 12 and 11 columns"):
            self.one().merge(self.one(X[:, 1:]))
        with pytest.raises(ValueError, match="got names from one site and none from another"):
            self.one().merge(self.one(frame))
        message = "column 10 is 'gene 10' at one site and 'gene 11' at another"
        with pytest.raises(ValueError, match=message):
            self.one(frame).merge(self.one(swapped))
        with pytest.raises(ValueError, match=message):
            summarise(swapped, y, after=self.one(frame))

    def test_of_other_rounds(self):
        first, other = self.one(), self.one()
        X, y, _ = table()
        second = summarise(X, y, after=first)
        with pytest.raises(ValueError, match="both summaries must be of the same round, got rounds 1 and 2"):
            first.merge(second)
        with pytest.raises(ValueError, match="summaries of round 2 must begin with the same merged summary of round 1"):
            second.merge(summarise(X, y, after=first.merge(other)))

    def test_of_the_same_summary_twice(self):
        one = self.one()
        with pytest.raises(ValueError, match="each summary may be merged once"):
            one.merge(self.one(), one)

    def test_of_labels_of_another_type(self):
        y = table()[1]
        with pytest.raises(
            ValueError, match="labels of all sites must be of one type, got text and numbers, for example 'ill'"
        ):
            self.one().merge(self.one(y=(y == "ill").astype(int)))

    def test_of_another_number_of_labels(self):
        X, _, _ = table()
        Y = np.random.default_rng(0).integers(0, 2, size=(len(X), 3))
        with pytest.raises(ValueError, match="y must have as many labels at all sites, got 3 and 2"):
            self.one(y=Y).merge(self.one(y=Y[:, :2]))

    def test_of_methods_that_need_all_rows(self):
        with pytest.raises(
            TypeError, match="ReliefF needs all rows together, so it cannot be fitted from summaries: use"
        ):
            self.one(selector=ReliefF())
        with pytest.raises(ValueError, match="mutual information needs given edges"):
            self.one(selector=MutualInformation())
        with pytest.raises(ValueError, match=r"selector must be a method of ilfs \(ilfs, .*, got 'sklearn.*Logistic"):
            self.one(selector=LogisticRegression())
        with pytest.raises(ValueError, match=r"selector must be a method of ilfs .*got '<function f_classif"):
            self.one(selector=Novelty(f_classif))

    def test_of_things_that_are_no_summaries(self):
        one = self.one()
        with pytest.raises(TypeError, match="merge takes summaries, got ndarray"):
            one.merge(np.ones(3))
        with pytest.raises(TypeError, match="after must be a Summary, the merged one of the round before, got str"):
            self.one(after="one.npz")
        with pytest.raises(TypeError, match="a summary holds no rows"):
            summarise(one)
        with pytest.raises(TypeError, match="y must be None if X is a source"):
            ILFS().fit(one, np.arange(3))

    def test_of_weights_for_a_method_without(self):
        X, _ = planted(30, 4)
        with pytest.raises(TypeError, match="sample_weight needs a method that supports it"):
            summarise(X, sample_weight=np.ones(30), selector=CFS())

    def test_of_one_class_at_all_sites(self):
        X, _ = planted(30, 4)
        merged = merged_over(split(X, np.zeros(30, dtype=int)))
        with pytest.raises(ValueError, match="y must have at least two classes, got one class, 0"):
            ILFS().fit(merged)

    def test_a_column_with_infinity_is_named(self):
        X, y, _ = table()
        X[3, 2] = np.inf
        with pytest.raises(ValueError, match="column 'c' of X holds infinity"):
            summarise(pd.DataFrame(X, columns=list("abcdefghijkl")), y)


def test_a_class_of_few_rows_is_named_in_the_first_round():
    X, _ = planted(20, 4)
    y = np.array(["well"] * 18 + ["ill"] * 2)
    with pytest.warns(
        UserWarning, match=r"reveals the rows of class 'ill' \(2 of at least 3 rows\): their values follow"
    ):
        first = summarise(X, y)
    summarise(X, y, after=first)  # no second warning


def refusal_of(path):
    """Return the message of the error that loading a file raises; empty if it raises none."""
    try:
        Summary.load(path)
    except ValueError as error:
        return str(error)
    return ""


class TestFiles:
    @selectors
    def test_a_fit_over_files_is_the_same(self, selector, tmp_path):
        X, y, _ = table()
        merged = None
        while merged is None or not merged.is_complete:
            for name, (rows, _) in zip("abc", split(X, y), strict=True):
                summarise(*rows, after=merged, selector=selector).save(tmp_path / f"{name}.npz")
            first, *others = (Summary.load(tmp_path / f"{name}.npz") for name in "abc")
            first.merge(*others).save(tmp_path / "merged.npz")
            merged = Summary.load(tmp_path / "merged.npz")
        assert_same(clone(selector).fit(merged), clone(selector).fit(X, y))

    @pytest.mark.parametrize(
        "y", [[0, 1, 1, 0] * 3, [True, False] * 6, ["ä", "b", "日本"] * 4, [1.0, 2.0, 3.0] * 4], ids=str
    )
    def test_labels_of_any_type(self, y, tmp_path):
        X, _ = planted(12, 3)
        summarise(X, y).save(tmp_path / "one.npz")
        found = Summary.load(tmp_path / "one.npz").labellings[0]
        np.testing.assert_array_equal(found.labels, np.unique(y))
        assert found.labels.dtype == np.asarray(y).dtype

    def test_names_and_parameters_are_kept(self, tmp_path):
        X, y, _ = table()
        frame = pd.DataFrame(X, columns=[f"Gen {j} ß" for j in range(12)])
        edges = np.array([[0.1 * j, 1.0 + j] for j in range(12)])
        one = summarise(frame, y, selector=Novelty(MutualInformation(edges=edges)))
        one.save(tmp_path / "one.npz")
        found = Summary.load(tmp_path / "one.npz")
        assert (found.method, found.feature_names, found.sites) == (one.method, one.feature_names, one.sites)
        assert repr(found) == "<Summary for Novelty: 150 rows, 12 features, 1 site, 1 round>"

    def test_no_array_holds_objects(self, tmp_path):
        X, y, _ = table()
        summarise(X, y).save(tmp_path / "one.npz")
        with np.load(tmp_path / "one.npz", allow_pickle=False) as arrays:
            assert all(arrays[name].dtype.kind in "ifU" for name in arrays.files)

    @pytest.fixture
    def path(self, tmp_path):
        X, y, _ = table()
        summarise(X, y).save(tmp_path / "one.npz")
        return tmp_path / "one.npz"

    def test_every_truncation_is_one_sentence(self, path):
        content = path.read_bytes()
        for end in range(0, len(content), 211):
            path.write_bytes(content[:end])
            with pytest.raises(
                ValueError, match=r"^[^\n]*one\.npz must be a complete file written by Summary\.save: [^\n]+$"
            ):
                Summary.load(path)

    def test_every_changed_byte_is_one_sentence_or_harmless(self, path):
        content = path.read_bytes()
        for place in range(0, len(content), 97):
            path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
            assert "\n" not in refusal_of(path)

    def test_foreign_files_are_refused(self, tmp_path):
        np.savez(tmp_path / "a.npz", X=np.ones(3))
        with pytest.raises(ValueError, match=r"must be a complete file written by Summary\.save: there is no 'header'"):
            Summary.load(tmp_path / "a.npz")
        np.savez_compressed(tmp_path / "b.npz", X=np.zeros(10**6))
        with pytest.raises(ValueError, match="its arrays must not be compressed"):
            Summary.load(tmp_path / "b.npz")
        (tmp_path / "c.npz").write_text("a,b\n1,2\n")
        with pytest.raises(ValueError, match=r"must be a complete file written by Summary\.save"):
            Summary.load(tmp_path / "c.npz")
        with pytest.raises(FileNotFoundError):
            Summary.load(tmp_path / "none.npz")

    def test_pickled_objects_are_never_loaded(self, path):
        class Evil:
            def __reduce__(self):
                return pytest.fail, ("unpickled",)

        arrays = read_arrays(path)
        with zipfile.ZipFile(path, "w") as archive:
            for name, array in (arrays | {"round0.answer0.mean": np.array([Evil()], dtype=object)}).items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.lib.format.write_array(file, array)
        with pytest.raises(ValueError, match="an array holds objects"):
            Summary.load(path)

    def changed(self, path, **changes):
        arrays = read_arrays(path)
        header = json.loads(str(arrays["header"])) | changes
        write_arrays(path, arrays | {"header": np.array(json.dumps(header))})
        return path

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"format": 3}, "it has format 3, and this version of ilfs reads format 2"),
            ({"kind": "image"}, "its header is that of another kind of file"),
            ({"n_features": 7}, r"ClassProfile\.count is an array of float64 of shape \(3, 12\), which does not fit"),
            ({"feature_names": ["a"]}, "feature_names must name each of the 12 columns"),
            ({"n_labellings": 3}, "there is no 'classes2.labels'"),
            ({"target_names": "state"}, "target_names must be a list of names of columns"),
            ({"target_names": [["a"]]}, "target_names must be a list of names of columns"),
            (
                {"method": {"selector": "os.system", "parameters": {}}},
                r"selector must be a method of ilfs \(ilfs, .*\), got 'os.system'",
            ),
            (
                {"method": {"selector": "ilfs", "parameters": {"tokens": 3}}},
                "parameters of ilfs must be those of the class",
            ),
            (
                {"method": {"selector": "ilfs", "parameters": {"n_tokens": 1}}},
                "n_tokens must be an integer >= 2, got 1",
            ),
            ({"method": {"selector": "relieff", "parameters": {}}}, "ReliefF needs all rows"),
            ({"method": "ilfs"}, "selector must be a method of ilfs"),
            ({"rounds": [{"n_rows": 150, "answers": [{"statistic": "Evil", "labelling": 0}]}]}, "there is no 'Evil'"),
        ],
        ids=str,
    )
    def test_changed_headers_are_refused(self, path, changes, message):
        with pytest.raises(ValueError, match=message) as raised:
            Summary.load(self.changed(path, **changes))
        assert "\n" not in str(raised.value)

    def test_files_of_earlier_versions_have_no_name_of_the_target(self, path):
        arrays = read_arrays(path)
        header = json.loads(str(arrays["header"]))
        del header["target_names"]
        write_arrays(path, arrays | {"header": np.array(json.dumps(header))})
        assert Summary.load(path).target_name is None

    def test_answers_to_other_requests_are_refused(self, path):
        rounds = [{"n_rows": 150, "answers": [{"statistic": "ClassMoments", "labelling": None}]}]
        arrays = read_arrays(path)
        write_arrays(path, {name: array[:1] if name.startswith("round") else array for name, array in arrays.items()})
        with pytest.raises(ValueError, match="round 1 of the summary must answer the requests of the method"):
            ILFS().fit(Summary.load(self.changed(path, rounds=rounds)))

    def test_a_summary_pickles(self):
        X, y, _ = table()
        one = summarise(X, y)
        assert not one.is_complete
        assert pickle.loads(pickle.dumps(one)).merge(summarise(X, y)).n_rows == 300


WITH_NULL = {
    "ilfs": ILFS("fdr", n_candidates=8),
    "plain": ILFS("fdr", redundancy=None),
    "fisher": FisherScore("fdr"),
    "mi": MutualInformation("fdr", edges=EDGES),
}
with_null = pytest.mark.parametrize("selector", WITH_NULL.values(), ids=WITH_NULL)


def site_draws(X, y, parts, weight=None, random_state=0):
    """Return the permuted labels of all rows, of which each site has drawn its own."""
    selector = FisherScore("fdr", random_state=random_state)
    draws = {}
    for number, rows in enumerate(parts):
        source = table_source(X[rows], y[rows], None if weight is None else weight[rows])
        draws[number] = permuted_at_site(source, selector, None, None).permuted
    return draws


def fitted_with_draws(selector, X, y, weight, parts, monkeypatch):
    """Fit one table whose labels are permuted as those of the sites."""
    draws, names = site_draws(X, y, parts, weight), np.unique(y)
    codes = np.zeros((20, 1 if y.ndim == 1 else y.shape[1], len(y)), dtype=np.uint8)
    for number, rows in enumerate(parts):
        local = [np.unique(column[(weight[rows] > 0)]) for column in np.atleast_2d(y[rows].T)]
        for label, known in enumerate(local):
            codes[:, label, rows] = np.searchsorted(names, known)[draws[number].codes[:, label]]

    def draw(cls, observed, classes, *_):
        counted = observed[0].takes_part
        every = permuted_classes(codes[..., counted], classes, observed[0].weight[counted])
        return cls(codes, tuple(every))

    site = np.zeros(len(y), dtype=int)
    for number, rows in enumerate(parts):
        site[rows] = number
    with monkeypatch.context() as patch:
        patch.setattr(PermutedLabels, "draw", classmethod(draw))
        return clone(selector).fit(X, y, sample_weight=weight, groups=site)


@few_rows
class TestPermutations:
    @with_null
    @pytest.mark.parametrize("n_samples", [150, 3000])  # few, and enough to compute all permutations at once
    def test_p_values_are_those_of_one_table_with_the_draws_of_the_sites(self, selector, n_samples, monkeypatch):
        X, y, weight = table(n_samples)
        weight = weight if n_samples == 150 else np.ones(n_samples)
        parts = three_sites(n_samples)
        found = clone(selector).fit(merged_over(split(X, y, weight, parts), selector))
        expected = fitted_with_draws(selector, X, y, weight, parts, monkeypatch)
        assert_same(found, expected)
        np.testing.assert_allclose(found.p_values_, expected.p_values_)
        np.testing.assert_allclose(found.q_values_, expected.q_values_)
        assert found.chance_p_value_ == expected.chance_p_value_
        assert found.n_permutations_ == 20

    @with_null
    def test_several_labels_are_permuted_together(self, selector, monkeypatch):
        X, _, weight = table()
        Y = np.random.default_rng(3).integers(0, 2, size=(150, 3))
        parts = three_sites(150)
        Y[parts[0], 1] = 0  # a site lacks a label
        Y[:, 2] = 1  # all rows have one
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "labels .2. of y are the same")
            found = clone(selector).fit(merged_over(split(X, Y, weight, parts), selector))
            expected = fitted_with_draws(selector, X, Y, weight, parts, monkeypatch)
        np.testing.assert_allclose(found.p_values_, expected.p_values_)

    @with_null
    def test_a_site_may_lack_a_class(self, selector, monkeypatch):
        X, y, weight = table()
        without, rare = np.flatnonzero(y != "very ill"), np.flatnonzero(y == "very ill")
        parts = [without[:40], np.append(without[40:60], rare), without[60:]]
        found = clone(selector).fit(merged_over(split(X, y, weight, parts), selector))
        expected = fitted_with_draws(selector, X, y, weight, parts, monkeypatch)
        np.testing.assert_allclose(found.p_values_, expected.p_values_)

    def test_labels_stay_at_their_site_and_sites_differ(self):
        X, y, _ = table(150)
        parts = [np.arange(60), np.arange(60, 150)]
        draws = site_draws(X, y, parts)
        for number, rows in enumerate(parts):
            observed = np.unique(y[rows], return_inverse=True)[1]
            for one in draws[number].codes[:, 0]:
                np.testing.assert_array_equal(np.bincount(one), np.bincount(observed))
        again, other = site_draws(X, y, parts), site_draws(X, y, parts, random_state=1)
        np.testing.assert_array_equal(again[0].codes, draws[0].codes)
        assert (other[0].codes != draws[0].codes).any()
        assert (draws[1].codes[..., :60] != draws[0].codes).any()

    def test_groups_of_a_site_hold_within_it(self):
        X, y, _ = table()
        groups = np.arange(150) // 50
        one = summarise(X, y, selector=FisherScore("fdr"), groups=groups)
        assert one.draws != summarise(X, y, selector=FisherScore("fdr")).draws
        assert one.draws == summarise(X, y, selector=FisherScore("fdr"), groups=groups).draws
        with pytest.raises(ValueError, match=r"^groups must be None for a summary"):
            FisherScore("fdr").fit(one, groups=groups)

    def test_all_rounds_need_the_same_permutations(self):
        X, y, _ = table()
        first = summarise(X, y, selector=ILFS("fdr", random_state=5))
        message = r"^random_state, groups and the rows of a site must be those of the round before"
        with pytest.raises(ValueError, match=message):
            summarise(X, y, after=first)
        with pytest.raises(ValueError, match=message):
            summarise(X[::-1], y[::-1], after=first, selector=ILFS("fdr", random_state=5))
        assert summarise(X, y, after=first, selector=ILFS("fdr", random_state=5)).n_rounds == 2

    def test_a_site_may_choose_its_own_seed(self):
        X, y, _ = table()
        parts, selector = [slice(0, 70), slice(70, 150)], [FisherScore("fdr", random_state=seed) for seed in (17, 4)]
        sites = [summarise(X[rows], y[rows], selector=one) for rows, one in zip(parts, selector, strict=True)]
        assert FisherScore("fdr").fit(sites[0].merge(sites[1])).n_permutations_ == 20

    def test_a_generator_is_refused(self):
        X, y, _ = table()
        with pytest.raises(ValueError, match=r"^random_state must be an integer, since all rounds use the same"):
            summarise(X, y, selector=FisherScore("fdr", random_state=np.random.default_rng(0)))

    def test_too_few_permutations_are_refused(self):
        X, y, _ = table()
        message = (
            r"^the summary has 0 permutations of the labels, and 20 are needed: .*FisherScore\(n_permutations=20\)"
        )
        with pytest.raises(ValueError, match=message):
            FisherScore("fdr").fit(summarise(X, y, selector=FisherScore()))
        done = FisherScore().fit(summarise(X, y, selector=FisherScore(n_permutations=30)))
        assert done.n_permutations_ == 30

    def test_all_sites_must_make_as_many(self):
        X, y, _ = table()
        one, other = summarise(X, y, selector=FisherScore("fdr")), summarise(X, y, selector=FisherScore())
        with pytest.raises(ValueError, match=r"^all sites must make as many permutations of the labels, got 20 and 0"):
            one.merge(other)

    def test_a_saved_summary_keeps_its_permutations(self, tmp_path):
        X, y, _ = table()
        one = summarise(X, y, selector=FisherScore("fdr"))
        one.save(tmp_path / "one.npz")
        again = Summary.load(tmp_path / "one.npz")
        assert (again.n_permutations, again.draws) == (20, one.draws)
        np.testing.assert_array_equal(FisherScore("fdr").fit(again).p_values_, FisherScore("fdr").fit(one).p_values_)

    def test_a_damaged_number_of_permutations_is_refused(self, tmp_path):
        X, y, _ = table()
        summarise(X, y, selector=FisherScore("fdr")).save(tmp_path / "one.npz")
        arrays = read_arrays(tmp_path / "one.npz")
        header = json.loads(str(arrays["header"])) | {"n_permutations": 1}
        write_arrays(tmp_path / "one.npz", arrays | {"header": np.array(json.dumps(header))})
        with pytest.raises(ValueError, match=r"n_permutations must fit the 21 labellings, got 1$"):
            Summary.load(tmp_path / "one.npz")

    def test_rows_of_a_stream_and_of_dask_have_the_same_draws(self):
        da = pytest.importorskip("dask.array")
        X, y, _ = table()
        selector = ILFS("fdr", n_candidates=8)
        forms = [(X, y), (da.from_array(X, chunks=(40, 12)), y)]
        found = [selector.fit(merged_over([(one, {})], selector)).p_values_ for one in forms]
        np.testing.assert_allclose(found[0], found[1])


def test_many_permutations_of_few_rows_reveal_them():
    X, y = planted(60, 3)
    with pytest.warns(UserWarning, match=r"^the summary reveals the rows: 100 permutations give 202 sums of each"):
        summarise(X, y, selector=FisherScore("fdr", fdr=0.01))


def test_public_names():
    assert ilfs.summarise is summarise
    assert ilfs.Summary is Summary
