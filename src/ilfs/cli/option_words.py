"""Parameters of Python functions in messages, replaced by options of the command line."""

import re
import shlex

# Parameters whose options have other names.
RENAMED = {"n_permutations": "permutations", "random_state": "seed", "n_jobs": "jobs", "sample_weight": "weight"}
PARAMETERS = (
    "target", "samples", "transpose", "drop", "only", "id", "weight", "groups", "encode", "input_format", "engine",
    "memory_limit", "must_keep", "keep", "fdr", "interactions", "sizes", *RENAMED,
)  # fmt: skip
NAMES = "|".join(PARAMETERS)
ASSIGNED = re.compile(rf"(?<![\w.])({NAMES})=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\[[^\]]*\]|[A-Za-z0-9_.-]+)")
AT_START = re.compile(rf"^({NAMES})((?:, (?:{NAMES}))*)( and (?:{NAMES}))?(?= must )")
ANYWHERE = re.compile(
    rf"(?<![\w.-])({'|'.join(one for one in PARAMETERS if '_' in one)})(?![\w=])"
)  # no word of English


def in_options(message: str) -> str:
    """Replace parameters in a message by options of the command line.

    Messages of the library write a parameter as ``name=value``, or as the subject of "must" at their beginning. Names
    with an underscore are replaced anywhere.

    Parameters
    ----------
    message : str
        A message of the library.

    Returns
    -------
    str
        The same message with ``--name value``.

    Examples
    --------
    >>> from ilfs.cli.option_words import in_options
    >>> in_options("memory_limit must be at least 1 MB, got 5: pass memory_limit='500MB'")
    '--memory-limit must be at least 1 MB, got 5: pass --memory-limit 500MB'
    """
    message = AT_START.sub(lambda match: re.sub(rf"\b({NAMES})\b", _named, match[0]), message)
    return ANYWHERE.sub(_named, ASSIGNED.sub(_assigned, message))


def _named(match: re.Match[str]) -> str:
    return option(match[0])


def option(parameter: str) -> str:
    """Return the option of a parameter.

    Examples
    --------
    >>> from ilfs.cli.option_words import option
    >>> option("must_keep"), option("random_state")
    ('--must-keep', '--seed')
    """
    return f"--{RENAMED.get(parameter, parameter).replace('_', '-')}"


def _assigned(match: re.Match[str]) -> str:
    name, value = match[1], match[2]
    if value == "True":
        return option(name)
    if value == "False":
        return option(f"no-{name}")
    return f"{option(name)} {_plain(value)}"


def _plain(value: str) -> str:
    """Write a Python value as words of a command line."""
    if value[0] in "'\"":
        return shlex.quote(value[1:-1].replace("\\'", "'").replace("\\\\", "\\"))
    if value[0] == "[":
        return " ".join(_plain(one.strip()) for one in value[1:-1].split(",") if one.strip())
    return value
