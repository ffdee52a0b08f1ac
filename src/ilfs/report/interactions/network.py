"""The network of interacting features: which features and sets are drawn, and how."""

from collections.abc import Mapping
from dataclasses import dataclass

from ilfs.report.charts.networks import NetworkEdge, network_chart
from ilfs.report.interactions.summary import FoundSet, InteractionSummary

MAX_NODES = 40  # features whose names fit beside each other
MAX_EDGES = 150


@dataclass(frozen=True)
class InteractionNetwork:
    """Features and sets of the network.

    Parameters
    ----------
    names : tuple of str
        Names of the features.
    columns : tuple of int
        Their column indices.
    edges : tuple of NetworkEdge
        The sets, strongest first. The thickness of a line is the statistic, its colour the class in which the pattern
        is more frequent; a dashed line is an opposite pattern, such as one high and the other low.
    legend : tuple of (int, str)
        Colours that occur, and the classes they stand for.
    n_sets : int
        Number of all sets of different features, drawn or not.
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    edges: tuple[NetworkEdge, ...]
    legend: tuple[tuple[int, str], ...]
    n_sets: int

    @classmethod
    def of_summary(cls, summary: InteractionSummary, max_nodes: int = MAX_NODES) -> "InteractionNetwork":
        """Choose the sets that are drawn: the strongest ones, as long as there is room for their features.

        Parameters
        ----------
        summary : InteractionSummary
            The result of a search.
        max_nodes : int, default=40
            Largest number of features.

        Returns
        -------
        InteractionNetwork
            Features in the order in which they first occur.
        """
        drawn, place = strongest(summary, max_nodes)
        strengths = relative_strengths([one.statistic for one in drawn])
        edges = [
            NetworkEdge(
                tuple(place[column] for column in one.columns), strength, one.group, one.is_opposite, about(one)
            )
            for one, strength in zip(drawn, strengths, strict=True)
        ]
        names = {column: name for one in drawn for column, name in zip(one.columns, one.names, strict=True)}
        n_sets = len({one.columns for one in summary.sets})
        groups = sorted({one.group for one in drawn})
        legend = tuple((group, f"more often in {summary.labels[group]}") for group in groups)
        return cls(tuple(names[column] for column in place), tuple(place), tuple(edges), legend, n_sets)

    def svg(self, places: Mapping[int, int] | None = None) -> str:
        """Draw the network as SVG.

        Parameters
        ----------
        places : mapping of int to int, optional
            Number for scripts of each column, such as its place in the ranking.

        Returns
        -------
        str
            An SVG element.
        """
        numbers = [column if places is None else places[column] for column in self.columns]
        return network_chart(
            self.names,
            self.edges,
            title="Network of interacting features",
            description=f"{len(self.names)} features and {len(self.edges)} significant sets of them",
            legend=self.legend,
            places=numbers,
        )

    def caption(self) -> str:
        """Say what the picture shows, and which sets it leaves out."""
        drawn = "All significant sets"
        if len(self.edges) < self.n_sets:
            drawn = (
                f"The strongest {len(self.edges):,} of {self.n_sets:,} significant sets, of {len(self.names)} features"
            )
        sentences = [f"{drawn}: a line joins features that tell the class together.", "The thicker, the stronger."]
        if any(edge.is_dashed for edge in self.edges):
            sentences.append("A dashed line: opposite values go together, such as high with low.")
        if any(len(edge.ends) == 3 for edge in self.edges):
            sentences.append("A triangle is a set of three.")
        return " ".join(sentences)


def strongest(summary: InteractionSummary, max_nodes: int) -> tuple[list[FoundSet], dict[int, int]]:
    """Choose sets, strongest first, with at most so many features; return them and a number for each feature."""
    place: dict[int, int] = {}
    chosen, seen = list[FoundSet](), set[tuple[int, ...]]()
    for one in summary.sets:
        new = [column for column in one.columns if column not in place]
        # Two sets of the same features, by other bits or for another label, would be one line on top of another.
        if len(chosen) >= MAX_EDGES or len(place) + len(new) > max_nodes or one.columns in seen:
            continue
        place |= {column: len(place) + k for k, column in enumerate(new)}
        seen.add(one.columns)
        chosen.append(one)
    return chosen, place


def relative_strengths(statistics: list[float]) -> list[float]:
    """Return statistics as fractions of the largest one."""
    largest = max(statistics, default=1.0)
    return [value / largest for value in statistics]


def about(one: FoundSet) -> str:
    """Describe a set in one line."""
    return f"{' & '.join(one.names)}: {one.words} (adjusted p-value {one.adjusted_p_value:.2g})"
