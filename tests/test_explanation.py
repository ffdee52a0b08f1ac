"""Explanations of single features: the numbers and the paragraph."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers import planted

from ilfs import ILFS, FisherScore, LaplacianScore
from ilfs.explanation import Explanation, Together, column_of, paragraph

NAMES = np.array([f"gene_{j}" for j in range(40)])


def data():
    X, y = planted()
    X[:, 7] = X[:, 0] + 0.1 * X[:, 7]
    return X, y


def class_means(column):
    X, y = data()
    return [X[y == k, column].mean() for k in (0, 1)]


def named(**parameters):
    X, y = data()
    return ILFS(5, **parameters).fit(pd.DataFrame(X, columns=NAMES), np.array(["normal", "tumour"])[y])


def some(**fields):
    """Return an explanation with some fields."""
    required = {"feature": "TP53", "column": 3, "rank": 2, "n_features": 1000, "is_selected": True, "method": "ILFS"}
    return Explanation(**required | {"score": 0.4, "largest_score": 1.0} | fields)


class TestNumbers:
    def test_they_are_those_of_the_selector(self):
        selector = named(n_permutations=20)
        for column in (0, 3, 20):
            one = selector.explain(f"gene_{column}")
            assert one == selector.explain(column)
            assert (one.feature, one.column, one.n_features) == (f"gene_{column}", column, 40)
            assert one.rank == selector.ranking_[column]
            assert one.score == selector.scores_[column]
            assert one.relevance_rank == 1 + (selector.relevance_ > selector.relevance_[column]).sum()
            assert one.q_value == selector.q_values_[column]
            assert one.is_selected == selector.get_support()[column]
            assert one.means == pytest.approx(dict(zip(["normal", "tumour"], class_means(column), strict=True)))

    def test_fields_are_plain_numbers(self):
        for value in dataclasses.asdict(named().explain(0)).values():
            assert not isinstance(value, np.generic | np.ndarray)

    def test_a_copy_is_repeated_or_repeats(self):
        selector = named()
        first, second = sorted((0, 7), key=lambda j: selector.ranking_[j])
        assert selector.explain(second).nearest == f"gene_{first}"
        assert selector.explain(first).repeated_by[f"gene_{second}"] == pytest.approx(1, abs=0.02)
        assert selector.explain(second).repeated_by == {}

    def test_well_represented_samples_are_those_of_the_upper_tokens(self):
        selector = named(class_weight=None)
        counts = selector.token_counts_[0]
        assert selector.explain(0).well_represented == pytest.approx(counts[3:].sum() / 120)
        assert selector.explain(0).well_represented > 0.7

    def test_a_constant_column_is_explained(self):
        X, y = planted(n_features=4)
        X[:, 2] = 1.0
        one = ILFS().fit(X, y).explain(2)
        assert (one.rank, one.direction, one.well_represented) == (4, "", None)
        assert "Its class means do not differ" in str(one)


class TestNames:
    def test_similar_names_are_listed(self):
        with pytest.raises(ValueError, match=r"got 'gen_12': did you mean 'gene_12' or "):
            column_of("gen_12", NAMES)
        with pytest.raises(ValueError, match=r"got 'TP35': did you mean 'tp53'\?"):
            column_of("TP35", np.array(["tp53", "brca1"]))

    def test_no_name_is_listed_if_none_is_similar(self):
        with pytest.raises(ValueError, match=r"feature must be the name or the index of a column, got 'xyz'$"):
            column_of("xyz", NAMES)

    @pytest.mark.parametrize("bad", [40, -1, 10**30])
    def test_an_index_must_exist(self, bad):
        with pytest.raises(ValueError, match="feature must be a name or an index from 0 to 39, got"):
            column_of(bad, NAMES)

    @pytest.mark.parametrize("bad", [None, 2.5, True, ["gene_1"]])
    def test_other_types_are_refused(self, bad):
        with pytest.raises(ValueError, match="feature must be the name or the index of a column, got"):
            column_of(bad, NAMES)

    def test_a_name_of_two_columns_is_refused(self):
        with pytest.raises(ValueError, match="got 'a', which 2 columns have: give an index"):
            column_of("a", np.array(["a", "b", "a"]))

    def test_names_may_be_given(self):
        X, y = planted()
        done = FisherScore().fit(X, y)
        assert done.explain("gene_3", input_features=NAMES) == done.explain(3, NAMES)
        assert done.explain("x3").column == 3

    def test_an_unfitted_selector_is_refused(self):
        from sklearn.exceptions import NotFittedError

        with pytest.raises(NotFittedError):
            ILFS().explain(0)


class TestParagraph:
    def test_it_is_one_paragraph_of_sentences(self):
        for column in range(40):
            text = str(named(n_permutations=20).explain(column)) if column < 2 else str(named().explain(column))
            assert "\n" not in text
            assert "  " not in text
            assert text.endswith(".")
            assert "nan" not in text
            assert "None" not in text

    def test_a_whole_one(self):
        one = some(
            criterion="gain", relevance=0.71, relevance_rank=13, direction="higher in tumour", effect=-1.5,
            log2_fold_change=-1.0,
            means={"normal": 4.0, "tumour": 8.0}, well_represented=0.812, q_value=0.002, fdr=0.05, verdict="confirmed",
            nearest="MDM2", correlation=-0.83, novelty=0.31, repeated_by={"A": 0.9, "B": -0.8}, missing=0.02,
            nonzero=0.6,
        )  # fmt: skip
        assert paragraph(one) == (
            "TP53 is ranked 2nd of 1,000 features by ILFS, and is selected. Features are picked one by one, for what "
            "they add to those already picked: this one added 40 % as much as the first. On its own, by a relevance "
            "of 0.71, it would be 13th. It is higher in tumour (8 on average) than in normal (4). The difference is "
            "1.5 standard deviations of a class (a factor of 2, if the values are not logarithms). By this feature "
            "alone, 81 % of the samples look more like their own class than like the others. Its q-value is 0.002, "
            "at most 0.05: confirmed. If it and all features that are better on their own were selected, less than "
            "1 % of them would be expected to be there by chance. It repeats MDM2, which is ranked before it "
            "(correlation -0.83; 31 % of its variance is new). Features that repeat it, with their similarity: A "
            "(0.90), B (-0.80). It is missing in 2 % of the rows. 60 % of its values are not zero."
        )

    def test_a_method_that_knows_little_says_little(self):
        X, _ = planted(n_features=3)
        text = str(LaplacianScore().fit(X).explain(1))
        assert text.startswith("x1 is ranked ")
        assert "LaplacianScore looks for features that change little between neighbours. Its score is " in text
        assert "class" not in text

    @pytest.mark.parametrize(
        ("fields", "phrase"),
        [
            (
                {"verdict": "tentative", "q_value": 0.08},
                "Its q-value is 0.08, above 0.05, but not above 0.1: tentative.",
            ),
            (
                {"verdict": "not confirmed", "q_value": 0.5},
                "above 0.1: not confirmed. If it and all features that are better on their own were selected, 50 % of",
            ),
            (
                {"verdict": "tentative", "q_value": 0.01, "selection_frequency": 0.3},
                "at most 0.05, but it is selected too rarely: tentative.",
            ),
        ],
    )
    def test_verdicts_are_explained(self, fields, phrase):
        assert phrase in paragraph(some(fdr=0.05, **fields))

    def test_how_often_it_is_selected_is_told(self):
        text = paragraph(some(selection_frequency=0.3))
        assert "It is selected on 30 % of the subsamples" in text

    def test_a_feature_without_a_family_is_not_said_to_be_unlike_all_others(self):
        assert paragraph(some(repeated_by={})).endswith(
            "No feature after it has it as its most similar better feature (correlation of at least 0.7)."
        )

    def test_that_sentence_is_true(self):
        done = named()
        table = done.table()
        strong = np.abs(table["correlation"]) >= 0.7
        heads = set(table["nearest"][strong].tolist())
        for name in table["feature"].tolist():
            assert ("No feature after it has it" in str(done.explain(name))) == (name not in heads)

    def test_the_first_and_the_last_features(self):
        assert "It was picked first" in paragraph(some(criterion="gain", rank=1, score=1.0))
        late = some(criterion="gain", rank=900, score=-0.4)
        assert "It is selected although it would add nothing" in paragraph(late)
        assert "It was not picked" in paragraph(dataclasses.replace(late, is_selected=False))

    def test_more_than_two_classes(self):
        means = {"a": 1.0, "b": 3.0, "c": 2.0}
        text = paragraph(some(direction="higher in b", effect=2.0, means=means))
        assert "It is higher in b (3 on average) than in the other classes (a 1, c 2). The difference is 2 stan" in text
        text = paragraph(some(direction="lower in a", effect=-2.0, means=means))
        assert "It is lower in a (1 on average) than in the other classes (b 3, c 2). The difference" in text
        text = paragraph(some(direction="higher in b and c", effect=2.0, means=means | {"d": 0.5}))
        assert "It is higher in b (3 on average) and c (2) than in the other classes (a 1, d 0.5). The diff" in text

    def test_many_classes_and_classes_without_means(self):
        many = some(direction="lower in a and c", effect=-2.0, means=dict.fromkeys("abcdefgh", 1.0))
        assert "It is lower in a and c than in the other classes. The difference is 2 standard" in paragraph(many)
        unknown = some(direction="lower in a", effect=-2.0)
        assert "It is lower in a than in the other classes. The difference is 2 standard" in paragraph(unknown)

    def test_classes_that_are_numbers_are_called_classes(self):
        text = paragraph(some(direction="higher in 1", effect=2.0, means={"0": 1.0, "1": 3.0}))
        assert "It is higher in class 1 (3 on average) than in class 0 (1). The difference" in text
        text = paragraph(some(direction="lower in -1 and 2.5", effect=2.0, means={"-1": 1.0, "2.5": 3.0, "7": 9.0}))
        assert "It is lower in class -1 (1 on average) and class 2.5 (3) than in class 7 (9)." in text
        assert "more frequent in class 0." in paragraph(some(shape_fraction=0.5, widest="0"))

    def test_a_feature_that_must_be_kept_is_not_said_to_add_most(self):
        X, y = planted()
        why = ILFS(3, must_keep=[9]).fit(X, y).explain(9)
        assert why.is_kept
        assert why.rank == 1
        assert "It was to be kept in any case" in str(why)
        assert "picked" not in str(why)
        assert not ILFS(3, must_keep=[9]).fit(X, y).explain(0).is_kept

    def test_a_feature_picked_for_its_spread_is_said_to_be(self):
        rng, y = np.random.default_rng(0), np.where(np.arange(200) % 2, "ill", "well")
        X = rng.normal(size=(200, 30))
        X[y == "ill", 4] *= 4
        why = ILFS(5).fit(X, y).explain(4)
        assert why.rank == 1
        assert why.shape_fraction > 0.5
        assert "comes from the spread of its values in the classes: extreme values are more frequent in ill." in str(
            why
        )

    def test_a_test_that_does_not_see_the_reason_is_said_not_to(self):
        unconfirmed = {"fdr": 0.05, "verdict": "not confirmed", "q_value": 0.5}
        means, blind = (
            "But this tests differences of class means, feature by feature, and does not see ",
            Together(("MDM2",), "high together with high: more often in a", 1e-9),
        )
        assert means not in paragraph(some(**unconfirmed))
        assert f"{means}the spread of the values. " in paragraph(some(**unconfirmed, shape_fraction=0.5, missing=0.1))
        text = paragraph(some(**unconfirmed, works_with=(blind,), missing=0.1))
        assert f"{means}what features tell together; for that, the adjusted p-value counts. " in text
        text = paragraph(some(**unconfirmed, works_with=(blind,), shape_fraction=0.5))
        assert f"{means}the spread of the values and what features tell together; for that" in text
        confirmed = unconfirmed | {"verdict": "confirmed", "q_value": 0.01}
        assert means not in paragraph(some(**confirmed, works_with=(blind,), shape_fraction=0.5))

    def test_a_pick_for_a_set_names_the_set(self):
        pair = Together(("MDM2",), "high together with high, or low with low: more often in ill", 1.24e-30, True, True)
        text = paragraph(some(criterion="gain", rank=1, score=1.0, works_with=(pair,)))
        assert (
            "It was picked together with MDM2, because the two tell the class together: high together with high, or "
            "low with low, more often in ill (adjusted p-value 1.2e-30)." in text
        )
        assert "alone adds most" not in text
        later = Together(("A", "B"), "one or all three high: more often in ill", 0.0, True)
        text = paragraph(
            some(criterion="gain", rank=7, score=0.4, works_with=(pair.__class__(("C",), "x", 0.01), later))
        )
        assert (
            "It was picked after A and B, also for what the three tell together: one or all three high, more often in "
            "ill (adjusted p-value <1e-300). It added 40 % as much as the first pick." in text
        )
        assert "It also tells the class together with C: x (adjusted p-value 0.01)." in text

    def test_a_small_part_of_the_gain_is_not_mentioned(self):
        assert "spread" not in paragraph(some(shape_fraction=0.05, widest="a"))
        assert "30 % of what it added comes from the spread of its values in the classes. " in paragraph(
            some(shape_fraction=0.3, missing=0.5)
        )

    def test_an_infinite_effect_is_said_in_words(self):
        assert "Within each class it is constant." in paragraph(some(direction="higher in a", effect=np.inf))

    def test_many_repeating_features_are_counted(self):
        text = paragraph(some(repeated_by={f"g{j}": 0.9 for j in range(10)}))
        assert "g3 (0.90) and 6 more." in text
