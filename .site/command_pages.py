"""The page of commands: the block ```` ```{commands} ```` becomes the help of every verb."""

from __future__ import annotations

from sphinx.application import Sphinx
from typer.testing import CliRunner

from privmoo.cli.main import app as command_line

_BLOCK = "```{commands}\n```"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True}


def _expand(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the block by a section for every verb, in the order of `privmoo --help`."""
    if _BLOCK in source[0]:
        verbs = [str(command.name) for command in command_line.registered_commands]
        source[0] = source[0].replace(_BLOCK, "\n\n".join(map(_section, verbs)))


def _section(verb: str) -> str:
    """Return the help of one verb as the command line prints it, without colours."""
    runner = CliRunner(env={"COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb"})
    text = runner.invoke(command_line, [verb, "--help"], prog_name="privmoo").output
    return f"## {verb}\n\n```text\n{text.strip()}\n```"
