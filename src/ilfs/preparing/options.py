"""What the caller of `prepare` asked for, and the account of what was done."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ilfs.memory import bytes_of
from ilfs.parameters import check_choice
from ilfs.preparing.prepared import SetAside
from ilfs.sources.roles import MAX_NAME_LENGTH, MAX_NAMES_SHOWN
from ilfs.words import listed

MIN_MEMORY_LIMIT = 10**7  # bytes; with less, a block would have a few rows, and reading would be very slow


@dataclass(frozen=True)
class Options:
    """The parameters of `prepare`, except the path."""

    target: str | int | None = None
    samples: str | None = None
    transpose: bool | None = None
    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    id: str | None = None
    weight: str | None = None
    groups: str | None = None
    encode: bool = False
    engine: str = "auto"
    memory_limit: int | str | None = None
    needs_target: bool = True

    def __post_init__(self) -> None:
        check_choice("engine", self.engine, ("auto", "memory", "stream", "dask"))
        if self.memory_limit is not None and bytes_of(self.memory_limit) < MIN_MEMORY_LIMIT:
            raise ValueError(
                f"memory_limit must be at least {MIN_MEMORY_LIMIT // 10**6} MB, got {self.memory_limit!r}: a unit may "
                "be missing, such as in memory_limit='500MB'"
            )

    @property
    def named(self) -> list[str | int | None]:
        """Columns that were named, the target last: a name implies a header."""
        given = [self.id, self.weight, self.groups, self.samples]
        return [*(one for one in given if one is not None), *self.drop, *self.only, self.target]

    @property
    def roles(self) -> dict[str, str]:
        """Columns with a role other than the target, by the name of the parameter."""
        given = {"id": self.id, "weight": self.weight, "groups": self.groups}
        return {role: name for role, name in given.items() if name is not None}


@dataclass
class Account:
    """Sentences on what was done, collected on the way."""

    guesses: list[str] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def put_aside(self, names: Sequence[str], reason: str) -> None:
        """Note columns that are no features."""
        self.set_aside.extend(SetAside(name, reason) for name in names)


def some_names(names: Sequence[str]) -> str:
    """Write at most five names, and the number of the others.

    Examples
    --------
    >>> from ilfs.preparing.options import some_names
    >>> some_names(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    shown = [name[:MAX_NAME_LENGTH] for name in names[:MAX_NAMES_SHOWN]]
    n_more = len(names) - len(shown)
    return listed([*shown, f"{n_more:,} more"] if n_more else shown)
