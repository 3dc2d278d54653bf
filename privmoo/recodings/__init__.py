"""What a release publishes instead of the original quasi-identifiers."""
