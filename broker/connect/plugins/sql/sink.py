"""Records as rows: inserted, upserted, updated, and deleted on a tombstone; tables made and widened if so wanted."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    ConnectError,
    DataError,
    Importance,
    RecordError,
    RetriableError,
    SinkRecord,
    SinkTask,
    SinkTaskContext,
)
from broker.connect.api.config import OneOf, between
from broker.connect.api.plugin import Props
from broker.connect.plugins.own_props import GroupSink
from broker.connect.plugins.sql.database import CONNECTION, checked_name, column_type, connect, is_gone
from broker.connect.plugins.sql.rows import KAFKA_COLUMNS, SqlRow, row_of
from broker.connect.plugins.sql.statements import columns_of, statement_of


class SqlSinkTask(SinkTask):
    """One transaction for each put. At least once; with upsert, update or delete a repetition changes nothing."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._tables: dict[str, Any] = {}

    def start(self, props: Props, context: SinkTaskContext) -> None:
        self._values = SqlSinkConnector.CONFIG.parse(props)
        self._mode = self._values["insert.mode"].lower()
        self._fields = frozenset(self._values["fields.whitelist"])
        self._zone = ZoneInfo(self._values["db.timezone"])
        self._context, self._failures = context, 0
        self._database_schema, self._name_format = _schema_and_name(self._values["table.name.format"])
        self._engine = connect(self._values)

    def put(self, records: Sequence[SinkRecord]) -> None:
        rows = list(self._rows(records))
        if not rows:
            return
        try:
            self._write(rows)
            self._failures = 0
        except Exception as error:
            self._tables.clear()
            if is_gone(error):
                self._try_again(error)
            self._one_by_one(rows)

    def _rows(self, records: Sequence[SinkRecord]) -> Iterator[SqlRow]:
        values = self._values
        for record in records:
            try:
                row = row_of(
                    record, values["pk.mode"].lower(), values["pk.fields"], values["delete.enabled"], self._fields
                )
                for name in row.columns:
                    checked_name(name)
                checked_name(self._table_name(record))
            except (DataError, ValueError) as error:
                self._give_up(record, error)
                continue
            yield row

    def _try_again(self, error: Exception) -> None:
        self._failures += 1
        reason = str(getattr(error, "orig", error)).partition("\n")[0]
        if self._failures > self._values["max.retries"]:
            raise ConnectError(f"The database is not there after {self._failures} tries: {reason}") from error
        self._context.timeout(self._values["retry.backoff.ms"])
        raise RetriableError(f"The database does not answer: {reason}") from error

    def _one_by_one(self, rows: list[SqlRow]) -> None:
        """Write a refused batch row by row, so that the others arrive."""
        for row in rows:
            try:
                self._write([row])
            except Exception as error:
                self._tables.clear()
                if is_gone(error):
                    self._try_again(error)
                self._give_up(row.record, _as_connect_error(error))

    def _give_up(self, record: SinkRecord, error: Exception) -> None:
        if self._context.errant_record_reporter is None:
            raise RecordError(record.topic, record.partition, record.offset, str(error)) from error
        data_error = DataError(f"{record.topic}-{record.partition} offset {record.offset}: {error}")
        self._context.errant_record_reporter.report(record, data_error)

    def _table_name(self, record: SinkRecord) -> str:
        return self._name_format.replace("${topic}", record.topic)

    def _write(self, rows: list[SqlRow]) -> None:
        """Runs of rows for the same statement, in their order."""
        with self._engine.begin() as connection:
            for (name, is_deletion, columns), run in groupby(rows, self._statement_of):
                batch = list(run)
                table = self._table(connection, name, batch[0])
                dialect = self._engine.dialect.name
                statement = statement_of(table, batch[0], is_deletion, self._mode, columns, dialect)
                if statement is None:
                    continue
                size = self._values["batch.size"]
                for first in range(0, len(batch), size):
                    connection.execute(statement, [self._parameters(row) for row in batch[first : first + size]])

    def _statement_of(self, row: SqlRow) -> tuple[str, bool, tuple[str, ...]]:
        return self._table_name(row.record), row.others is None, tuple(row.columns)

    def _table(self, connection: Any, name: str, row: SqlRow) -> Any:
        import sqlalchemy as sa

        table = self._tables.get(name)
        if table is None:
            try:
                table = sa.Table(name, sa.MetaData(), schema=self._database_schema, autoload_with=connection)
            except sa.exc.NoSuchTableError:
                table = self._made(connection, name, row)
        known = columns_of(table.c, row.columns)
        missing = [column for column in row.columns if column not in known]
        if missing:
            table = self._widened(connection, table, missing, row)
        self._tables[name] = table
        return table

    def _made(self, connection: Any, name: str, row: SqlRow) -> Any:
        import sqlalchemy as sa

        if not self._values["auto.create"] or row.others is None:
            raise ConnectError(f"Table {name} is missing and auto.create is false, or the record is a tombstone")
        columns = [
            sa.Column(column, column_type(row.schemas[column]), primary_key=column in row.keys, autoincrement=False)
            if column in row.keys
            else sa.Column(column, column_type(row.schemas[column]), nullable=row.schemas[column].optional)
            for column in row.columns
        ]
        table = sa.Table(name, sa.MetaData(), *columns, schema=self._database_schema)
        table.create(connection, checkfirst=True)
        return table

    def _widened(self, connection: Any, table: Any, missing: list[str], row: SqlRow) -> Any:
        """Add missing columns, which may be null: existing rows have no value for them."""
        import sqlalchemy as sa

        if not self._values["auto.evolve"]:
            raise ConnectError(f"Table {table.name} has no column {missing[0]} and auto.evolve is false")
        for name in missing:
            column = sa.Column(name, column_type(row.schemas[name]), nullable=True)
            definition = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
            quoted = connection.dialect.identifier_preparer.format_table(table)
            connection.exec_driver_sql(f"ALTER TABLE {quoted} ADD COLUMN {definition}".replace("%", "%%"))
        return sa.Table(table.name, sa.MetaData(), schema=table.schema, autoload_with=connection)

    def _parameters(self, row: SqlRow) -> dict[str, Any]:
        """Return parameters under names of ours: a column's may have any characters."""
        return {f"b{at}": self._plain(column) for at, column in enumerate(row.columns.values())}

    def _plain(self, value: Any) -> Any:
        if isinstance(value, datetime) and self._engine.dialect.name == "sqlite":
            return value.astimezone(self._zone).replace(tzinfo=None)  # SQLite keeps no zone
        return bytes(value) if isinstance(value, bytearray | memoryview) else value

    def stop(self) -> None:
        if self._engine is not None:
            self._engine.dispose()


def _schema_and_name(table_format: str) -> tuple[str | None, str]:
    """Return the database's schema, None for its default one, and the format of a table's name.

    A dot of the format divides them (`audit.${topic}`), one of a topic's name does not.
    """
    before, mark, after = table_format.partition("${topic}")
    schema, _, begin = before.rpartition(".")
    return schema or None, begin + mark + after


def _as_connect_error(error: Exception) -> ConnectError:
    if isinstance(error, ConnectError):
        return error
    return ConnectError(str(getattr(error, "orig", error)).partition("\n")[0])


_INSERT, _PK = OneOf("insert", "upsert", "update"), OneOf("none", "kafka", "record_key", "record_value")


class SqlSinkConnector(GroupSink):
    """Structs as rows of SQLite or PostgreSQL."""

    task_class = SqlSinkTask
    CONFIG = CONNECTION + ConfigDef(
        ConfigKey(
            "insert.mode", default="insert", documentation="SQL of a record.", validator=_INSERT, recommender=_INSERT
        ),
        ConfigKey("pk.mode", default="none", documentation="Source of the key.", validator=_PK, recommender=_PK),
        ConfigKey("pk.fields", ConfigType.LIST, [], documentation="Names of the columns of the key."),
        ConfigKey(
            "fields.whitelist",
            ConfigType.LIST,
            [],
            documentation="Fields of the value that become columns; empty: all.",
        ),
        ConfigKey("delete.enabled", ConfigType.BOOLEAN, False, documentation="Tombstones delete (record_key)."),
        ConfigKey("auto.create", ConfigType.BOOLEAN, False, documentation="Make tables that are missing."),
        ConfigKey("auto.evolve", ConfigType.BOOLEAN, False, documentation="Add columns that are missing."),
        ConfigKey("table.name.format", default="${topic}", documentation="[schema.]table; ${topic} is the topic."),
        ConfigKey("batch.size", ConfigType.INT, 3000, Importance.MEDIUM, "Rows of a statement.", between(1, 100_000)),
        ConfigKey(
            "max.retries",
            ConfigType.INT,
            10,
            documentation="Attempts while the database is away.",
            validator=between(0),
        ),
        ConfigKey(
            "retry.backoff.ms", ConfigType.INT, 3000, documentation="Pause between two attempts.", validator=between(0)
        ),
    )

    def contradictions(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        pk_mode = (values["pk.mode"] or "").lower()
        if pk_mode == "none" and (values["insert.mode"] or "").lower() in ("upsert", "update"):
            yield "pk.mode", "upsert and update need to know the key: record_key or record_value"
        if pk_mode == "kafka" and values["pk.fields"] and len(values["pk.fields"]) != len(KAFKA_COLUMNS):
            yield "pk.fields", "pk.mode=kafka needs three names, of topic, partition and offset, or none"
        if values["delete.enabled"] and pk_mode != "record_key":
            yield "delete.enabled", "Deletions need pk.mode=record_key"
