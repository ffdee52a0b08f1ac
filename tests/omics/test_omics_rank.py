"""`ilfs.omics.rank`: its numbers, its shape, its errors."""

import re
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse

import ilfs
from ilfs import ILFS
from ilfs.sources.permutations import PermutedLabels

pytestmark = [
    pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed"),
    pytest.mark.filterwarnings("ignore:Variable names are not unique"),
    pytest.mark.filterwarnings("ignore:The 'mode.chained_assignment' option"),  # of anndata 0.12.6 with pandas 3
]

RECORDS = ("names", "scores", "pvals", "pvals_adj", "logfoldchanges")


def cells(n_cells=160, n_genes=60, **options):
    from ilfs.datasets import make_cells

    return make_cells(n_cells, n_genes, **options)


@pytest.fixture(scope="module")
def ranked():
    adata = cells()
    ilfs.omics.rank(adata, "cell_type")
    return adata


def values(adata, field, group, key="ilfs"):
    """Values of a field in the order of the columns that were ranked."""
    result = adata.uns[key]
    places = {name: i for i, name in enumerate(result["names"][group])}
    return np.array([result[field][group][places[name]] for name in result["pts"].index])


def assert_same_result(one, other, exact=True):
    for field in (*RECORDS, "picks"):
        for group in one.uns["ilfs"]["names"].dtype.names:
            a, b = one.uns["ilfs"][field][group], other.uns["ilfs"][field][group]
            assert np.array_equal(a, b) if exact or a.dtype == object else np.allclose(a, b, rtol=1e-6, atol=1e-9)
    for field in ("pts", "pts_rest"):
        assert np.allclose(one.uns["ilfs"][field], other.uns["ilfs"][field], atol=1e-12)


class TestResult:
    def test_has_the_shape_of_scanpy(self, ranked):
        result, groups = ranked.uns["ilfs"], ranked.obs["cell_type"].cat.categories.tolist()
        for field in RECORDS:
            assert result[field].dtype.names == tuple(groups)
            assert len(result[field]) == ranked.n_vars
        for group in groups:
            assert sorted(result["names"][group]) == sorted(ranked.var_names)
            assert (np.diff(result["scores"][group]) <= 1e-9).all()
        assert result["params"]["groupby"] == "cell_type"
        assert result["params"]["reference"] == "rest"
        assert result["params"]["version"] == ilfs.__version__
        assert result["groups"]["n_cells"].to_dict() == ranked.obs["cell_type"].value_counts().to_dict()

    def test_each_group_has_the_result_of_a_fit_on_two_classes(self, ranked):
        for group in ("B cell", "monocyte"):
            y = (ranked.obs["cell_type"] == group).to_numpy()
            alone = ILFS(n_permutations=20, n_candidates=300).fit(ranked.X, y.astype(int))
            sign = np.sign(np.asarray(ranked.X[y].mean(axis=0) - ranked.X[~y].mean(axis=0)).ravel())
            expected = sign * np.maximum(2 * alone.relevance_ - 1, 0)
            assert np.allclose(values(ranked, "scores", group), expected, rtol=1e-12, atol=1e-12)
            assert np.array_equal(values(ranked, "pvals", group), alone.p_values_)
            assert np.array_equal(values(ranked, "pvals_adj", group), alone.q_values_)
            assert ranked.uns["ilfs"]["picks"][group].tolist() == ranked.var_names[alone.order_].tolist()
            assert ranked.uns["ilfs"]["groups"].loc[group, "chance_pval"] == alone.chance_p_value_

    def test_fold_changes_and_fractions_are_those_of_the_definition(self, ranked):
        X = ranked.X.toarray().astype(float)
        for group in ("NK cell", "T cell"):
            y = (ranked.obs["cell_type"] == group).to_numpy()
            a, b = np.expm1(X[y].mean(axis=0)) + 1e-9, np.expm1(X[~y].mean(axis=0)) + 1e-9
            assert np.allclose(values(ranked, "logfoldchanges", group), np.log2(a / b), rtol=1e-6)
            assert np.allclose(ranked.uns["ilfs"]["pts"][group], (X[y] != 0).mean(axis=0))
            assert np.allclose(ranked.uns["ilfs"]["pts_rest"][group], (X[~y] != 0).mean(axis=0))

    def test_columns_of_var_are_about_all_groups_together(self, ranked):
        member = ranked.obs["cell_type"].to_numpy()[:, None] == ranked.uns["ilfs"]["groups"].index.to_numpy()
        together = ILFS(n_permutations=20, n_candidates=300).fit(ranked.X, member.astype(int))
        assert np.array_equal(ranked.var["ilfs_rank"], together.ranking_)
        assert np.array_equal(ranked.var["ilfs_pvals_adj"], together.q_values_)
        assert np.array_equal(ranked.var["ilfs_score"], together.scores_)
        for gene, owner in ranked.var["marker_of"].items():
            if owner and " and " not in owner:
                assert ranked.var.loc[gene, "ilfs_group"] == owner

    def test_markers_come_first_and_genes_that_are_lower_last(self, ranked):
        first = ranked.uns["ilfs"]["names"]["B cell"][:6]
        assert set(ranked.var.loc[first, "marker_of"]) == {"B cell"}
        assert values(ranked, "scores", "monocyte")[ranked.var_names.get_loc("TNK1")] < 0

    def test_n_genes_shortens_the_lists(self, ranked):
        adata = cells()
        ilfs.omics.rank(adata, "cell_type", n_genes=5, key_added="short", n_permutations=0)
        assert np.array_equal(adata.uns["short"]["names"], ranked.uns["ilfs"]["names"][:5])
        assert "short_rank" in adata.var.columns

    def test_rankby_abs_orders_by_size(self, ranked):
        adata = cells()
        ilfs.omics.rank(adata, "cell_type", rankby_abs=True, n_permutations=0)
        assert (np.diff(np.abs(adata.uns["ilfs"]["scores"]["B cell"])) <= 1e-9).all()
        assert np.allclose(values(adata, "scores", "B cell"), values(ranked, "scores", "B cell"))

    def test_without_permutations_p_values_are_nan(self):
        adata = cells()
        ilfs.omics.rank(adata, "cell_type", n_permutations=0)
        assert np.isnan(values(adata, "pvals", "B cell")).all()
        assert np.isnan(adata.var["ilfs_pvals_adj"]).all()

    def test_seed_and_threads(self, ranked):
        again, other = cells(), cells()
        ilfs.omics.rank(again, "cell_type", n_jobs=2)
        assert_same_result(ranked, again)
        ilfs.omics.rank(other, "cell_type", random_state=1)
        assert not np.array_equal(values(other, "pvals", "B cell"), values(ranked, "pvals", "B cell"))
        assert np.array_equal(values(other, "scores", "B cell"), values(ranked, "scores", "B cell"))

    def test_a_gene_without_values_has_score_zero(self):
        adata = cells()
        X = adata.X.toarray()
        X[:, 7] = 0.0
        adata.X = sparse.csr_matrix(X)
        ilfs.omics.rank(adata, "cell_type")
        assert values(adata, "scores", "T cell")[7] == 0.0
        assert values(adata, "pvals", "T cell")[7] == 1.0
        assert values(adata, "logfoldchanges", "T cell")[7] == 0.0

    def test_missing_values_are_left_out_with_a_warning(self, ranked):
        adata, is_T = cells(), (ranked.obs["cell_type"] == "T cell").to_numpy()
        X = adata.X.toarray()
        X[:, 7] = np.nan
        X[is_T, 8] = np.nan
        X[0, 9] = np.nan
        adata.X = X
        with pytest.warns(
            UserWarning, match=r"3 genes, such as '\w+', have missing values \(NaN\), which are left out"
        ):
            ilfs.omics.rank(adata, "cell_type", n_permutations=0)
        result = adata.uns["ilfs"]
        assert np.isnan(values(adata, "logfoldchanges", "T cell")[[7, 8]]).all()
        assert np.isnan(result["pts"]["T cell"].iloc[[7, 8]]).all()
        assert np.isnan(result["pts_rest"]["T cell"].iloc[7])
        assert result["pts_rest"]["T cell"].iloc[8] == pytest.approx((X[~is_T, 8] > 0).mean())
        other = [*range(7), *range(10, 60)]
        assert np.array_equal(result["pts"].iloc[other], ranked.uns["ilfs"]["pts"].iloc[other])

    def test_too_few_permutations_are_raised(self, ranked):
        adata = cells()
        with pytest.warns(UserWarning, match="n_permutations must be 0 or at least 20, .* got 5: 20 are made"):
            ilfs.omics.rank(adata, "cell_type", n_permutations=5)
        assert_same_result(adata, ranked)


class TestGroups:
    @pytest.mark.parametrize("groups", [["monocyte", "B cell"], ["NK cell"]])
    def test_some_groups_have_the_numbers_of_all_groups(self, ranked, groups):
        adata = cells()
        ilfs.omics.rank(adata, "cell_type", groups)
        assert adata.uns["ilfs"]["names"].dtype.names == tuple(groups)
        for group in groups:
            for field in RECORDS[1:]:
                assert np.array_equal(values(adata, field, group), values(ranked, field, group))

    def test_cells_without_a_group_are_left_out(self):
        adata = cells()
        adata.obs.loc[adata.obs_names[::7], "cell_type"] = np.nan
        fewer = adata[adata.obs["cell_type"].notna()].copy()
        with pytest.warns(UserWarning, match=r"^23 cells without a value in adata.obs\['cell_type'\] are left out$"):
            ilfs.omics.rank(adata, "cell_type")
        ilfs.omics.rank(fewer, "cell_type")
        assert_same_result(adata, fewer, exact=False)
        panels = [ilfs.omics.panel(one, 2, fdr=0.3)["names"].tolist() for one in (adata, fewer)]
        assert panels[0] == panels[1]

    def test_categories_without_cells_are_ignored(self):
        adata = cells()
        adata.obs["cell_type"] = adata.obs["cell_type"].cat.add_categories(["platelet"])
        ilfs.omics.rank(adata, "cell_type", n_permutations=0)
        assert "platelet" not in adata.uns["ilfs"]["names"].dtype.names

    def test_numbers_and_truth_values_are_groups(self):
        adata = cells()
        is_b = (adata.obs["cell_type"] == "B cell").to_numpy()
        adata.obs["cluster"], adata.obs["is_b"] = is_b * 3, is_b
        ilfs.omics.rank(adata, "cluster", n_permutations=0)
        assert adata.uns["ilfs"]["names"].dtype.names == ("0", "3")
        ilfs.omics.rank(adata, "is_b", ["True"], n_permutations=0, key_added="b")
        assert np.array_equal(adata.uns["b"]["names"]["True"], adata.uns["ilfs"]["names"]["3"])


class TestDonors:
    def test_p_values_are_those_of_a_fit_with_groups(self):
        adata = cells()
        ilfs.omics.rank(adata, "cell_type", ["T cell"], donor_key="donor")
        y = (adata.obs["cell_type"] == "T cell").to_numpy().astype(int)
        alone = ILFS(n_permutations=20).fit(adata.X, y, groups=np.asarray(adata.obs["donor"].astype(object)))
        assert np.array_equal(values(adata, "pvals", "T cell"), alone.p_values_)

    def test_labels_stay_within_donors(self, monkeypatch):
        adata, drawn = cells(), []
        draw = PermutedLabels.draw.__func__

        def recorded(cls, *arguments, **options):
            drawn.append(draw(cls, *arguments, **options))
            return drawn[-1]

        monkeypatch.setattr(PermutedLabels, "draw", classmethod(recorded))
        ilfs.omics.rank(adata, "cell_type", donor_key="donor")
        (permuted,) = drawn
        donor, kind = np.asarray(adata.obs["donor"]), np.asarray(adata.obs["cell_type"])
        assert permuted.codes.shape == (20, 5, adata.n_obs)
        for place, group in enumerate(adata.uns["ilfs"]["names"].dtype.names):
            member = kind == group
            assert (permuted.codes[:, place] != member).any(axis=1).all()  # every permutation moves labels
            for one in np.unique(donor):
                counts = permuted.codes[:, place][:, donor == one].sum(axis=1)
                assert (counts == member[donor == one].sum()).all()

    def test_a_gene_of_a_donor_is_no_marker_of_a_group(self):
        rng = np.random.default_rng(0)
        adata = cells(400, 60, marker_fold=1.0, donor_effect=0.0, n_donors=2)
        donor = (adata.obs["donor"] == "donor 1").to_numpy()
        adata.obs["state"] = np.where(rng.random(400) < np.where(donor, 0.8, 0.2), "on", "off")
        X = adata.X.toarray()
        X[:, 3] = 2.0 * donor + rng.random(400)
        adata.X = X
        ilfs.omics.rank(adata, "state", ["on"])
        assert values(adata, "pvals_adj", "on")[3] < 0.05
        ilfs.omics.rank(adata, "state", ["on"], donor_key="donor")
        assert values(adata, "pvals_adj", "on")[3] > 0.2

    def test_groups_that_cannot_move_are_named(self):
        adata = cells()
        donor = np.array(adata.obs["donor"].astype(object))
        donor[(adata.obs["cell_type"] == "B cell").to_numpy()] = "only B"
        adata.obs["sample"] = donor
        with pytest.warns(UserWarning, match="no donor has both cells of 'B cell' and other cells: labels cannot move"):
            ilfs.omics.rank(adata, "cell_type", donor_key="sample")
        assert (values(adata, "pvals", "B cell") == 1.0).all()
        assert values(adata, "pvals", "T cell").min() < 0.01

    def test_groups_of_which_hardly_a_cell_can_move_are_named(self):
        adata = cells()
        is_B = (adata.obs["cell_type"] == "B cell").to_numpy()
        donor = np.array(adata.obs["donor"].astype(object))
        donor[is_B] = "only B"
        donor[np.flatnonzero(~is_B)[0]] = "only B"
        adata.obs["sample"] = donor
        with pytest.warns(
            UserWarning, match=rf"at most 1 cell of {is_B.sum()} can change places within donors"
        ) as told:
            ilfs.omics.rank(adata, "cell_type", donor_key="sample")
        assert len(told) == 1
        assert values(adata, "pvals_adj", "B cell").min() > 0.05
        assert values(adata, "pvals_adj", "T cell").min() < 0.01

    def test_donors_of_one_group_each_are_refused(self):
        adata = cells()
        adata.obs["sample"] = adata.obs["cell_type"].astype(object)
        with pytest.raises(ValueError, match="must have a donor with cells of a group and other cells, got none"):
            ilfs.omics.rank(adata, "cell_type", donor_key="sample")
        assert "ilfs" not in adata.uns


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "groups must be 'all' or a list of names, got None"),
        (3, "groups must be 'all' or a list of names, got 3"),
        ({"B cell"}, "groups must be 'all' or a list of names, got {'B cell'}"),
    ],
)
def test_groups_that_are_no_list_are_refused(groups, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ilfs.omics.rank(cells(), "cell_type", groups=groups)


def test_groups_without_enough_cells_in_or_around_them_are_refused():
    adata = cells()
    adata.obs["level"] = np.arange(adata.n_obs) / 7
    with pytest.raises(ValueError, match=r"got fewer in '0.0', .*, \.\.\.: leave them out") as caught:
        ilfs.omics.rank(adata, "level")
    assert len(str(caught.value)) < 300
    adata.obs["one"] = ["a"] * (adata.n_obs - 1) + ["b"]
    with pytest.raises(ValueError, match="must have at least 2 cells outside it, got fewer for 'a'"):
        ilfs.omics.rank(adata, "one", groups=["a"])


class TestMatrices:
    def test_layer_and_raw(self, ranked):
        adata = cells()
        adata.raw = adata.copy()
        adata.layers["log"] = adata.X.tocsc()
        adata.X = adata.X * 0
        ilfs.omics.rank(adata, "cell_type", layer="log")
        assert_same_result(ranked, adata, exact=False)
        ilfs.omics.rank(adata, "cell_type", use_raw=True)
        assert_same_result(ranked, adata)
        assert adata.uns["ilfs"]["params"]["use_raw"] is True

    def test_raw_with_more_genes_than_var(self, ranked):
        whole = cells()
        adata = whole[:, 10:30].copy()
        adata.raw = whole
        ilfs.omics.rank(adata, "cell_type", use_raw=True)
        assert_same_result(ranked, adata)
        assert np.array_equal(adata.var["ilfs_rank"], ranked.var["ilfs_rank"].iloc[10:30])
        assert ilfs.omics.panel(adata, 2)["names"].tolist() == ilfs.omics.panel(ranked, 2)["names"].tolist()

    def test_dense_and_sparse_agree(self, ranked):
        adata = cells()
        adata.X = adata.X.toarray()
        ilfs.omics.rank(adata, "cell_type")
        assert_same_result(ranked, adata, exact=False)

    def test_counts_are_noticed(self):
        adata = cells()
        with pytest.warns(UserWarning, match="the values look like counts, and ilfs.omics expects logarithms"):
            ilfs.omics.rank(adata, "cell_type", layer="counts", n_permutations=0)
        adata.X = adata.layers["counts"].toarray().astype(float)
        adata.X[0, 0] = np.nan
        with (
            pytest.warns(UserWarning, match="the values look like counts, and ilfs.omics expects logarithms"),
            pytest.warns(UserWarning, match="has missing values"),
        ):
            ilfs.omics.rank(adata, "cell_type", n_permutations=0)

    def test_missing_logarithms_are_noticed(self):
        adata = cells()
        counts = adata.layers["counts"].toarray().astype(float)
        adata.X = 1e4 * counts / counts.sum(axis=1, keepdims=True)
        with pytest.warns(UserWarning, match=r"expects logarithms, and a value of [\d.]+ is too large for one"):
            ilfs.omics.rank(adata, "cell_type", n_permutations=0)

    @pytest.mark.parametrize("form", ["csr", "dense"])
    def test_a_view_of_a_file_is_refused(self, form, tmp_path):
        import anndata

        adata = cells()
        adata.X = adata.X if form == "csr" else adata.X.toarray()
        adata.write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        with pytest.raises(TypeError, match=r"must be a whole file, got a view .*: load it, adata\.to_memory\(\)"):
            ilfs.omics.rank(backed[:100], "cell_type")
        backed.file.close()

    def test_a_group_without_a_name_is_refused(self):
        adata = cells()
        adata.obs["cell_type"] = adata.obs["cell_type"].astype(str).replace("B cell", "").to_numpy()
        with pytest.raises(ValueError, match="groups must have names, got an empty one"):
            ilfs.omics.rank(adata, "cell_type")

    def test_negative_values_are_noticed(self):
        adata = cells()
        adata.X = adata.X.toarray() - 1
        with pytest.warns(UserWarning, match="have no meaning for values below 0, got -1: name the layer"):
            ilfs.omics.rank(adata, "cell_type", n_permutations=0)

    def test_a_table_without_genes_is_refused(self):
        with pytest.raises(ValueError, match="adata must have at least 1 gene, got 0"):
            ilfs.omics.rank(cells()[:, :0].copy(), "cell_type")

    def test_base_of_the_logarithms(self, ranked):
        adata = cells()
        adata.X = adata.X / np.log(2)
        adata.uns["log1p"] = {"base": 2}
        ilfs.omics.rank(adata, "cell_type", n_permutations=0)
        for group in ("B cell", "T cell"):
            found, expected = (values(one, "logfoldchanges", group) for one in (adata, ranked))
            assert np.allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groupby": "celltype"}, r"groupby must be a column of adata.obs \(such as cell_type\), got 'celltype'"),
        ({"groupby": 3}, "groupby must be the name of a column of adata.obs, got 3"),
        ({"groups": ["B"]}, r"groups must be groups that have cells \('B cell', 'NK cell', .*\), got 'B'"),
        ({"groups": "B cell"}, "groups must be 'all' or a list of names, got 'B cell'"),
        ({"groups": []}, r"groups must be 'all' or a list of names, got \[\]"),
        ({"layer": "log"}, r"layer must be one of adata.layers \('counts'\), got 'log'"),
        ({"use_raw": True}, "use_raw=True needs adata.raw, which is None"),
        ({"use_raw": 1}, "use_raw must be True or False, got 1"),
        ({"use_raw": True, "layer": "counts"}, "use_raw=True must not be used with a layer, got layer='counts'"),
        ({"donor_key": "patient"}, r"donor_key must be a column of adata.obs \(such as .*\), got 'patient'"),
        ({"key_added": "a/b"}, "key_added must be a name without '/', got 'a/b'"),
        ({"n_genes": 0}, "n_genes must be an integer >= 1, got 0"),
        ({"n_permutations": -1}, "n_permutations must be an integer >= 0, got -1"),
        ({"n_candidates": 0}, "n_candidates must be an integer >= 1, got 0"),
        ({"rankby_abs": "yes"}, "rankby_abs must be True or False, got 'yes'"),
        ({"groupby": "single"}, r"adata.obs\['single'\] must have at least two groups of cells, got one, 'a'"),
        ({"groupby": "lonely"}, r"each group of .* must have at least 2 cells, got fewer in 'a': leave them out"),
        ({"donor_key": "gaps"}, r"adata.obs\['gaps'\] must name the donor of each cell, got none for 1 cell"),
    ],
)
def test_errors_are_one_sentence_and_write_nothing(arguments, message):
    adata = cells()
    adata.obs["single"] = "a"
    adata.obs["lonely"] = ["a"] + ["b"] * (adata.n_obs - 1)
    adata.obs["gaps"] = [None] + ["x"] * (adata.n_obs - 1)
    with pytest.raises((ValueError, TypeError), match=message):
        ilfs.omics.rank(adata, **({"groupby": "cell_type"} | arguments))
    assert not adata.uns
    assert list(adata.var.columns) == ["marker_of"]


def test_genes_of_equal_names_are_refused():
    adata = cells()
    adata.var_names = ["x", "x", *adata.var_names[2:]]
    with pytest.raises(ValueError, match=r"got 'x' twice: call adata.var_names_make_unique\(\)"):
        ilfs.omics.rank(adata, "cell_type")


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="adata must be an AnnData, got ndarray: make one"):
        ilfs.omics.rank(np.zeros((3, 2)), "kind")
