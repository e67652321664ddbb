"""Tables of SQLite and PostgreSQL, by SQLAlchemy. Names are quoted by it, values are parameters, always."""
