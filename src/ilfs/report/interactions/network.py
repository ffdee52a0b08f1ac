"""The network of interacting features: which features and sets are drawn, and how."""

from collections.abc import Mapping
from dataclasses import dataclass

from ilfs.explanation import class_name
from ilfs.report.charts.networks import NetworkEdge, network_chart
from ilfs.report.interactions.sentences import found_sentence
from ilfs.report.interactions.summary import FoundSet, InteractionSummary
from ilfs.words import counted

MAX_NODES = 40  # features whose names fit beside each other
MAX_EDGES = 150
MAX_DRAWN_TRIPLES = 8  # whose lines can be told apart


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
    n_pairs, n_triples : int
        Number of all sets of two and three different features, drawn or not.
    statistics : tuple of float
        Statistic of each set that is drawn.
    about : str
        The result of the search in one sentence.
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    edges: tuple[NetworkEdge, ...]
    legend: tuple[tuple[int, str], ...]
    n_pairs: int
    n_triples: int
    statistics: tuple[float, ...] = ()
    about: str = ""

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
        every = {one.columns for one in summary.sets}
        n_pairs = sum(len(columns) == 2 for columns in every)
        groups = sorted({one.group for one in drawn})
        return cls(
            names=tuple(names[column] for column in place),
            columns=tuple(place),
            edges=tuple(edges),
            legend=tuple((group, f"more often in {class_name(summary.labels[group])}") for group in groups),
            n_pairs=n_pairs,
            n_triples=len(every) - n_pairs,
            statistics=tuple(one.statistic for one in drawn),
            about=found_sentence(summary),
        )

    @property
    def is_whole(self) -> bool:
        """True if the picture shows all significant sets, False if it shows only the strongest."""
        return len(self.edges) == self.n_pairs + self.n_triples

    def title(self) -> str:
        """Say how many sets are significant, and how many of them are drawn.

        Returns
        -------
        str
            Such as "the strongest 12 of 30 significant triples".
        """
        n_triples = sum(len(edge.ends) == 3 for edge in self.edges)
        kinds = ((len(self.edges) - n_triples, self.n_pairs, "pair"), (n_triples, self.n_triples, "triple"))
        words = [
            counted(n, f"significant {noun}") if drawn == n else f"the strongest {drawn:,} of {n:,} significant {noun}s"
            for drawn, n, noun in kinds
            if n
        ]
        return " and ".join(words)

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
            description=f"{len(self.names)} features; {self.title()}",
            legend=self.legend,
            places=numbers,
        )

    def caption(self) -> str:
        """Say what the picture shows, and which sets it leaves out."""
        drawn = self.title()
        sentences = [f"{drawn[0].upper()}{drawn[1:]}."]
        if any(len(edge.ends) == 2 for edge in self.edges):
            sentences.append("A line joins two features that tell the class together; the thicker, the stronger.")
        if any(edge.is_dashed and len(edge.ends) == 2 for edge in self.edges):
            sentences.append("A dashed line: opposite values go together, such as high with low.")
        if any(len(edge.ends) == 3 for edge in self.edges):
            sentences.append("A small diamond joins three features.")
        if any(edge.is_dashed and len(edge.ends) == 3 for edge in self.edges):
            sentences.append("Its lines are dashed if none or two of them are high.")
        sentences.append("Larger dots are in more sets.")
        return " ".join(sentences)


def strongest(summary: InteractionSummary, max_nodes: int) -> tuple[list[FoundSet], dict[int, int]]:
    """Choose sets, strongest first, with at most so many features; return them and a number for each feature."""
    place: dict[int, int] = {}
    chosen, seen, n_triples = list[FoundSet](), set[tuple[int, ...]](), 0
    for one in summary.sets:
        new, is_triple = [column for column in one.columns if column not in place], len(one.columns) == 3
        # Two sets of the same features, by other bits or for another label, would be one line on top of another.
        if len(chosen) >= MAX_EDGES or len(place) + len(new) > max_nodes or one.columns in seen:
            continue
        if is_triple and n_triples == MAX_DRAWN_TRIPLES:
            continue
        n_triples += is_triple
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
    return f"{' & '.join(one.names)}: {one.words} (adjusted p-value {one.p_text})"
