"""What is made of a ranking: tables, panels, files; and AnnData that is backed or lazy."""

from importlib.util import find_spec

import numpy as np
import pytest
from platforms import needs_posix

import ilfs
from ilfs.omics.panels import choose

pytestmark = [
    pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed"),
    pytest.mark.filterwarnings("ignore"),  # of anndata, which differ between its versions
]


def cells():
    from ilfs.datasets import make_cells

    return make_cells(160, 60)


@pytest.fixture(scope="module")
def ranked():
    adata = cells()
    ilfs.omics.rank(adata, "cell_type", donor_key="donor")
    return adata


def assert_equal_results(one, other):
    """Bit by bit, whatever the order of the keys in a file."""
    assert set(one) == set(other)
    for name in one:
        if name == "params":
            given = {key: value for key, value in one[name].items() if value is not None}
            assert {key: other[name][key] for key in given} == given
        elif name in ("pts", "pts_rest", "groups"):
            assert one[name].index.tolist() == other[name].index.tolist()
            assert np.array_equal(one[name], other[name])
        else:
            for group in one[name].dtype.names:
                assert np.array_equal(one[name][group], other[name][group])


class TestTable:
    def test_has_the_values_of_the_result(self, ranked):
        table = ilfs.omics.table(ranked, "T cell")
        result = ranked.uns["ilfs"]
        assert table["names"].tolist() == result["names"]["T cell"].tolist()
        assert table["pct_nz_group"].tolist() == result["pts"]["T cell"].loc[table["names"]].tolist()
        whole = ilfs.omics.table(ranked)
        assert whole.shape == (5 * 60, 8)
        assert np.array_equal(whole.loc[whole["group"] == "T cell", "scores"], table["scores"])

    def test_errors(self, ranked):
        with pytest.raises(ValueError, match=r"group must be one of those in .* got 'platelet'"):
            ilfs.omics.table(ranked, "platelet")
        with pytest.raises(
            ValueError, match=r"must have a result under key='other', got none: call ilfs.omics.rank first"
        ):
            ilfs.omics.table(ranked, key="other")


class TestRnk:
    def test_has_all_genes_once_by_falling_score(self, ranked, tmp_path):
        ilfs.omics.write_rnk(ranked, "B cell", tmp_path / "B.rnk")
        lines = [line.split("\t") for line in (tmp_path / "B.rnk").read_text().splitlines()]
        names, scores = [name for name, _ in lines], np.array([float(score) for _, score in lines])
        assert sorted(names) == sorted(ranked.var_names)
        assert (np.diff(scores) < 0).all()  # no ties
        assert np.allclose(scores, ranked.uns["ilfs"]["scores"]["B cell"], atol=1e-9)
        assert names == ranked.uns["ilfs"]["names"]["B cell"].tolist()

    def test_order_by_absolute_value_is_undone(self, ranked, tmp_path):
        adata = cells()
        ilfs.omics.rank(adata, "cell_type", rankby_abs=True, n_permutations=0)
        for one, name in ((ranked, "a.rnk"), (adata, "b.rnk")):
            ilfs.omics.write_rnk(one, "B cell", tmp_path / name)
        first, second = (dict(map(str.split, (tmp_path / name).open())) for name in ("a.rnk", "b.rnk"))
        assert np.allclose([float(first[gene]) for gene in first], [float(second[gene]) for gene in first], atol=1e-9)

    @pytest.mark.filterwarnings("error")
    def test_missing_genes_are_noticed(self, tmp_path):
        adata = cells()
        ilfs.omics.rank(adata, "cell_type", n_genes=5, n_permutations=0)
        with pytest.warns(UserWarning, match="the result has 5 of 60 genes, but GSEA needs all"):
            ilfs.omics.write_rnk(adata, "B cell", tmp_path / "B.rnk")

    def test_bad_names_and_folders(self, ranked, tmp_path):
        with pytest.raises(OSError, match="make its folder first"):
            ilfs.omics.write_rnk(ranked, "B cell", tmp_path / "none" / "B.rnk")
        adata = cells()
        adata.var_names = ["a\tb", *adata.var_names[1:]]
        ilfs.omics.rank(adata, "cell_type", n_permutations=0)
        with pytest.raises(ValueError, match=r"must not be empty or contain tabs or line ends, got 'a\\tb'"):
            ilfs.omics.write_rnk(adata, "B cell", tmp_path / "B.rnk")
        assert not list(tmp_path.iterdir())


class TestPanel:
    def test_has_each_gene_once_and_no_copies(self, ranked):
        panel = ilfs.omics.panel(ranked, n_per_group=6)
        assert panel["names"].is_unique
        X = ranked[:, panel["names"].tolist()].X.toarray()
        correlation = np.abs(np.corrcoef(X.T)) - np.eye(len(panel))
        assert correlation.max() <= 0.8
        whole = np.corrcoef(ranked[:, ["B1", "B1b"]].X.toarray().T)[0, 1]
        assert whole > 0.8  # so that one of the two had to be left out
        assert (panel["scores"] > 0).all()
        assert (panel["pvals_adj"] <= 0.05).all()
        for group, part in panel.groupby("group"):
            assert group in ranked.var.loc[part["names"].iloc[0], "marker_of"]

    def test_dictionary(self, ranked):
        panel = ilfs.omics.panel(ranked, 2)
        names = ilfs.omics.panel_names(panel)
        assert list(names) == list(ranked.uns["ilfs"]["names"].dtype.names)
        assert [gene for genes in names.values() for gene in genes] == panel["names"].tolist()

    def test_groups_choose_in_turns(self):
        import pandas as pd

        eligible = {"x": pd.DataFrame(index=["a", "b", "c"]), "y": pd.DataFrame(index=["b", "d", "e"])}
        rho = pd.DataFrame(np.eye(5), index=list("abcde"), columns=list("abcde"))
        rho.loc["a", "d"] = rho.loc["d", "a"] = -0.9
        assert choose(eligible, rho, 2, 0.8) == {"x": ["a", "c"], "y": ["b", "e"]}
        assert choose(eligible, rho, 2, 0.95) == {"x": ["a", "c"], "y": ["b", "d"]}

    @pytest.mark.filterwarnings("error:n_per_group")
    def test_few_genes_are_noticed(self, ranked):
        with pytest.warns(UserWarning, match=r"n_per_group=50 genes were not found for 'B cell' \(\d+\), 'NK cell'"):
            ilfs.omics.panel(ranked, 50)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_per_group": 0}, "n_per_group must be an integer >= 1, got 0"),
            ({"max_correlation": 2}, "max_correlation must be a number from 0 to 1, got 2"),
            ({"fdr": 0}, "fdr must be a number strictly between 0 and 1, got 0"),
            ({"fdr": 1e-9}, "no gene of any group is higher in it and significant: raise fdr"),
            ({"key": "x"}, "must have a result under key='x'"),
        ],
    )
    def test_errors(self, ranked, options, message):
        with pytest.raises(ValueError, match=message):
            ilfs.omics.panel(ranked, **options)

    def test_other_genes_are_refused(self, ranked):
        adata = ranked[:, :5].copy()
        with pytest.raises(ValueError, match="adata must have the genes that were ranked, got no"):
            ilfs.omics.panel(adata)


def test_a_panel_of_a_short_table_has_the_genes_of_a_long_one():
    import anndata
    import pandas as pd

    rng = np.random.default_rng(1)
    X = rng.normal(1, 0.3, (900, 40)).clip(0)
    X[300:600, :10] += 2  # ten genes of B fill its short table
    for group, gene, more in ((0, 10, 0.45), (1, 10, 0.75), (0, 11, 0.5), (2, 12, 1.0)):
        X[300 * group : 300 * (group + 1), gene] += more
    names = pd.DataFrame(index=[f"G{k}" for k in range(40)])
    obs = pd.DataFrame({"type": np.repeat(["A", "B", "C"], 300)}, index=[f"cell{k}" for k in range(900)])
    adata = anndata.AnnData(X, obs=obs, var=names)
    panels = []
    for n_genes in (5, None):
        ilfs.omics.rank(adata, "type", n_genes=n_genes, n_permutations=0)
        panels.append(ilfs.omics.panel_names(ilfs.omics.panel(adata, 3)))
    assert [chosen["A"][0] for chosen in panels] == ["G11"] * 2
    assert not any("G10" in chosen["A"] for chosen in panels)


@pytest.fixture(params=["csr", "csc", "dense"])
def path(request, tmp_path):
    adata = cells()
    adata.obs["cell_type"] = adata.obs["cell_type"].cat.reorder_categories(adata.obs["cell_type"].cat.categories[::-1])
    adata.X = adata.X.toarray() if request.param == "dense" else adata.X.asformat(request.param)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


class TestFiles:
    def test_result_survives_a_file(self, ranked, tmp_path):
        import anndata

        ranked.write_h5ad(tmp_path / "ranked.h5ad")
        back = anndata.read_h5ad(tmp_path / "ranked.h5ad")
        assert_equal_results(ranked.uns["ilfs"], back.uns["ilfs"])
        for name in ("rank", "score", "pvals_adj", "group_score"):
            assert np.array_equal(ranked.var[f"ilfs_{name}"], back.var[f"ilfs_{name}"])
        assert ranked.var["ilfs_group"].astype(str).tolist() == back.var["ilfs_group"].astype(str).tolist()
        assert ilfs.omics.panel(back, 2).equals(ilfs.omics.panel(ranked, 2))

    def test_backed_has_the_bits_of_memory_and_is_saved(self, path):
        import anndata

        loaded = anndata.read_h5ad(path)
        ilfs.omics.rank(loaded, "cell_type", donor_key="donor")
        backed = anndata.read_h5ad(path, backed="r")
        ilfs.omics.rank(backed, "cell_type", donor_key="donor")
        assert_equal_results(loaded.uns["ilfs"], backed.uns["ilfs"])
        assert ilfs.omics.panel(backed, 2)["names"].tolist() == ilfs.omics.panel(loaded, 2)["names"].tolist()
        with pytest.raises(OSError, match="is open in a program, perhaps this one: close it"):
            ilfs.omics.save(backed, path)
        backed.file.close()
        for _ in range(2):  # the second time, the first result is replaced
            ilfs.omics.save(backed, path)
            back = anndata.read_h5ad(path)
            assert_equal_results(loaded.uns["ilfs"], back.uns["ilfs"])
            assert back.var["ilfs_rank"].tolist() == loaded.var["ilfs_rank"].tolist()
            assert back.var["ilfs_group"].astype(str).tolist() == loaded.var["ilfs_group"].astype(str).tolist()
            assert back.var.columns.is_unique

    def test_lazy_has_the_bits_of_memory_or_says_what_to_do(self, path):
        import anndata
        import dask
        import h5py

        if not hasattr(anndata.experimental, "read_lazy") or find_spec("xarray") is None:
            pytest.skip("this anndata has no read_lazy")
        loaded = anndata.read_h5ad(path)
        ilfs.omics.rank(loaded, "cell_type", donor_key="donor")
        with h5py.File(path) as file:
            lazy = anndata.experimental.read_lazy(file)
            try:
                lazy.X[:1].compute(scheduler="synchronous")
            except AttributeError:
                with pytest.raises(TypeError, match=r'open the file with anndata.read_h5ad\(path, backed="r"\)'):
                    ilfs.omics.rank(lazy, "cell_type")
                return
            with dask.config.set(scheduler="dask.distributed"):  # a client that was closed may leave it behind
                ilfs.omics.rank(lazy, "cell_type", donor_key="donor")
            assert lazy.uns["ilfs"]["names"].dtype.names[0] == "monocyte"  # groups are in the order of the categories
            assert_equal_results(loaded.uns["ilfs"], lazy.uns["ilfs"])
        ilfs.omics.save(lazy, path)
        assert_equal_results(loaded.uns["ilfs"], anndata.read_h5ad(path).uns["ilfs"])

    def test_save_refuses_other_genes(self, ranked, path):
        import anndata

        with_others = anndata.read_h5ad(path)[:, 1:].to_memory()
        ilfs.omics.rank(with_others, "cell_type", n_permutations=0)
        before = path.read_bytes()
        with pytest.raises(ValueError, match="must have the genes of adata in the same order, got others"):
            ilfs.omics.save(with_others, path)
        assert path.read_bytes() == before

    def test_group_names_may_have_a_slash(self, tmp_path):
        import anndata

        adata, expected = cells(), cells()
        adata.obs["cell_type"] = adata.obs["cell_type"].astype(object).replace("NK cell", "NK/T cell")
        adata.write_h5ad(tmp_path / "cells.h5ad")
        for one in (adata, expected):
            ilfs.omics.rank(one, "cell_type", n_permutations=0)
        found = ilfs.omics.table(adata, "NK/T cell")
        assert found.equals(ilfs.omics.table(expected, "NK cell"))
        ilfs.omics.save(adata, tmp_path / "cells.h5ad")
        adata.write_h5ad(tmp_path / "all.h5ad")
        for path in ("cells.h5ad", "all.h5ad"):
            assert ilfs.omics.table(anndata.read_h5ad(tmp_path / path), "NK/T cell").equals(found)

    def test_a_result_that_was_read_is_saved_to_another_file(self, ranked, path, tmp_path):
        import anndata

        ranked.write_h5ad(tmp_path / "ranked.h5ad")
        back = anndata.read_h5ad(tmp_path / "ranked.h5ad")
        ilfs.omics.save(back, path)
        assert_equal_results(ranked.uns["ilfs"], anndata.read_h5ad(path).uns["ilfs"])
        assert anndata.read_h5ad(path).var["ilfs_group"].astype(str).tolist() == ranked.var["ilfs_group"].tolist()

    def test_save_writes_the_columns_of_the_result_only(self, path):
        import anndata

        adata = anndata.read_h5ad(path)
        ilfs.omics.rank(adata, "cell_type", n_permutations=0)
        ilfs.omics.rank(adata, "cell_type", n_permutations=0, key_added="ilfs_raw")
        adata.var["ilfs_note"] = "mine"
        ilfs.omics.save(adata, path)
        columns = [name for name in anndata.read_h5ad(path).var if name.startswith("ilfs")]
        assert columns == ["ilfs_rank", "ilfs_score", "ilfs_pvals_adj", "ilfs_group", "ilfs_group_score"]

    def test_save_says_why_it_cannot(self, ranked, tmp_path):
        import h5py

        with pytest.raises(FileNotFoundError, match=r"no\.h5ad' cannot be written \(No such file"):
            ilfs.omics.save(ranked, tmp_path / "no.h5ad")
        (tmp_path / "text.h5ad").write_text("cells")
        with pytest.raises(ValueError, match=r"text\.h5ad' must be an \.h5ad file"):
            ilfs.omics.save(ranked, tmp_path / "text.h5ad")
        assert (tmp_path / "text.h5ad").read_text() == "cells"
        with h5py.File(tmp_path / "other.h5ad", "w") as file:
            file["cells"] = [1, 2]
        with pytest.raises(ValueError, match=r"other\.h5ad must be an \.h5ad file, which has a table var of the genes"):
            ilfs.omics.save(ranked, tmp_path / "other.h5ad")

    @needs_posix
    def test_a_full_disk_leaves_the_file_as_it_was(self, ranked, path):
        import resource

        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10_000, limits[1]))
        try:
            with pytest.raises(OSError, match=r"cells\.h5ad' cannot be written \(File too large\): free some space"):
                ilfs.omics.save(ranked, path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before


@pytest.mark.skipif(find_spec("scanpy") is None, reason="scanpy is not installed")
class TestScanpy:
    @pytest.fixture(scope="class", params=["memory", "file"])
    def adata(self, request, ranked, tmp_path_factory):
        import anndata

        if request.param == "memory":
            return ranked.copy()
        path = tmp_path_factory.mktemp("scanpy") / "ranked.h5ad"
        ranked.write_h5ad(path)
        return anndata.read_h5ad(path)

    def test_table(self, adata):
        import scanpy as sc

        theirs = sc.get.rank_genes_groups_df(adata, "T cell", key="ilfs")
        ours = ilfs.omics.table(adata, "T cell")
        assert theirs["names"].tolist() == ours["names"].tolist()
        for name in ours.columns[1:]:
            assert np.array_equal(theirs[name], ours[name])
        found = sc.get.rank_genes_groups_df(adata, None, key="ilfs", pval_cutoff=0.05, log2fc_min=1)
        assert set(found["group"].astype(str)) == set(adata.uns["ilfs"]["names"].dtype.names)

    def test_fold_changes_and_fractions_are_scanpys(self, adata):
        import scanpy as sc

        sc.tl.rank_genes_groups(adata, "cell_type", method="t-test", pts=True)
        for group in adata.uns["ilfs"]["names"].dtype.names:
            theirs = sc.get.rank_genes_groups_df(adata, group).set_index("names")
            ours = ilfs.omics.table(adata, group).set_index("names").loc[theirs.index]
            assert np.allclose(ours["logfoldchanges"], theirs["logfoldchanges"], rtol=1e-4, atol=1e-5)
            for name in ("pct_nz_group", "pct_nz_reference"):
                assert np.allclose(ours[name], theirs[name], atol=1e-9)
            up = theirs["scores"].abs() > 1  # for clear differences, the signs are the same
            assert (np.sign(ours["scores"][up]) * np.sign(theirs["scores"][up]) >= 0).all()

    @pytest.mark.parametrize("adata", ["file"], indirect=True, scope="class")
    @pytest.mark.parametrize("plot", ["", "_dotplot", "_heatmap", "_matrixplot", "_violin"])
    def test_plots(self, adata, plot):
        import matplotlib.pyplot as plt
        import scanpy as sc

        options = {} if plot in ("", "_violin") else {"dendrogram": False}
        assert getattr(sc.pl, f"rank_genes_groups{plot}")(adata, key="ilfs", n_genes=3, show=False, **options)
        plt.close("all")

    def test_filter_and_panel(self, adata):
        import matplotlib.pyplot as plt
        import scanpy as sc

        sc.tl.filter_rank_genes_groups(adata, key="ilfs", key_added="filtered", min_fold_change=2)
        kept = {str(name) for name in adata.uns["filtered"]["names"]["B cell"]} - {"nan"}
        assert kept
        assert all("B cell" in owner for owner in adata.var.loc[sorted(kept), "marker_of"])
        assert sc.pl.dotplot(adata, ilfs.omics.panel_names(ilfs.omics.panel(adata, 2)), "cell_type", show=False)
        plt.close("all")
