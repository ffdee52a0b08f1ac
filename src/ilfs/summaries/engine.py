"""Engine that answers the requests of a plan from the rounds of a summary."""

import warnings
from collections.abc import Sequence
from typing import Any

from ilfs.execution import Fold, Read
from ilfs.statistics import Classes
from ilfs.summaries.rounds import Round, answers_to, separate_reads


class RoundMissingError(ValueError):
    """Error of a plan that reads the rows more often than a summary has rounds; ``reads`` are the next requests."""

    def __init__(self, reads: list[Read[Any]], n_rounds: int) -> None:
        rounds = "1 round" if n_rounds == 1 else f"{n_rounds} rounds"
        super().__init__(
            f"the summary has {rounds} and the method needs another one: call ilfs.summarise(rows, after=summary) at "
            "every site, and merge the results"
        )
        self.reads = reads


def next_requests(selector: Any, engine: "Recorded") -> list[Read[Any]] | None:
    """Run the plan of a selector until it reads rows that an engine does not have.

    Parameters
    ----------
    selector : PlannedSelector
        It knows its columns, and is fitted by this.
    engine : Recorded
        Answers of the rounds so far.

    Returns
    -------
    list of Read or None
        The requests; None if the plan has ended.
    """
    # Only the final fit warns, not every replay of the plan.
    with warnings.catch_warnings(), selector._named_columns():
        warnings.simplefilter("ignore")
        try:
            selector._score_fold(engine)
        except RoundMissingError as missing:
            return missing.reads
    return None


class Recorded(Fold):
    """Engine that reads no rows: each read is answered by the next round.

    Parameters
    ----------
    n_features : int
        Number of columns.
    labellings : tuple of Classes
        Classes of each labelling.
    all_rows : Classes
        All rows as one class.
    rounds : sequence of Round
        The answers.
    n_labels : int
        Number of observed labellings; the others are permutations of them.
    """

    def __init__(
        self,
        n_features: int,
        labellings: tuple[Classes, ...],
        all_rows: Classes,
        rounds: Sequence[Round],
        n_labels: int,
    ) -> None:
        self.n_features, self.labellings, self.all_rows = n_features, labellings, all_rows
        self._rounds, self._n_reads, self._n_labels = rounds, 0, n_labels

    def read(self, reads: Sequence[Read[Any]]) -> list[Any]:
        """Return the statistics of the next round; raise `RoundMissingError` if there is none."""
        if self._n_reads == len(self._rounds):
            raise RoundMissingError(list(reads), len(self._rounds))
        found = [one for one in self._rounds[self._n_reads].answers if self._takes_part(one.labelling)]
        self._n_reads += 1
        asked = separate_reads(reads)
        if len(found) != len(asked) or not all(map(lambda one, read: one.answers(read), found, asked)):
            raise ValueError(
                f"round {self._n_reads} of the summary must answer the requests of the method, but does not: all sites "
                "must use the same version of ilfs"
            )
        return answers_to(reads, [one.statistic for one in found])

    def _takes_part(self, labelling: int | None) -> bool:
        """Return False for a label that all rows or no rows have: it is left out, although sites have counted it."""
        return labelling is None or self._n_labels < 2 or self.labellings[labelling].n_classes == 2
