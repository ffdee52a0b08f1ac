import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from ilfs.benchmark.evaluation.precision import average_precision, average_precisions, voc_average_precision

DEFINITIONS = {
    "area": average_precision,
    "2007": lambda relevant, scores: voc_average_precision(relevant, scores, "2007"),
    "2012": lambda relevant, scores: voc_average_precision(relevant, scores, "2012"),
}
every_definition = pytest.mark.parametrize("average", DEFINITIONS.values(), ids=DEFINITIONS)

# few different scores, so that ties are common
samples = st.lists(st.tuples(st.sampled_from([0, 1]), st.integers(-4, 4)), min_size=1, max_size=40).filter(
    lambda pairs: any(relevant for relevant, _ in pairs)
)
distinct_samples = samples.map(lambda pairs: [(relevant, i) for i, (relevant, _) in enumerate(pairs)])


def arrays(pairs):
    relevant, scores = zip(*pairs, strict=True)
    return np.array(relevant), np.array(scores, dtype=float)


def curve(relevant, scores):
    """Precision and recall at every threshold, by definition, as exact fractions."""
    points = []
    for threshold in sorted(set(scores.tolist()), reverse=True):
        chosen = relevant[scores >= threshold]
        found = int(chosen.sum())
        points.append((Fraction(found, len(chosen)), Fraction(found, int(relevant.sum()))))
    return points


def brute_force(relevant, scores, definition):
    points = curve(relevant, scores)
    if definition == "2007":
        at = [max(p for p, r in points if r >= Fraction(tenths, 10)) for tenths in range(11)]
        return float(sum(at) / 11)
    area, before = Fraction(0), Fraction(0)
    for i, (precision, recall) in enumerate(points):
        height = precision if definition == "area" else max(p for p, _ in points[i:])
        area, before = area + (recall - before) * height, recall
    return float(area)


class TestWorkedExample:
    # rank       1    2    3    4    5    6    7    8
    # relevant   1    0    1    1    0    0    1    0
    # found      1    1    2    3    3    3    4    4
    # precision  1   1/2  2/3  3/4  3/5  1/2  4/7  1/2
    # recall    1/4  1/4  2/4  3/4  3/4  3/4   1    1
    # best from  1   3/4  3/4  3/4  3/5  4/7  4/7  1/2      (the largest precision here or further down)
    relevant = np.array([1, 0, 1, 1, 0, 0, 1, 0])
    scores = np.array([8.0, 7, 6, 5, 4, 3, 2, 1])

    def test_area_adds_the_precision_where_recall_rises(self):
        # (1 + 2/3 + 3/4 + 4/7) / 4 = (84 + 56 + 63 + 48) / 84 / 4 = 251/336
        assert average_precision(self.relevant, self.scores) == pytest.approx(251 / 336, rel=1e-15)

    def test_2007_reads_the_best_precision_at_eleven_recalls(self):
        # recall >= 0, .1, .2: 1; >= .3, .4, .5 (met at 2/4): 3/4; >= .6, .7: 3/4; >= .8, .9, 1: 4/7
        # (3 * 1 + 5 * 3/4 + 3 * 4/7) / 11 = (84 + 105 + 48) / 28 / 11 = 237/308
        assert voc_average_precision(self.relevant, self.scores, "2007") == pytest.approx(237 / 308, rel=1e-15)

    def test_2012_adds_the_best_precision_where_recall_rises(self):
        # (1 + 3/4 + 3/4 + 4/7) / 4 = (28 + 21 + 21 + 16) / 28 / 4 = 86/112 = 43/56
        assert voc_average_precision(self.relevant, self.scores, "2012") == pytest.approx(43 / 56, rel=1e-15)

    def test_difficult_images_are_as_if_they_were_not_there(self):
        relevant = np.insert(self.relevant, [0, 3, 8], -1)
        scores = np.insert(self.scores, [0, 3, 8], [9.0, 5.5, 2.0])
        for average in DEFINITIONS.values():
            assert average(relevant, scores) == average(self.relevant, self.scores)

    def test_a_tie_is_one_threshold(self):
        # ranks 2 to 4 tied: found 1 of 1, then 3 of 4 (precision 3/4), 3/5, 1/2, 4/7, 1/2
        scores = np.array([8.0, 6, 6, 6, 4, 3, 2, 1])
        # area and 2012: 1/4 * 1 + 2/4 * 3/4 + 1/4 * 4/7 = (28 + 42 + 16) / 112
        assert average_precision(self.relevant, scores) == pytest.approx(86 / 112, rel=1e-15)
        assert voc_average_precision(self.relevant, scores, "2012") == pytest.approx(86 / 112, rel=1e-15)
        # 2007: as before, since the interpolated precision is 3/4 from recall 1/4 to 3/4 either way
        assert voc_average_precision(self.relevant, scores, "2007") == pytest.approx(237 / 308, rel=1e-15)

    def test_ties_in_the_order_given_as_in_the_kits(self):
        constant = np.zeros(8)
        for definition in ("2007", "2012"):
            together = voc_average_precision(self.relevant, constant, definition)
            as_given = voc_average_precision(self.relevant, constant, definition, ties="as given")
            assert together == 0.5  # one threshold: 4 of 8
            assert as_given == voc_average_precision(self.relevant, self.scores, definition)


def test_a_recall_of_three_tenths_reaches_the_point_at_three_tenths():
    # 3 relevant first, then 7 irrelevant, then 7 relevant: precision 1 up to recall 3/10, at best 10/17 after
    relevant = np.repeat([1, 0, 1], [3, 7, 7])
    scores = -np.arange(17.0)
    expected = (4 * 1 + 7 * 10 / 17) / 11
    assert voc_average_precision(relevant, scores, "2007") == pytest.approx(expected, rel=1e-15)


@given(samples)
def test_area_is_that_of_scikit_learn(pairs):
    relevant, scores = arrays(pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of samples that are all relevant
        expected = average_precision_score(relevant, scores)
    assert average_precision(relevant, scores) == pytest.approx(expected, rel=1e-12)
    assert average_precision(relevant.astype(bool), scores) == average_precision(relevant, scores)


@pytest.mark.parametrize("definition", DEFINITIONS)
@given(pairs=samples)
def test_every_definition_by_brute_force(definition, pairs):
    relevant, scores = arrays(pairs)
    expected = brute_force(relevant, scores, definition)
    assert DEFINITIONS[definition](relevant, scores) == pytest.approx(expected, rel=1e-12)


@every_definition
@given(pairs=samples, seed=st.integers(0, 99))
def test_the_order_of_the_samples_does_not_matter(average, pairs, seed):
    relevant, scores = arrays(pairs)
    order = np.random.default_rng(seed).permutation(len(pairs))
    assert average(relevant[order], scores[order]) == average(relevant, scores)


@every_definition
@given(pairs=samples)
def test_only_the_order_of_the_scores_matters(average, pairs):
    relevant, scores = arrays(pairs)
    assert average(relevant, np.exp(scores) - 100) == average(relevant, scores)


@every_definition
@given(pairs=distinct_samples)
def test_one_for_a_perfect_ranking_less_for_any_other(average, pairs):
    relevant, scores = arrays(pairs)
    assert average(relevant, relevant + scores / 1000) == pytest.approx(1)
    is_perfect = scores[relevant == 1].min() > scores[relevant == 0].max(initial=-1)
    assert (average(relevant, scores) > 1 - 1e-9) == is_perfect


@given(samples)
def test_interpolation_never_lowers_the_area(pairs):
    relevant, scores = arrays(pairs)
    assert voc_average_precision(relevant, scores, "2012") >= average_precision(relevant, scores) - 1e-12


@pytest.mark.parametrize("definition", ["2007", "2012"])
@given(pairs=distinct_samples)
def test_without_ties_both_ways_to_treat_them_agree(definition, pairs):
    relevant, scores = arrays(pairs)
    as_given = voc_average_precision(relevant, scores, definition, ties="as given")
    assert as_given == voc_average_precision(relevant, scores, definition)


@pytest.mark.parametrize("definition", ["2007", "2012"])
def test_many_ties_as_given_are_in_the_order_given(definition):
    rng = np.random.default_rng(0)
    relevant, scores = rng.integers(0, 2, size=500), rng.integers(0, 3, size=500)
    in_order = scores - np.arange(500) / 1000
    as_given = voc_average_precision(relevant, scores, definition, ties="as given")
    assert as_given == voc_average_precision(relevant, in_order, definition)
    assert as_given != voc_average_precision(relevant, scores, definition)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_average_precisions_are_those_of_each_class(definition):
    rng = np.random.default_rng(0)
    relevant, scores = rng.integers(-1, 2, size=(30, 4)), rng.normal(size=(30, 4)).astype(np.float32)
    relevant[:, 2] = 0
    expected = [DEFINITIONS[definition](relevant[:, k], scores[:, k]) for k in range(4)]
    assert np.isnan(expected).tolist() == [False, False, True, False]
    np.testing.assert_array_equal(average_precisions(relevant, scores, definition), expected)


@every_definition
class TestEdges:
    def test_without_relevant_samples_the_result_is_nan(self, average):
        assert np.isnan(average([0, 0], [1.0, 2.0]))
        assert np.isnan(average([0, -1], [1.0, 2.0]))
        assert np.isnan(average([-1], [1.0]))
        assert np.isnan(average([], []))

    def test_if_all_samples_are_relevant_the_result_is_1(self, average):
        assert average([1, 1], [1.0, 2.0]) == 1
        assert average([True], [np.inf]) == 1

    def test_infinite_scores_are_ordered_and_may_be_tied(self, average):
        assert average([1, 0, 0], [np.inf, np.inf, -np.inf]) == 0.5

    def test_scores_may_be_integers_or_floats(self, average):
        for dtype in (np.uint8, np.int64, np.float32):
            assert average([0, 1, 0], np.array([1, 2, 0], dtype=dtype)) == 1

    @pytest.mark.parametrize(
        ("relevant", "scores", "said"),
        [
            ([1, 0], [1.0], r"two vectors of one length, got the shapes \(2,\) and \(1,\)"),
            ([[1], [0]], [[1.0], [2.0]], r"two vectors of one length, got the shapes \(2, 1\)"),
            ([1, 0], [1.0, np.nan], "scores must be numbers, got NaN"),
            ([1, 2], [1.0, 2.0], r"relevant must be 1, 0 or -1 \(difficult\), got 2"),
            ([1, np.nan], [1.0, 2.0], r"relevant must be 1, 0 or -1 \(difficult\), got nan"),
            ([1, -1], [1.0, 2.0], "must be 0 where the class is absent .* got only 1 and -1"),
        ],
    )
    def test_invalid_arguments_are_refused(self, average, relevant, scores, said):
        with pytest.raises(ValueError, match=said):
            average(relevant, scores)


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match="definition must be '2007' or '2012', got '2010'"):
        voc_average_precision([1], [1.0], "2010")
    with pytest.raises(ValueError, match="ties must be 'together' or 'as given', got 'random'"):
        voc_average_precision([1], [1.0], ties="random")
    with pytest.raises(ValueError, match="definition must be 'area', '2007' or '2012', got 'mean'"):
        average_precisions([[1]], [[1.0]], "mean")
    with pytest.raises(ValueError, match=r"two matrices of one shape, got the shapes \(1,\) and \(1,\)"):
        average_precisions([1], [1.0])
