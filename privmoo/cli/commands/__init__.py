"""The verbs of the command line, one module each.

A module is named after its verb and has a `command`, an instance of `privmoo.cli.command.Command`. Heavy
packages are imported inside functions, so that help appears at once.
"""
