r"""Statistical tests of the difference of methods: the paper's, and tests that account for shared rows.

The paper treats 20 splits x 5 sizes as 100 independent values of a method, compares methods by two-sample t-tests, and
computes how likely it is that one is the best that often by chance (`paper_procedure`). But splits of one data set
share most of their rows, and all methods see the same splits. These tests take that into account:

- On one data set: `corrected_t_test`, paired by split, whose variance accounts for shared rows. For all data sets at
  once: `compare_on_datasets`.
- Over the classes of one data set: `compare_over_classes`, with the paper's test beside paired ones.
- Over data sets, two methods: `wilcoxon_test` and `paired_effects`. One reference against all others, with `holm`'s
  correction: `compare_with`.
- Over data sets, all methods: `friedman_test` of ranks, then Nemenyi's `critical_difference` and its diagram
  (`ilfs.benchmark.significance.diagram`).

Values come as arrays: ``values[dataset, method]`` where data sets are compared, ``values[dataset, method, split]`` or
``values[dataset, method, split, size]`` where splits are; `mean_over_splits` converts the latter to the former. NaN
marks a failed job. Tests of two methods leave out values that either of them lacks. Friedman's test needs a value of
every method on every data set: incomplete data sets are an error or, with ``missing="drop"``, left out.

References: J. Demšar, *Statistical Comparisons of Classifiers over Multiple Data Sets*, JMLR 7 (2006). C. Nadeau,
Y. Bengio, *Inference for the Generalization Error*, Machine Learning 52 (2003). R. Iman, J. Davenport, *Approximations
of the critical region of the Friedman statistic*, Communications in Statistics A9 (1980). S. Holm, *A simple
sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6 (1979). A. Benavoli, G. Corani,
F. Mangili, *Should We Really Use Post-Hoc Tests Based on Mean-Ranks?*, JMLR 17 (2016).
"""

from ilfs.benchmark.significance.classes import ClassComparison, compare_over_classes, paired_t_test
from ilfs.benchmark.significance.effects import Effects, Estimate, paired_effects
from ilfs.benchmark.significance.normality import lilliefors
from ilfs.benchmark.significance.pairs import MethodComparison, SignedRanks, compare_with, wilcoxon_test
from ilfs.benchmark.significance.paper import (
    JointVerdict,
    PaperVerdict,
    binomial_tail,
    joint_verdict,
    paper_procedure,
    t_test,
    t_test_of_moments,
)
from ilfs.benchmark.significance.ranks import (
    Friedman,
    complete_datasets,
    critical_difference,
    friedman_from_ranks,
    friedman_test,
    nemenyi_p_values,
    rank_methods,
)
from ilfs.benchmark.significance.splits import (
    DatasetComparison,
    compare_on_datasets,
)
from ilfs.benchmark.significance.values import mean_over_splits
from ilfs.paired_tests import Difference, SignificanceResult, corrected_t_test, holm

__all__ = [
    "ClassComparison",
    "DatasetComparison",
    "Difference",
    "Effects",
    "Estimate",
    "Friedman",
    "JointVerdict",
    "MethodComparison",
    "PaperVerdict",
    "SignedRanks",
    "SignificanceResult",
    "binomial_tail",
    "compare_on_datasets",
    "compare_over_classes",
    "compare_with",
    "complete_datasets",
    "corrected_t_test",
    "critical_difference",
    "friedman_from_ranks",
    "friedman_test",
    "holm",
    "joint_verdict",
    "lilliefors",
    "mean_over_splits",
    "nemenyi_p_values",
    "paired_effects",
    "paired_t_test",
    "paper_procedure",
    "rank_methods",
    "t_test",
    "t_test_of_moments",
    "wilcoxon_test",
]
