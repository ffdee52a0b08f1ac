from pathlib import Path

import numpy as np
import pytest
from helpers import DATA, NO_DATA
from scipy import sparse

from ilfs.datasets import REGISTRY, load
from ilfs.datasets.registry import PAPER
from ilfs.datasets.voc_options import VOC_YEARS

FILES = [spec for spec in REGISTRY.values() if spec.size]
ALWAYS = [spec for spec in REGISTRY.values() if spec.origin in ("scikit-learn", "synthetic")]


def check(table, spec):
    assert (table.n_samples, table.n_features) == (spec.samples, spec.features)
    assert table.class_sizes == spec.class_sizes
    assert sparse.issparse(table.X) == spec.sparse
    assert spec.sha256 in ("", table.checksum)
    assert not np.isinf(table.X.data if spec.sparse else table.X).any()


@pytest.mark.parametrize("spec", FILES, ids=lambda spec: spec.name)
def test_a_file_matches_its_spec(spec, monkeypatch):
    if not DATA or not (Path(DATA) / spec.file).is_file():
        pytest.skip(NO_DATA)
    monkeypatch.setenv("ILFS_DATA", DATA)
    assert (Path(DATA) / spec.file).stat().st_size == spec.size
    check(load(spec.name), spec)


@pytest.mark.parametrize("spec", ALWAYS, ids=lambda spec: spec.name)
def test_data_sets_without_a_file_match_their_spec(spec):
    check(load(spec.name), spec)


def test_the_ten_data_sets_of_the_paper_have_its_sizes():
    rows = {spec.paper.row: (spec.paper.samples, spec.paper.features, spec.paper.class_sizes) for spec in PAPER}
    assert rows == {
        "GINA": (3153, 970, (1500, 1600)),
        "DEXTER": (2600, 20000, (1300, 1300)),
        "POLARITY": (2000, 3000, (1000, 1000)),
        "COLON": (62, 2000, (40, 22)),
        "LEUKEMIA": (72, 7129, (47, 25)),
        "PROSTATE": (102, 6033, (50, 52)),
        "LYMPHOMA": (45, 4026, (23, 22)),
        "LUNG": (181, 12533, (31, 150)),
        "VOC 2007": (10000, 4096, None),
        "VOC 2012": (20000, 4096, None),
    }


@pytest.mark.parametrize("spec", PAPER, ids=lambda spec: spec.name)
def test_exact_data_sets_have_the_sizes_of_the_paper(spec):
    if spec.standing == "exact":
        assert (spec.samples, spec.features) == (spec.paper.samples, spec.paper.features)
        assert sorted(spec.class_sizes) == sorted(spec.paper.class_sizes)
    else:
        assert spec.differs


def test_only_synthetic_data_sets_are_made():
    assert all((spec.standing == "made") == (spec.origin == "synthetic") for spec in REGISTRY.values())


def test_titles_mark_data_that_are_not_the_papers():
    assert REGISTRY["gina"].title == "GINA (rebuilt)"
    assert REGISTRY["dexter"].title == "DEXTER (600 of 2600 rows)"
    assert all("(substitute for VOC)" in REGISTRY[name].title for name in ("office_caltech10", "pascal_sentence"))
    assert all(spec.title != spec.paper.row for spec in PAPER if spec.standing != "exact")


@pytest.mark.parametrize("spec", REGISTRY.values(), ids=lambda spec: spec.name)
def test_every_spec_is_complete(spec):
    assert all((spec.title, spec.source, spec.licence))
    n_labels = spec.samples if spec.class_sizes is None else sum(spec.class_sizes)
    assert n_labels > spec.samples if spec.name in VOC_YEARS else n_labels == spec.samples
    assert bool(spec.size) <= (len(spec.sha256) == 64)
    assert spec.size or spec.origin != "file" or spec.advice
