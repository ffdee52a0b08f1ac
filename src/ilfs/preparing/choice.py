"""The columns that may be features, by the roles of the others and by the names to drop and to choose."""

from collections.abc import Sequence

from ilfs.preparing.options import Account, Options
from ilfs.preparing.patterns import match_columns


def possible_features(
    names: Sequence[str], target: str | None, options: Options, account: Account, others: Sequence[str] = ()
) -> list[str]:
    """Return the columns that have no role, are not dropped and are among the chosen ones.

    Parameters
    ----------
    names : sequence of str
        Columns of the table.
    target : str or None
        The target, which may be in a sample sheet.
    options : Options
        Other roles, columns to drop and the only ones to keep.
    account : Account
        Gets the columns that are set aside.
    others : sequence of str, default=()
        Columns of a sample sheet, which may be dropped too.

    Returns
    -------
    list of str
        Names, in the order of the table.
    """
    roles = options.roles if target is None else {"target": target, **options.roles}
    for role, name in roles.items():
        if name in options.drop:
            raise ValueError(f"{role} and drop must be different columns, got {name!r} for both")
    known = [*names, *(name for name in others if name not in set(names))]
    dropped = set(match_columns(options.drop, known, "drop"))
    chosen = set(match_columns(options.only, known, "only") if options.only else known)
    left = [name for name in names if name not in roles.values()]
    account.put_aside([name for name in names if name == options.id], "names the rows")
    account.put_aside([name for name in left if name in dropped], "dropped on request")
    left = [name for name in left if name not in dropped]
    account.put_aside([name for name in left if name not in chosen], "not among the columns that were chosen")
    return [name for name in left if name in chosen]
