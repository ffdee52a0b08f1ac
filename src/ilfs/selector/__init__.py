"""The base classes of all selectors: validate the input, score and order the features, select the best."""

from ilfs.selector.planned import PlannedSelector, StatisticsSelector
from ilfs.selector.ranking import RankingSelector
from ilfs.selector.rows import RowsSelector, SupervisedRowsSelector, UnsupervisedRowsSelector, refuse_constant
from ilfs.selector.scores import Scores
from ilfs.selector.size_rules import n_selected

__all__ = [
    "PlannedSelector",
    "RankingSelector",
    "RowsSelector",
    "Scores",
    "StatisticsSelector",
    "SupervisedRowsSelector",
    "UnsupervisedRowsSelector",
    "n_selected",
    "refuse_constant",
]
