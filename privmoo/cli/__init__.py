"""The command line: one module per verb in `commands`, and the code that they share."""
