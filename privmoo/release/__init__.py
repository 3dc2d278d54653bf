"""The anonymised table: released, audited, certified and written."""
