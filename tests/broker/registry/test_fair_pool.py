"""What takes long is done for each client in turn: difficult schemas of one keep another neither waiting nor from
writing."""

import asyncio
import json
import threading
from collections.abc import Sequence

import pytest

from broker.registry import operations
from broker.registry.config import read_config
from broker.registry.errors import InvalidSchema, RegistryError
from broker.registry.fair_pool import CLIENT, FairPool
from broker.registry.records import RegistryRecord
from broker.registry.registry import SchemaRegistry
from broker.registry.rest.app import make_app


@pytest.fixture
async def pool():
    made = FairPool(threads=1, waiting_max=3)
    yield made
    made.close()


def of(client: str, pool: FairPool, job) -> asyncio.Task:
    async def ask():
        CLIENT.set(client)
        return await pool.run(job)

    return asyncio.create_task(ask())


class Line:
    """Jobs that wait until they are let go on, and the order in which they were begun."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.begun: list[str] = []

    def job(self, name: str):
        def run() -> str:
            self.begun.append(name)
            assert self.goes_on.wait(20)
            return name

        return run


async def test_each_client_has_its_turn_after_the_job_that_runs(pool):
    line = Line()
    jobs = [of("a", pool, line.job(f"a{number}")) for number in range(4)]
    jobs += [of("b", pool, line.job("b0")), of("c", pool, line.job("c0"))]
    await asyncio.sleep(0)
    line.goes_on.set()
    assert await asyncio.gather(*jobs) == ["a0", "a1", "a2", "a3", "b0", "c0"]
    assert line.begun == ["a0", "a1", "b0", "c0", "a2", "a3"]


async def test_a_client_that_has_its_share_is_told_so_and_others_are_served(pool):
    line = Line()
    jobs = [of("a", pool, line.job(f"a{number}")) for number in range(4)]
    await asyncio.sleep(0)
    with pytest.raises(RegistryError, match="3 schemas of yours wait already") as refusal:
        await of("a", pool, line.job("too many"))
    assert refusal.value.status == 503
    other = of("b", pool, line.job("b0"))
    await asyncio.sleep(0)
    line.goes_on.set()
    assert await asyncio.gather(*jobs, other) == ["a0", "a1", "a2", "a3", "b0"]


async def test_errors_are_the_client_s_and_what_was_called_off_is_not_begun(pool):
    line = Line()
    first, called_off = of("a", pool, line.job("a0")), of("a", pool, line.job("a1"))
    await asyncio.sleep(0)
    called_off.cancel()

    def fail() -> None:
        raise InvalidSchema("no schema")

    failing, after = of("b", pool, fail), of("a", pool, line.job("a2"))
    await asyncio.sleep(0)
    line.goes_on.set()
    with pytest.raises(InvalidSchema, match="no schema"):
        await failing
    assert [await first, await after] == ["a0", "a2"]
    assert line.begun == ["a0", "a2"]


@pytest.fixture
async def registry(monkeypatch):
    """It leads, and keeps in memory what it would write into its topic."""
    made = SchemaRegistry(
        read_config({"kafkastore.bootstrap.servers": "127.0.0.1:1", "listeners": "http://127.0.0.1:0"})
    )

    async def write(records: Sequence[RegistryRecord]) -> None:
        for record in records:
            assert not made.store.apply(record.key, record.value, None)

    monkeypatch.setattr(made, "_write", write)
    made.leadership.lead_alone()
    made._is_open = True
    yield made
    made._thinkers.close()


async def ask(app, path: str, body: object, address: str = "127.0.0.1") -> tuple[int, object]:
    """Status and content of the answer to a POST."""
    sent: list[dict] = []
    data = json.dumps(body).encode()

    async def receive() -> dict:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    await app({**scope, "headers": [], "client": (address, 1)}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def fixed(size: int) -> dict[str, str]:
    return {"schema": json.dumps({"type": "fixed", "name": "F", "size": size})}


async def test_whoever_registers_what_is_compared_for_long_keeps_nobody_from_registering(registry, monkeypatch):
    app = make_app(registry)
    assert (await ask(app, "/subjects/long/versions", fixed(1)))[0] == 200
    line, really = Line(), operations.incompatibilities
    compare = line.job("compared")
    monkeypatch.setattr(operations, "incompatibilities", lambda *given, **named: compare() and really(*given, **named))
    long = asyncio.create_task(ask(app, "/subjects/long/versions", fixed(2)))
    try:
        async with asyncio.timeout(20):
            while not line.begun:
                await asyncio.sleep(0.01)
            assert (await ask(app, "/subjects/short/versions", fixed(3)))[0] == 200
    finally:
        line.goes_on.set()
    status, body = await long
    assert (status, "incompatible with an earlier schema" in body["message"]) == (409, True)
    assert line.begun == ["compared"], "its turn knows what came of it"


async def test_a_turn_compares_what_was_registered_since(registry, monkeypatch):
    """Two first versions of one subject: each fits what it saw, which was nothing."""
    app = make_app(registry)
    answers = await asyncio.gather(*(ask(app, "/subjects/s/versions", fixed(size)) for size in (1, 2)))
    assert sorted(status for status, _ in answers) == [200, 409]
    assert len(registry.store.versions("s")) == 1


async def test_a_schema_that_is_none_is_parsed_once_and_refused(registry, monkeypatch):
    parsed: list[str] = []
    really = registry.parse

    async def parse(context, content, *, is_new):
        parsed.append(content.text)
        return await really(context, content, is_new=is_new)

    monkeypatch.setattr(registry, "parse", parse)
    status, body = await ask(make_app(registry), "/subjects/s/versions", {"schema": "{"})
    assert (status, body["error_code"], len(parsed)) == (422, 42201, 1)
