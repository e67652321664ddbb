"""A SQL source whose database goes away and comes back: it says so once, goes on, and leaves out no row."""

import asyncio
import threading

import pytest
import sqlalchemy as sa

from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records
from tests.broker.connect.plugins.sql.conftest import _await_answer, postgres  # noqa: F401
from tests.broker.connect.workers import start_worker
from tests.severable_proxy import SeverableProxy

_ROWS = 20


class Cable:
    """A severable proxy on a loop of its own."""

    def __init__(self, port):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._proxy = SeverableProxy(port)
        self._run(self._proxy.__aenter__())
        self.port = self._proxy.port

    def _run(self, doing):
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(10)

    def cut(self):
        self._loop.call_soon_threadsafe(self._proxy.cut)

    def mend(self):
        self._loop.call_soon_threadsafe(self._proxy.mend)

    def close(self):
        self._run(self._proxy.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def engine(postgres):  # noqa: F811
    made = sa.create_engine(sa.make_url(postgres.replace("postgresql:", "postgresql+psycopg:")).set(username="tester"))
    _await_answer(made)
    with made.begin() as connection:
        connection.execute(sa.text("create table outage (id bigint primary key)"))
    yield made
    with made.begin() as connection:
        connection.execute(sa.text("drop table outage"))
    made.dispose()


@pytest.fixture
def cable(engine):
    made = Cable(engine.url.port)
    yield made
    made.close()


def insert(engine, numbers):
    with engine.begin() as connection:
        connection.execute(sa.text("insert into outage values (:id)"), [{"id": number} for number in numbers])


def test_no_row_is_lost_while_the_database_is_away(cluster, engine, cable, tmp_path):
    own = {"bootstrap.servers": cluster.bootstrap_servers, "offset.storage.file.filename": str(tmp_path / "offsets")}
    worker = start_worker(tmp_path / "worker", "standalone", own)
    config = {
        "connector.class": "SqlSource", "connection.url": f"postgresql://127.0.0.1:{cable.port}/postgres",
        "connection.user": "tester", "mode": "incrementing", "incrementing.column.name": "id",
        "table.whitelist": "outage", "topic.prefix": "sql-", "poll.interval.ms": "100",
        "value.converter.schemas.enable": "false", "value.converter": "JsonConverter",
    }  # fmt: skip

    def task():
        return worker.ask("GET", "/connectors/rows/tasks/0/status")

    def arrived():
        return [record.value() for record in all_records(cluster.bootstrap_servers, "sql-outage")]

    try:
        await_true(worker.answers, "REST answers")
        insert(engine, range(_ROWS))
        worker.ask("PUT", "/connectors/rows/config", config, status=201)
        await_true(lambda: worker.is_running("rows") and len(arrived()) == _ROWS, "the first rows", 60)
        cable.cut()
        await_true(lambda: "cannot be read" in task().get("trace", ""), "it says why")
        assert task()["state"] == "RUNNING"
        insert(engine, range(_ROWS, 2 * _ROWS))
        await_true(lambda: "poll failed for now" in worker.log.read_text(), "the log, too")
        cable.mend()
        await_true(lambda: len(arrived()) >= 2 * _ROWS, "the other rows", 60)
        await_true(lambda: "trace" not in task(), "nothing is wrong any more")
        assert arrived() == [b'{"id":%d}' % number for number in range(2 * _ROWS)]
        assert worker.log.read_text().count("poll failed for now") == 1
        assert worker.log.read_text().count('event="goes on"') == 1
    finally:
        assert worker.stop() == 0
