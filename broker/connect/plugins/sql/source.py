"""New rows of tables or of a query: by a growing number, a moment of change, or both; or all rows again."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from broker.connect.api import (
    ConnectError,
    RetriableError,
    SourceRecord,
    SourceTask,
    SourceTaskContext,
)
from broker.connect.api.plugin import Props
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.sql.database import connect, is_gone
from broker.connect.plugins.sql.reader import TableReader
from broker.connect.plugins.sql.source_settings import CONFIG, contradictions
from broker.connect.plugins.sql.tables import all_tables, qualified


class SqlSourceTask(SourceTask):
    """Each poll reads at most `batch.max.rows` of one table and ends its transaction; tables take turns.

    With mode=bulk all rows of a table are those of one transaction, which lasts until they were read. A row is at
    least once in the topic. With mode=timestamp the rows of one moment come in one poll, so that none of them can fall
    between two.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._stopped = threading.Event()
        self._reading = threading.Lock()
        self._readers: list[TableReader] = []
        self._engine: Any = None

    def start(self, props: Props, context: SourceTaskContext) -> None:
        self._values = SqlSourceConnector.CONFIG.parse(props)
        self._mode = self._values["mode"].lower()
        self._engine = connect(self._values)
        self._context = context
        tables = qualified(self._values["table.whitelist"], self._values["schema.pattern"])
        self._lists_all = not tables and not self._values["query"]
        self._listed_at: float | None = None
        self._take([None] if self._values["query"] else tables)

    def _take(self, names: Sequence[str | None]) -> None:
        """Go on with these: those that are read already where they are, others behind their stored offset."""
        known = {reader.table: reader for reader in self._readers}
        for table, reader in known.items():
            if table not in names:
                reader.close()
        self._readers = []
        for name in names:
            reader = known.get(name) or TableReader(self._engine, self._values, self._mode, name)
            if name not in known:
                reader.offset = dict(self._context.offset_reader.offset(reader.partition) or {})
            self._readers.append(reader)
        self._idle = 0

    def _list_if_due(self) -> None:
        """List tables when that is due, not while all rows of a table are read in one transaction."""
        interval_s = self._values["table.poll.interval.ms"] / 1000
        is_due = self._listed_at is None or self._now_s() - self._listed_at >= interval_s
        if not self._lists_all or not is_due or any(reader.is_within for reader in self._readers):
            return
        with self._engine.connect() as connection:
            tables = all_tables(connection, self._values["schema.pattern"], self._values["table.blacklist"])
        self._listed_at = self._now_s()
        if set(tables) != {reader.table for reader in self._readers}:
            self._take(tables)

    def poll(self) -> list[SourceRecord]:
        try:
            with self._reading:
                return self._poll()
        finally:
            self._close_if_stopped()

    def _poll(self) -> list[SourceRecord]:
        if self._stopped.is_set():
            return []
        try:
            self._list_if_due()
        except Exception as error:
            raise _as_connect_error(error, "The list of tables") from error
        if self._idle >= len(self._readers):
            self._stopped.wait(min(1.0, self._values["poll.interval.ms"] / 1000))
            self._idle = 0
        if not self._readers:
            return []
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
