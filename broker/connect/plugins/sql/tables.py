"""Which tables a source reads where none are named."""

from collections.abc import Sequence
from typing import Any

from broker.connect.api import ConnectError
from broker.connect.transforms.patterns import java_regex


def all_tables(connection: Any, schema_pattern: str, without: Sequence[str]) -> list[str]:
    """Return the tables' names, with their schema where a pattern is given, in order.

    Raises ConnectError where two have one name: their topic would be the same.
    """
    import sqlalchemy as sa

    inspector = sa.inspect(connection)
    if not schema_pattern:
        return [name for name in sorted(inspector.get_table_names()) if name not in without]
    tables = [
        f"{schema}.{name}"
        for schema in inspector.get_schema_names()
        if _like(schema_pattern, schema)
        for name in inspector.get_table_names(schema=schema)
        if name not in without and f"{schema}.{name}" not in without
    ]
    names = [table.rpartition(".")[2] for table in tables]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConnectError(f"Two tables are called {twice[0]}: name one schema in schema.pattern")
    return sorted(tables)


def qualified(tables: Sequence[str], schema_pattern: str) -> list[str]:
    """Return the tables with the schema in front of those that have none."""
    if not schema_pattern or "%" in schema_pattern:
        return list(tables)
    return [table if "." in table else f"{schema_pattern}.{table}" for table in tables]


def _like(pattern: str, name: str) -> bool:
    """Match SQL's LIKE with `%` only: names of schemas have underscores."""
    parts = pattern.split("%")
    regex = ".*".join(rf"\Q{part}\E" for part in parts)
    return java_regex("schema.pattern", regex).fullmatch(name) is not None
