"""New rows of tables or of a query: by a growing number, a moment of change, or both; or all rows again."""

import json
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from broker.connect.api import (
    ConnectError,
    Field,
    RetriableError,
    Schema,
    SourceRecord,
    SourceTask,
    SourceTaskContext,
    Struct,
    Type,
)
from broker.connect.api.plugin import Props
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.sql.database import connect, is_gone, schema_of_column
from broker.connect.plugins.sql.source_settings import BY_NUMBER, BY_TIME, CONFIG, contradictions

#: Rows of one moment a poll holds, with mode=timestamp: they are taken together or could not be told apart later.
ROWS_OF_A_MOMENT_MAX = 1_000_000


class SqlSourceTask(SourceTask):
    """Each poll reads at most `batch.max.rows` of one table and ends its transaction; tables take turns.

    With mode=bulk all rows of a table are those of one transaction, which lasts until they were read. A row is at
    least once in the topic. With mode=timestamp the rows of one moment come in one poll, so that none of them can fall
    between two.
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._reading = threading.Lock()
        self._readers: list[_TableReader] = []
        self._engine: Any = None

    def start(self, props: Props, context: SourceTaskContext) -> None:
        self._values = SqlSourceConnector.CONFIG.parse(props)
        self._mode = self._values["mode"].lower()
        self._engine = connect(self._values)
        names = [None] if self._values["query"] else self._values["table.whitelist"]
        self._readers = [_TableReader(self._engine, self._values, self._mode, name) for name in names]
        for reader in self._readers:
            reader.offset = dict(context.offset_reader.offset(reader.partition) or {})
        self._idle = 0

    def poll(self) -> list[SourceRecord]:
        try:
            with self._reading:
                return self._poll()
        finally:
            self._close_if_stopped()

    def _poll(self) -> list[SourceRecord]:
        if self._stopped.is_set() or not self._readers:
            return []
        if self._idle >= len(self._readers):
            self._stopped.wait(min(1.0, self._values["poll.interval.ms"] / 1000))
            self._idle = 0
        reader = self._readers[0]
        try:
            records = reader.read()
        except Exception as error:
            reader.close()
            raise _as_connect_error(error, reader.name) from error
        if not reader.is_within:
            self._readers.append(self._readers.pop(0))
            self._idle = 0 if records and self._mode != "bulk" else self._idle + 1
        return records

    def stop(self) -> None:
        """Waits for no statement: a poll that is within one gives back what it has when that has ended."""
        self._stopped.set()
        self._close_if_stopped()

    def _close_if_stopped(self) -> None:
        if self._stopped.is_set() and self._reading.acquire(blocking=False):
            try:
                for reader in self._readers:
                    reader.close()
                if self._engine is not None:
                    self._engine.dispose()
            finally:
                self._reading.release()


def _as_connect_error(error: Exception, name: str) -> ConnectError:
    if isinstance(error, ConnectError):
        return error
    reason = str(getattr(error, "orig", error)).splitlines()[:1]
    kind = RetriableError if is_gone(error) else ConnectError
    return kind(f"{name} cannot be read: {' '.join(reason)}")


class _TableReader:
    """One table or query, and how far it is read."""

    def __init__(self, engine: Any, values: dict[str, Any], mode: str, table: str | None):
        self._engine, self._values, self._mode, self._table_name = engine, values, mode, table
        self.name = table or "query"
        self.partition = {"protocol": "1", "table": table} if table else {"query": "query"}
        self.offset: dict[str, Any] = {}
        self._topic = values["topic.prefix"] + (table or "")
        self._number: str | None = values["incrementing.column.name"] if mode in BY_NUMBER else None
        self._time: str | None = values["timestamp.column.name"] if mode in BY_TIME else None
        self._source: Any = None
        self._schema: Schema | None = None
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
                and self._schema
                and self._column_names(connection) != [field.name for field in self._schema.fields]
            ):
                # Columns came or went: what was read may lack them, and is behind the offset afterwards.
                self._source = self._open(connection)
                rows = self._rows(connection)
        return [self._record(row) for row in rows]

    def _schema_names(self) -> list[str]:
        return [field.name for field in self._schema.fields] if self._schema else []

    def _column_names(self, connection: Any) -> list[str]:
        import sqlalchemy as sa

        schema, _, name = (self._table_name or "").rpartition(".")
        return [column["name"] for column in sa.inspect(connection).get_columns(name, schema or None)]

    def _further(self) -> list[SourceRecord]:
        """The next rows of all, which stay in the database until they are asked for."""
        most = self._values["batch.max.rows"]
        if self._all is None:
            self._connection = self._engine.connect().execution_options(stream_results=True, max_row_buffer=most)
            self._source = self._open(self._connection)
            self._all = self._connection.execute(self._statement([], None))
        records = [self._record(row) for row in self._all.fetchmany(most)]
        if len(records) < most:
            self.close()
        return records

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._all = self._connection = None

    def _open(self, connection: Any) -> Any:
        import sqlalchemy as sa

        wanted = [item for item in (self._number, self._time) if item]
        if self._table_name is None:
            columns = [sa.column(item, _ts() if item == self._time else None) for item in wanted]
            return sa.text(_as_subquery(self._values["query"])).columns(*columns).subquery("barnabas_query")
        schema, _, name = self._table_name.rpartition(".")
        table = sa.Table(name, sa.MetaData(), schema=schema or None, autoload_with=connection)
        missing = [item for item in wanted if item not in table.c]
        if missing:
            raise ConnectError(f"{self._table_name} has no column {missing[0]}")
        is_sqlite = self._engine.dialect.name == "sqlite"
        fields = tuple(Field(column.name, schema_of_column(column, is_sqlite)) for column in table.c)
        self._schema = Schema(Type.STRUCT, name=name, fields=fields)
        return table

    def _rows(self, connection: Any) -> Sequence[Any]:
        limit = self._values["batch.max.rows"]
        if self._mode != "timestamp":
            return self._fetch(connection, self._behind(), limit)
        rows = self._fetch(connection, self._behind(), limit + 1)
        if len(rows) <= limit:
            return rows
        last = rows[-1]._mapping[self._time]
        whole = [row for row in rows if row._mapping[self._time] != last]
        return whole or self._fetch(connection, [self._column(self._time) == last], ROWS_OF_A_MOMENT_MAX)

    def _column(self, name: str | None) -> Any:
        return self._source.c[name]

    def _behind(self) -> list[Any]:
        """What is newer than the offset, and older than the delay: a transaction that ends late is not overtaken."""
        import sqlalchemy as sa

        number, moment = self.offset.get("incrementing"), _moment(self.offset.get("timestamp"), self._is_aware())
        conditions = []
        if self._time:
            now = datetime.now(UTC) - timedelta(milliseconds=self._values["timestamp.delay.interval.ms"])
            conditions.append(self._column(self._time) < (now if self._is_aware() else now.replace(tzinfo=None)))
        if self._number and self._time:
            if moment is not None:
                same = sa.and_(self._column(self._time) == moment, self._column(self._number) > number)
                conditions.append(sa.or_(self._column(self._time) > moment, same))
        elif self._number and number is not None:
            conditions.append(self._column(self._number) > number)
        elif self._time and moment is not None:
            conditions.append(self._column(self._time) > moment)
        return conditions

    def _is_aware(self) -> bool:
        return bool(self._time) and bool(getattr(self._column(self._time).type, "timezone", False))

    def _fetch(self, connection: Any, conditions: list[Any], limit: int | None) -> Sequence[Any]:
        rows: Sequence[Any] = connection.execute(self._statement(conditions, limit)).fetchall()
        return rows

    def _statement(self, conditions: list[Any], limit: int | None) -> Any:
        import sqlalchemy as sa

        every = [self._source] if self._schema else [sa.text("*")]
        statement = sa.select(*every).select_from(self._source).where(*conditions)
        order = [self._column(item) for item in (self._time, self._number) if item]
        return statement.order_by(*order).limit(limit)

    def _record(self, row: Any) -> SourceRecord:
        values = dict(row._mapping)
        schema = self._schema or _schema_of(values)
        if self._mode != "bulk":
            self.offset = self._offset_of(values)
        made = Struct(schema, {field.name: _fitting(field.schema, values[field.name]) for field in schema.fields})
        return SourceRecord(self.partition, self.offset, self._topic, None, None, None, schema, made)

    def _offset_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        offset: dict[str, Any] = {}
        for kind, name in (("incrementing", self._number), ("timestamp", self._time)):
            if name and values[name] is None:
                raise ConnectError(f"{self.name} has a row whose {name} is null")
            if name:
                offset[kind] = values[name] if kind == "incrementing" else _text_of(values[name])
        return offset


def _as_subquery(query: str) -> str:
    """Return the query as it is within another: no colon in it is a parameter, and what ends it is left out."""
    return query.strip().removesuffix(";").replace(":", r"\:") + "\n"  # a comment ends with its line


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


def _fitting(schema: Schema, value: Any) -> Any:
    """A database's value as Connect's: moments in UTC, what has no type of its own as text."""
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if schema.type is Type.STRING and value is not None and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    return bytes(value) if isinstance(value, memoryview) else value


def _schema_of(values: Mapping[str, Any]) -> Schema:
    """Of a query's row, by what is in it: a query does not say its types before it is run."""
    from broker.connect.api import schema as types

    kinds = {bool: Type.BOOLEAN, int: Type.INT64, float: Type.FLOAT64, bytes: Type.BYTES, memoryview: Type.BYTES}
    fields = [
        Field(
            name,
            types.timestamp_schema(True)
            if isinstance(value, datetime)
            else Schema(kinds.get(type(value), Type.STRING), True),
        )
        for name, value in values.items()
    ]
    return Schema(Type.STRUCT, fields=tuple(fields))


class SqlSourceConnector(OneTaskSource):
    """New rows of tables, or of a query, as typed records; a table's topic is its name behind `topic.prefix`."""

    task_class = SqlSourceTask
    CONFIG = CONFIG

    def contradictions(self, values: Mapping[str, Any]) -> list[tuple[str, str]]:
        return contradictions(values)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        tables = self.CONFIG.parse(self._props)["table.whitelist"]
        if not tables:
            return [self._props]
        shares = [tables[first::max_tasks] for first in range(min(max_tasks, len(tables)))]
        return [{**self._props, "table.whitelist": ",".join(share)} for share in shares]
