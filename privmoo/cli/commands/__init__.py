"""The verbs of the command line, one module each.

A module is named after its verb and has a function `command` with typer's options. `ORDER` is the place of
the verb in `privmoo --help`, and `SETTINGS`, if there are any, are arguments for `typer.Typer.command`.
Heavy packages are imported inside functions, so that help appears at once.
"""
