"""The text of a job: every column with its role and the reason, and the options as comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privmoo.guessing.role_guesses import ColumnGuess
from privmoo.guessing.toml_writer import comment, key, quote, value

__all__ = ["job_text"]

_ROLES = {
    "quasi-identifying": "Others may know these about a person: they are generalised.",
    "sensitive": "Others must not learn these about a person: they are released as they are.",
    "insensitive": "You say that these need no protection: they are released as they are.",
    "identifying": "These name a person, or their role is unknown: they are not released.",
}


def job_text(
    columns: Sequence[ColumnGuess],
    files: Mapping[str, str],
    data_file: str,
    reading: Mapping[str, Any],
    file: str,
    note: str = "",
) -> str:
    """Return the text of the whole job.

    Args:
        columns: The guesses.
        files: The hierarchy file of each column that has one.
        data_file: The file of the records.
        reading: Entries of [data] about how the records are read.
        file: The name of the job itself.
        note: What to do about single rows.
    """
    parts = [_head(file), comment(note)] if note else [_head(file)]
    parts += [_data(columns, data_file, reading), "[columns]"]
    for role, meaning in _ROLES.items():
        entries = [_column(column, files) for column in columns if column.role == role]
        if entries:
            lines = [f"# {role.upper()}. {meaning}"]
            if role == "quasi-identifying" and files:
                lines.append(
                    "# A line of a hierarchy file is a value and its groups: value;group;larger group;*"
                )
            wishes = _wishes(columns) if role == "quasi-identifying" else []
            parts.append("\n".join([*lines, "", *entries, *wishes]))
    if not any(column.role == "quasi-identifying" for column in columns):
        parts.append(
            "# No column looks quasi-identifying: give at least one this role before you go on."
        )
    parts += [_problem(columns), _SEARCH]
    return "\n\n".join(parts) + "\n"


def _head(file: str) -> str:
    return "\n".join(
        [
            "# A job for privmoo: the data, the roles of its columns, the problem and the search.",
            "# The roles and hierarchies are guesses from names and values: you decide which are right.",
            f"# Then run `privmoo check {file}` and `privmoo run {file} -o out/`.",
        ]
    )


def _data(columns: Sequence[ColumnGuess], data_file: str, reading: Mapping[str, Any]) -> str:
    lines = ["[data]", f"file = {quote(data_file)}"]
    lines.append(
        "# scan = true  # larger than memory: it stays on the disk; may be a folder of files"
    )
    lines += [f"{name} = {value(entry)}" for name, entry in reading.items()]
    targets = [column.name for column in columns if column.target]
    candidates = [column.name for column in columns if column.role != "identifying"]
    if targets:
        lines.append(f"target = {quote(targets[0])}  # what learners predict")
    elif candidates:
        lines += [
            "# If learners are to predict a column, name it, for measures such as classification:",
            comment(f"target = {quote(candidates[-1])}"),
        ]
    subjects = [column.name for column in columns if column.subject]
    subjects += [column.name for column in columns if column.role == "identifying"]
    if subjects:
        lines += [
            "# If one person has several rows, name the column that distinguishes persons: k counts them.",
            comment(f"subject = {quote(subjects[0])}"),
        ]
    if "missing_values" not in reading:
        lines.append('# missing_values = ["", "?"]  # what stands for a missing value')
    lines.append('# missing = "drop"  # leave out rows with missing values')
    return "\n".join(lines)


def _column(column: ColumnGuess, files: Mapping[str, str]) -> str:
    name = key(column.name)
    if column.hierarchy is None:
        return f"{comment(column.reason)}\n{name} = {value(column.role)}"
    hierarchy = files.get(column.name, column.hierarchy.toml_entry())
    # One entry in a line: others can be added below, which braces do not allow.
    lines = [f"{name}.role = {value(column.role)}", f"{name}.hierarchy = {value(hierarchy)}"]
    return "\n".join([comment(column.reason), *lines])


def _wishes(columns: Sequence[ColumnGuess]) -> list[str]:
    """Return entries that any quasi-identifier may have, as comments about one of them."""
    trees = [c for c in columns if c.role == "quasi-identifying" and c.hierarchy is not None]
    if not trees:
        return []
    column = max(trees, key=lambda c: len(_leaves(c)))
    name, leaves = key(column.name), _leaves(column)
    wishes = {
        "weight = 2": "what this column loses counts twice",
        "min_level = 1": "it is generalised to this level of its hierarchy at least",
        "max_level = 1": "it is generalised to this level at most",
    }
    if leaves:
        cut = value([leaves[len(leaves) // 2]])
        wishes[f"fixed_cuts = {cut}"] = "a new range always begins at these values"
    return [
        "",
        "# Wishes, for any of these columns: remove the first # of a line, and name the column you mean.",
        *(f"{comment(f'{name}.{entry}')}  # {meaning}" for entry, meaning in wishes.items()),
    ]


def _leaves(column: ColumnGuess) -> list[str]:
    """Return the values in the hierarchy file of a column of numbers; none if it has no such file."""
    content = None if column.hierarchy is None else column.hierarchy.content
    leaves = [line.split(";")[0] for line in (content or "").splitlines()]
    return leaves if leaves and all(leaf.strip().isdecimal() for leaf in leaves) else []


def _problem(columns: Sequence[ColumnGuess]) -> str:
    lines = [
        "[problem]",
        'name = "TradeOff"  # more privacy (k) against less loss, over every way to recode the columns',
        "# Some of its solutions publish ranges that differ by region, which lose less. For solutions that",
        "# recode a column the same way everywhere, and a shorter search:",
        '# name = "BudgetSuppression"',
        "max_suppression = 0.05  # at most this share of the records is left out",
    ]
    sensitive = [column for column in columns if column.role == "sensitive"]
    if sensitive and not any(column.constant for column in sensitive):
        lines += [
            "# By counting rows, k is the number of records that could be a person's. All of them may have",
            "# the same sensitive value. To limit how often one occurs in a group, search for k, l and",
            "# loss with",
            '# name = "KLSafe"',
        ]
    return "\n".join(lines)


_SEARCH = """\
[search]
seed = 1  # the same seed gives the same result
# seconds = 120  # ends the search (compiling on a first run comes on top); without it, every way to
# recode is searched for its usual time
# generations = 200  # the first budget that is used up ends the search
# population = 200
# algorithm = "nsga2\""""
