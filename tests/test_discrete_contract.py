"""The order of features does not depend on rounding: every method on discrete tables, with all changes of the input."""

import numpy as np
import pytest
from configurations import CONFIGURATIONS
from metamorphic import TABLES, changed_orders, count_changed_orders, fitted, small_blocks
from scipy import sparse
from test_contract import name_of

from ilfs import FisherScore

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

every = pytest.mark.parametrize("selector", CONFIGURATIONS, ids=name_of)


def some_tables(n_tables=3):
    """Pair each configuration with a few kinds of tables in turn; `make test-slow` tries all pairs."""
    kinds = list(TABLES)
    return [
        pytest.param(
            selector, kinds[(i + 3 * k) % len(kinds)], id=f"{name_of(selector)}-{kinds[(i + 3 * k) % len(kinds)]}"
        )
        for i, selector in enumerate(CONFIGURATIONS)
        for k in range(n_tables)
    ]


@pytest.mark.parametrize(("selector", "table"), some_tables())
def test_order_does_not_depend_on_rows_labels_storage_or_threads(selector, table):
    changed, tried = changed_orders(selector, table, seed=0)
    assert changed == []
    assert tried >= 5


@every
@pytest.mark.slow
def test_order_does_not_depend_on_rows_labels_storage_or_threads_on_many_tables(selector):
    changed, tried = count_changed_orders(selector, range(1, 13))
    assert changed == {}
    assert tried > 500


@pytest.mark.parametrize("n_classes", [2, 5])
def test_thousands_of_close_scores_have_the_same_order_for_any_block_size(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (60, 3000)).astype(float), np.arange(60) % n_classes
    order = FisherScore().fit(X, y).order_
    for height in (7, 16, 33):
        with small_blocks(height):
            np.testing.assert_array_equal(fitted(FisherScore(), X, y).order_, order)
    np.testing.assert_array_equal(fitted(FisherScore(), sparse.csr_array(X), y).order_, order)
