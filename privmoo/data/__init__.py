"""People's records: tables, the roles of their columns, and where the records are."""
