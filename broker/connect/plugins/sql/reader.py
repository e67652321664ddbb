"""One table or query of a source, and how far it is read."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from broker.connect.api import ConnectError, Field, Schema, SourceRecord, Struct, Type
from broker.connect.plugins.sql.database import schema_of_column
from broker.connect.plugins.sql.query_types import QueryColumn, declared_columns, described_schema, schema_of_rows
from broker.connect.plugins.sql.source_settings import BY_NUMBER, BY_TIME
from broker.connect.plugins.sql.statements import columns_of

#: Rows of one moment a poll holds, with mode=timestamp: they are taken together or could not be told apart later.
ROWS_OF_A_MOMENT_MAX = 1_000_000
_NUMBERS: dict[Type, Callable[[Decimal], int | float]] = {
    **dict.fromkeys((Type.INT8, Type.INT16, Type.INT32, Type.INT64), int),
    Type.FLOAT64: float,
}


class TableReader:
    """One table or query, and how far it is read."""

    def __init__(self, engine: Any, values: dict[str, Any], mode: str, table: str | None):
        self._engine, self._values, self._mode, self._table_name = engine, values, mode, table
        self.table = table
        self.name = table or "query"
        self.partition = {"protocol": "1", "table": table} if table else {"query": "query"}
        self.offset: dict[str, Any] = {}
        self._topic = values["topic.prefix"] + (table or "").rpartition(".")[2]
        self._number: str | None = values["incrementing.column.name"] if mode in BY_NUMBER else None
        #: The first of them that is not null is a row's moment.
        self._times: list[str] = values["timestamp.column.name"] if mode in BY_TIME else []
        self._source: Any = None
        self._schema: Schema | None = None
        self._zone = ZoneInfo(values["db.timezone"])
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._connection: Any = None
        self._all: Any = None

    @property
    def is_within(self) -> bool:
        """With mode=bulk: some rows have come, others not yet."""
        return self._all is not None

    def read(self) -> list[SourceRecord]:
        if self._mode == "bulk":
            return self._further()
        with self._engine.connect() as connection:
            if self._source is None:
                self._source = self._open(connection)
            rows = self._rows(connection)
            if (
                rows
                and self._table_name
                and self._schema
                and self._column_names(connection) != list(self._schema.fields_by_name)
            ):
                # Columns came or went: what was read may lack them, and is behind the offset afterwards.
                self._source = self._open(connection)
                rows = self._rows(connection)
        return [self._record(row) for row in rows]

    def _column_names(self, connection: Any) -> list[str]:
        import sqlalchemy as sa

        schema, _, name = (self._table_name or "").rpartition(".")
        return [column["name"] for column in sa.inspect(connection).get_columns(name, schema or None)]

    def _further(self) -> list[SourceRecord]:
        """Return the next rows of an open query; the rest stays in the database."""
        most = self._values["batch.max.rows"]
        if self._all is None:
            self._connection = self._engine.connect().execution_options(stream_results=True, max_row_buffer=most)
            self._source = self._open(self._connection)
            self._all = self._executed(self._connection, [], None)
        rows = self._all.fetchmany(most)
        self._see(rows)
        records = [self._record(row) for row in rows]
        if len(records) < most:
            self.close()
        return records

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._all = self._connection = None

    def _open(self, connection: Any) -> Any:
        import sqlalchemy as sa
        from sqlalchemy.dialects.postgresql.ranges import AbstractRange

        if self._table_name is None:
            return self._query(connection)
        schema, _, name = self._table_name.rpartition(".")
        table = sa.Table(name, sa.MetaData(), schema=schema or None, autoload_with=connection)
        for column in table.c:
            column.type = sa.Text() if isinstance(column.type, AbstractRange) else column.type
        self._find(self._table_name, list(table.c))
        nullable = [item for item in self._wanted if table.c[item].nullable and not table.c[item].primary_key]
        if len(self._times) > 1 and not set(self._times) <= set(nullable):
            nullable = [item for item in nullable if item not in self._times]
        if nullable and self._values["validate.non.null"]:
            raise ConnectError(
                f"Column {nullable[0]} of {self._table_name} may be null, and such rows are never read: make it NOT "
                "NULL, or set validate.non.null=false"
            )
        self._schema = Schema(Type.STRUCT, name=name, fields=self._fields(table.c))
        return table

    @property
    def _wanted(self) -> list[str]:
        return [*([self._number] if self._number else []), *self._times]

    def _find(self, source: str, columns: list[Any]) -> None:
        """Take the names as the columns spell them, which may differ in case. Raises ConnectError for a missing one."""
        known = columns_of(columns, self._wanted)
        if missing := [item for item in self._wanted if item not in known]:
            raise ConnectError(f"{source} has no column {missing[0]}")
        self._number = known[self._number].name if self._number else None
        self._times = [known[item].name for item in self._times]

    def _fields(self, columns: Iterable[Any]) -> tuple[Field, ...]:
        mapping = self._values["numeric.mapping"].lower()
        return tuple(Field(column.name, schema_of_column(column, self._is_sqlite, mapping)) for column in columns)

    def _query(self, connection: Any) -> Any:
        """Run the query. SQLite knows its columns' declared types beforehand, PostgreSQL with each result."""
        import sqlalchemy as sa

        query = _as_subquery(self._values["query"])
        columns = declared_columns(connection, query) if self._is_sqlite else []
        typed = columns or [sa.column(item, _ts() if item in self._times else None) for item in self._wanted]
        if columns:
            self._find("The query", columns)
        if columns and not any(isinstance(column.type, sa.types.NullType) for column in columns):
            self._schema = Schema(Type.STRUCT, fields=self._fields([QueryColumn(c.name, c.type) for c in columns]))
        return sa.text(query.replace(":", r"\:")).columns(*typed).subquery("barnabas_query")

    def _executed(self, connection: Any, conditions: list[Any], limit: int | None) -> Any:
        """Return the result of the statement; a query's has its schema, too."""
        result = connection.execute(self._statement(conditions, limit))
        if self._table_name is None and not self._is_sqlite:
            mapping = self._values["numeric.mapping"].lower()
            schema = described_schema(result.cursor.description, mapping)
            self._schema = schema if schema != self._schema else self._schema
        return result

    def _see(self, rows: Sequence[Any]) -> None:
        """Take the types of a query's columns that have none declared from the first rows, once and for all."""
        if self._schema is None and rows:
            self._schema = schema_of_rows(self._source.c, rows, self._fields)

    def _rows(self, connection: Any) -> Sequence[Any]:
        limit = self._values["batch.max.rows"]
        if self._mode != "timestamp":
            return self._fetch(connection, self._behind(), limit)
        rows = self._fetch(connection, self._behind(), limit + 1)
        if len(rows) <= limit:
            return rows
        last = self._moment_of(rows[-1]._mapping)
        whole = [row for row in rows if self._moment_of(row._mapping) != last]
        return whole or self._fetch(connection, [self._moment_column == last], ROWS_OF_A_MOMENT_MAX)

    def _moment_of(self, values: Mapping[str, Any]) -> Any:
        return next((values[name] for name in self._times if values[name] is not None), None)

    @property
    def _moment_column(self) -> Any:
        import sqlalchemy as sa

        columns = [self._source.c[name] for name in self._times]
        return sa.func.coalesce(*columns) if len(columns) > 1 else columns[0]

    @property
    def _order(self) -> list[Any]:
        """Return the columns that say how far is read: the moment first."""
        moments = [self._moment_column] if self._times else []
        return [*moments, *([self._source.c[self._number]] if self._number else [])]

    def _behind(self) -> list[Any]:
        """Return the rows above the stored offset and older than the delay, so that a transaction that commits late is
        not overtaken.
        """
        import sqlalchemy as sa

        number, moment = self.offset.get("incrementing"), _moment(self.offset.get("timestamp"), self._is_aware())
        conditions = []
        if self._times:
            now = datetime.now(self._zone) - timedelta(milliseconds=self._values["timestamp.delay.interval.ms"])
            conditions.append(self._moment_column < (now if self._is_aware() else now.replace(tzinfo=None)))
        if not self._values["validate.non.null"]:
            conditions += [column.is_not(None) for column in self._order]
        if self._number and self._times:
            if moment is not None:
                same = sa.and_(self._moment_column == moment, self._source.c[self._number] > number)
                conditions.append(sa.or_(self._moment_column > moment, same))
        elif self._number and number is not None:
            conditions.append(self._source.c[self._number] > number)
        elif self._times and moment is not None:
            conditions.append(self._moment_column > moment)
        return conditions

    def _is_aware(self) -> bool:
        return bool(self._times) and bool(getattr(self._moment_column.type, "timezone", False))

    def _fetch(self, connection: Any, conditions: list[Any], limit: int | None) -> Sequence[Any]:
        rows: Sequence[Any] = self._executed(connection, conditions, limit).fetchall()
        self._see(rows)
        return rows

    def _statement(self, conditions: list[Any], limit: int | None) -> Any:
        import sqlalchemy as sa

        every = [self._source] if self._table_name or self._is_sqlite else [sa.text("*")]
        statement = sa.select(*every).select_from(self._source).where(*conditions)
        return statement.order_by(*self._order).limit(limit)

    def _record(self, row: Any) -> SourceRecord:
        values = dict(row._mapping)
        schema = self._schema
        assert schema is not None  # of a table when it was opened, of a query with its rows
        if self._mode != "bulk":
            self.offset = self._offset_of(values)
        made = Struct(
            schema, {field.name: _fitting(field.schema, values[field.name], self._zone) for field in schema.fields}
        )
        return SourceRecord(self.partition, self.offset, self._topic, None, None, None, schema, made)

    def _offset_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        offset: dict[str, Any] = {}
        if self._number:
            offset["incrementing"] = _number_of(f"{self.name}.{self._number}", values[self._number])
        if self._times:
            moment = self._moment_of(values)
            if moment is None:
                raise ConnectError(f"{self.name} has a row whose {' and '.join(self._times)} is null")
            offset["timestamp"] = _text_of(moment)
        return offset


def _number_of(column: str, value: Any) -> int | str:
    """Return the value as offsets keep it. Raises ConnectError for what is neither a whole number nor a text."""
    if isinstance(value, int | str):
        return value
    if value is None:
        raise ConnectError(f"{column} is null: incrementing.column.name needs a value in each row")
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    raise ConnectError(f"{column} has the value {value}: incrementing.column.name needs whole numbers or texts")


def _as_subquery(query: str) -> str:
    """Return the query as it is within another: what ends it is left out."""
    return query.strip().removesuffix(";") + "\n"  # a comment ends with its line


def _ts() -> Any:
    import sqlalchemy as sa

    return sa.DateTime()


def _text_of(moment: Any) -> str:
    return moment.isoformat() if isinstance(moment, datetime) else str(moment)


def _moment(text: str | None, is_aware: bool) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return moment if is_aware else moment.replace(tzinfo=None)


def _fitting(schema: Schema, value: Any, zone: ZoneInfo) -> Any:
    """Convert a database's value to Connect's: times in UTC, numbers of the mapped type, all else as text."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
    if isinstance(value, Decimal) and schema.type in _NUMBERS:
        return _NUMBERS[schema.type](value)
    if schema.type is Type.STRING and value is not None and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    return bytes(value) if isinstance(value, memoryview) else value
