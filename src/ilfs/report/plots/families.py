"""Families: the selected features, and the features that each of them represents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ilfs.arrays import Floats
from ilfs.explanation import STRONG_CORRELATION
from ilfs.redundancy import PicksSubsets
from ilfs.report.plots.canvas import ONE_COLOUR, SMALL_POINTS, note, quiet, set_names, set_title, shown_name
from ilfs.selector import RankingSelector
from ilfs.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_NAMED_MEMBERS = 3  # members of a family whose names are written
MEMBER_LETTERS = 26
OPPOSITE = "#d55e00"  # colour of negative correlations


@dataclass(frozen=True)
class Family:
    """One selected feature and the features that repeat it.

    Parameters
    ----------
    head : str
        The selected feature.
    members : tuple of str
        Features that it represents, best first.
    correlations : ndarray of shape (n_members,)
        Their correlations with the head; see `ilfs.redundancy.PicksSubsets.families`.
    """

    head: str
    members: tuple[str, ...]
    correlations: Floats


@dataclass(frozen=True)
class FamilyMap:
    """Numbers of a picture of families.

    Parameters
    ----------
    families : tuple of Family
        Best head first.
    at_least : float
        Smallest absolute correlation of a member with its head.
    """

    families: tuple[Family, ...]
    at_least: float

    @property
    def n_represented(self) -> int:
        """Number of features that are in some family and head none."""
        heads = {family.head for family in self.families}
        return len({member for family in self.families for member in family.members} - heads)

    def first(self, n_families: int) -> Self:
        """Return the first families only."""
        return type(self)(self.families[:n_families], self.at_least)

    @classmethod
    def from_selector(
        cls,
        selector: RankingSelector,
        top: int | None = None,
        at_least: float = STRONG_CORRELATION,
        input_features: Sequence[str] | None = None,
    ) -> Self:
        """Take the families of a fitted selector.

        Parameters
        ----------
        selector : RankingSelector
            A fitted selector that picks features one at a time: ILFS or Novelty.
        top : int, optional
            Number of best features whose families are shown; by default the selected features.
        at_least : float, default=0.7
            Smallest absolute correlation of a member with its head.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        FamilyMap
            The numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ilfs import ILFS
        >>> from ilfs.report.plots.families import FamilyMap
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> shown = FamilyMap.from_selector(ILFS(3).fit(X, y))
        >>> [(family.head, len(family.members)) for family in shown.families]
        [('worst concave points', 11), ('worst radius', 8), ('mean concave points', 2)]
        """
        if not isinstance(selector, PicksSubsets):
            raise ValueError(
                f"families needs a selector that picks features one at a time, got {type(selector).__name__}: use "
                "ilfs.ILFS, or ilfs.Novelty around another method"
            )
        names = selector._names(input_features).tolist()
        found = selector.families(top, at_least=at_least, input_features=range(selector.n_features_in_))  # type: ignore[arg-type]
        families = [
            Family(str(names[head]), tuple(str(names[one]) for one in members), np.array(list(members.values())))
            for head, members in found.items()
        ]
        return cls(tuple(families), at_least)


def draw_families(ax: "Axes", shown: FamilyMap) -> None:
    """Draw a row for each head: a dot for each member at its correlation, and the names of the best members.

    Parameters
    ----------
    ax : Axes
        The axes.
    shown : FamilyMap
        The numbers.
    """
    width = 1.0 - shown.at_least or 0.05
    for row, family in enumerate(shown.families):
        strength = np.abs(family.correlations)
        if strength.size:
            ax.plot([strength.min(), 1.0], [row, row], color=ONE_COLOUR, alpha=0.3, linewidth=1.4, zorder=1)
        colours = np.where(family.correlations < 0, OPPOSITE, ONE_COLOUR)
        ax.scatter(strength, np.full(strength.size, row), c=list(colours), s=24, alpha=0.65, linewidth=0, zorder=2)
        ax.scatter(1.0, row, s=52, color=ONE_COLOUR, zorder=3, linewidth=0)
        note(ax, 1.0 + 0.06 * width, row, members_text(family.members))
    set_names(ax, [family.head for family in shown.families])
    quiet(ax, grid="x", left=False)
    ax.set_xlim(shown.at_least - 0.03 * width, 1.0 + 1.15 * width)
    ax.set_xticks(np.linspace(shown.at_least, 1, 4).round(3))
    ax.set_xlabel("absolute correlation with the selected feature", fontsize=SMALL_POINTS, loc="left")
    draw_signs(ax, shown)
    n_heads, others = len(shown.families), counted(shown.n_represented, "other")
    represent = "it represents" if n_heads == 1 else "they represent"
    ax.spines["bottom"].set_bounds(shown.at_least, 1.0)
    set_title(ax, f"{counted(n_heads, 'feature')} and {others} that {represent}")


def members_text(members: Sequence[str]) -> str:
    """Format the names of the first members of a family, and the number of the others.

    Examples
    --------
    >>> from ilfs.report.plots.families import members_text
    >>> members_text(["a", "b", "c", "d", "e"]), members_text([])
    ('a, b, c and 2 more', 'no other feature')
    """
    if not members:
        return "no other feature"
    named = ", ".join(shown_name(member, MEMBER_LETTERS) for member in members[:N_NAMED_MEMBERS])
    return named if len(members) <= N_NAMED_MEMBERS else f"{named} and {len(members) - N_NAMED_MEMBERS:,} more"


def draw_signs(ax: "Axes", shown: FamilyMap) -> None:
    """Explain the colours, if some correlations are negative."""
    if not any((family.correlations < 0).any() for family in shown.families):
        return
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 5, "markeredgewidth": 0}
    handles = [
        Line2D([], [], color=ONE_COLOUR, label="positive", **dot),
        Line2D([], [], color=OPPOSITE, label="negative", **dot),
    ]
    ax.legend(
        handles=handles, frameon=False, fontsize=SMALL_POINTS, loc="upper right", bbox_to_anchor=(1.0, 0.0), ncols=2
    )
