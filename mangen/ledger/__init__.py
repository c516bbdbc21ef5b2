"""The scheduler's ledger in Postgres: rows alone say what is open."""
