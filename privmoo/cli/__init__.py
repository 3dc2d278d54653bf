"""The command line: one module per verb in `commands`, and what the verbs share."""
