"""The statement that writes a row: a record's fields find their columns, a text its column's type."""

from collections.abc import Iterable, Sequence
from typing import Any

from broker.connect.api import Type
from broker.connect.plugins.sql.rows import SqlRow


def columns_of(columns: Iterable[Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the column of each name: the one of that name, else the only one that differs in case alone.

    A name without a column is left out. No column is that of two names.
    """
    by_name, wanted = {column.name: column for column in columns}, list(names)
    known = {name: by_name[name] for name in wanted if name in by_name}
    free = {name: column for name, column in by_name.items() if name not in known}
    for name in wanted:
        alike = [other for other in free if other.lower() == name.lower()]
        if name not in known and len(alike) == 1:
            known[name] = free.pop(alike[0])
    return known


def statement_of(table: Any, row: SqlRow, is_deletion: bool, mode: str, names: Sequence[str], dialect: str) -> Any:
    """Return SQL whose parameters are `b0`, `b1` … in the order of `names`; None if a row changes nothing."""
    columns = columns_of(table.c, names)
    values = {
        columns[name].name: _parameter(columns[name], row, name, f"b{at}", dialect) for at, name in enumerate(names)
    }
    keys = [columns[name].name for name in names if name in row.keys]
    same = [table.c[key] == values[key] for key in keys]
    changed = {name: value for name, value in values.items() if name not in keys}
    if is_deletion:
        return table.delete().where(*same)
    if mode == "update":
        return table.update().where(*same).values(changed) if changed else None
    if mode == "insert":
        return table.insert().values(values)
    module = "sqlite" if dialect == "sqlite" else "postgresql"
    insert = __import__(f"sqlalchemy.dialects.{module}", fromlist=["insert"]).insert(table).values(values)
    if not changed:
        return insert.on_conflict_do_nothing(index_elements=keys)
    return insert.on_conflict_do_update(index_elements=keys, set_={name: insert.excluded[name] for name in changed})


def _parameter(column: Any, row: SqlRow, field: str, name: str, dialect: str) -> Any:
    """Return the parameter; for a JSON column a text is the document, as Confluent's dialect of PostgreSQL casts it."""
    import sqlalchemy as sa

    if not isinstance(column.type, sa.JSON) or row.schemas[field].type is not Type.STRING:
        return sa.bindparam(name)
    text = sa.bindparam(name, type_=sa.Text())
    return text if dialect == "sqlite" else sa.cast(text, column.type)
