"""Hints for users of the command line: they name options and entries of a job instead of Python."""

from __future__ import annotations

from privmoo.errors import Hint, PrivmooError

__all__ = ["advice", "sentence"]

_ENCODING = (
    "name its encoding with --encoding (cp1252 for many files from Windows), or in a job with "
    'encoding = "cp1252"'
)
_BY_PARAMETER = {
    "checkpoint": "start again with --force",
    "encoding": _ENCODING,
    "force": "replace it with --force",
    "hierarchy": 'give it one in [columns], such as hierarchy = "flat"',
    "jobs": "add --jobs 1",
    "meanings": "pass the hierarchy with --hierarchy COLUMN=FILE",
    "memory": 'allow more memory in [data], such as memory = "4GB"',
    "missing": 'leave out rows with missing values with missing = "drop" in [data]',
    "seconds": "limit the search with seconds = 600 in [search]",
    "open_ends": "set open_ends = true in the hierarchy",
    "sensitive": 'give a column the role "sensitive" in [columns]',
    "target": "name a column as target in [data]",
    "temporary": "name a folder with more space as temporary in [data]",
}
_BY_VALUE = {
    ("missing", "value"): 'count them as values with missing = "value" in [data]',
}
_BY_CALL = {
    "front.best(…)": "list solutions with privmoo choose --all, and rank them with --best",
    "measure.named(...)": 'name one in the job, such as { measure = "k", name = "k_2" }',
    "table.sample(n)": "remove scan from [data], so that they are read into memory",
    "write(path)": "write it with privmoo release",
}


def sentence(error: PrivmooError) -> str:
    """Return the message of an error with its hint in the words of the command line.

    >>> error = PrivmooError("a.csv exists already", hint=Hint("choose another name", "force", True))
    >>> sentence(error)
    'a.csv exists already; choose another name, or replace it with --force'
    """
    if error.hint is None:
        return error.message
    return f"{error.message}; {advice(error.hint)}"


def advice(hint: Hint) -> str:
    """Return a hint in the words of the command line, or in those of Python if it has no others.

    >>> advice(Hint(parameter="target", call="Table"))
    'name a column as target in [data]'
    """
    call = (hint.call or "").rpartition(" or ")[2]
    action = _BY_VALUE.get((hint.parameter or "", str(hint.value)))
    action = action or _BY_PARAMETER.get(hint.parameter or "", _BY_CALL.get(call))
    if action is None:
        return str(hint)
    return f"{hint.advice}, or {action}" if hint.advice else action
