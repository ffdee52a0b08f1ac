"""Every public function takes an AnnData, or says in one sentence what to pass instead."""

from importlib.util import find_spec

import numpy as np
import pytest

import ilfs
from ilfs import ILFS, FisherScore
from ilfs.interactions import find_interactions
from ilfs.selection import FDRSelector, RankEnsemble, compare, prune_redundant, stability

pytestmark = [
    pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed"),
    pytest.mark.filterwarnings("ignore"),  # of anndata, which differ between its versions
]


@pytest.fixture(scope="module")
def adata():
    from ilfs.datasets import make_cells

    return make_cells(120, 50)


@pytest.mark.parametrize(
    "call",
    [
        lambda adata: ILFS(3).fit(adata, "cell_type").explain("B1"),
        lambda adata: ILFS(3).fit(adata, "cell_type").table(top=3),
        lambda adata: ILFS(3).fit(ilfs.read(adata, target="cell_type")),
        lambda adata: ILFS(3).fit(adata, "cell_type").transform(adata),
        lambda adata: ILFS("fdr").fit(adata, "cell_type", groups=adata.obs["donor"]),
        lambda adata: FDRSelector(FisherScore()).fit(adata, "cell_type"),
        lambda adata: RankEnsemble([FisherScore(), ILFS()]).fit(adata, "cell_type"),
        lambda adata: compare(["fisher"], adata, "cell_type", sizes=[3], n_repeats=1, stability=False),
        lambda adata: stability(FisherScore(3), adata, "cell_type"),
        lambda adata: ilfs.summarise(adata, "cell_type"),
    ],
)
def test_takes_an_anndata(adata, call):
    assert call(adata) is not None


def test_page_of_an_anndata(adata, tmp_path):
    ILFS(3).fit(adata, "cell_type").report(tmp_path / "page.html", adata, "cell_type")
    assert "B cell" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    "call",
    [
        lambda adata: find_interactions(adata, "cell_type"),
        lambda adata: prune_redundant(np.arange(50), adata),
        lambda adata: ilfs.novel_order(np.ones(50), adata),
    ],
)
def test_says_what_to_pass(adata, call):
    with pytest.raises(TypeError, match=r"got an AnnData: pass adata.to_df\(\) or adata.X, and labels from adata.obs"):
        call(adata)
    frame, labels = adata.to_df(), np.asarray(adata.obs["cell_type"].astype(object))
    assert find_interactions(frame, labels) is not None  # as the sentence says
