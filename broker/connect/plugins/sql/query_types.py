"""The types of a query's columns: what the database says of its result, not what is in a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from broker.connect.api import Field, Schema, Type
from broker.connect.api import schema as types
from broker.connect.plugins.sql.database import schema_of_column, schema_of_numeric

_NUMERIC = 1700
_VIEW = "barnabas_query_types"


@dataclass(frozen=True)
class QueryColumn:
    name: str
    type: Any
    nullable: bool = True


def described_schema(description: Sequence[Any], mapping: str) -> Schema:
    """Return the schema of a result of PostgreSQL by its cursor's description; any column may be null."""
    kinds = _kinds()
    fields = [
        Field(
            column.name,
            schema_of_numeric(column.precision, column.scale, True, mapping)
            if column.type_code == _NUMERIC
            else schema_of_column(QueryColumn(column.name, kinds.get(column.type_code)), False),
        )
        for column in description
    ]
    return Schema(Type.STRUCT, fields=tuple(fields))


def _kinds() -> dict[int, Any]:
    """Return kinds by a type's number in pg_type; other types are text."""
    import sqlalchemy as sa

    return {
        16: sa.Boolean(), 17: sa.LargeBinary(), 20: sa.BigInteger(), 21: sa.SmallInteger(), 23: sa.Integer(),
        700: sa.Float(), 701: sa.Float(), 1082: sa.Date(), 1083: sa.Time(), 1114: sa.DateTime(),
        1184: sa.DateTime(timezone=True),
    }  # fmt: skip


def declared_columns(connection: Any, query: str) -> list[Any]:
    """Return the columns of a query of SQLite with the types they were declared with, NullType where there is none.

    A view has them; this one is temporary, and the database's file is not written.
    """
    import sqlalchemy as sa

    connection.exec_driver_sql(f"CREATE TEMP VIEW {_VIEW} AS {query}")
    try:
        columns = sa.inspect(connection).get_columns(_VIEW)
    finally:
        connection.exec_driver_sql(f"DROP VIEW {_VIEW}")
    return [sa.column(column["name"], column["type"]) for column in columns]


def schema_of_rows(
    columns: Sequence[Any], rows: Sequence[Any], fields_of: Callable[[list[Any]], tuple[Field, ...]]
) -> Schema:
    """Return the schema where SQLite declares no type: that of the first value that is not null, text without one."""
    import sqlalchemy as sa

    fields = []
    for column, field in zip(columns, fields_of([QueryColumn(item.name, item.type) for item in columns]), strict=True):
        if isinstance(column.type, sa.types.NullType):
            values = (row._mapping[column.name] for row in rows)
            first = next((value for value in values if value is not None), None)
            fields.append(replace(field, schema=_schema_of_value(first)))
        else:
            fields.append(field)
    return Schema(Type.STRUCT, fields=tuple(fields))


def _schema_of_value(value: Any) -> Schema:
    if isinstance(value, datetime):
        return types.timestamp_schema(True)
    kinds = {bool: Type.BOOLEAN, int: Type.INT64, float: Type.FLOAT64, bytes: Type.BYTES, memoryview: Type.BYTES}
    return Schema(kinds.get(type(value), Type.STRING), True)
