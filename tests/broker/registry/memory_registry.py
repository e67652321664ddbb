"""A registry that keeps in memory what it would write into its topic, and requests to it without a network."""

import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

from broker.registry.config import read_config
from broker.registry.records import RegistryRecord, decode_key, decode_value, encode_value
from broker.registry.registry import SchemaRegistry
from broker.registry.rest.app import make_app


class RegistryAnswer(NamedTuple):
    status: int
    body: Any
    headers: dict[str, str]


class MemoryRegistry:
    """`ask` answers as the process does, but for its listeners."""

    def __init__(self, registry: SchemaRegistry):
        self.registry, self.app = registry, make_app(registry)
        #: Milliseconds: of the record that is written next.
        self.clock_ms = 1_000

    async def write(self, records: Sequence[RegistryRecord]) -> None:
        for record in records:
            for key in self.registry.store.written_keys(record.key):
                value = decode_value(encode_value(record.value))
                assert not self.registry.store.apply(decode_key(key), value, key, self.clock_ms)
                self.clock_ms += 1

    async def ask(self, method: str, path: str, body: object = None, headers: Sequence = ()) -> RegistryAnswer:
        data = b"" if body is None else json.dumps(body).encode()
        sent: list[dict] = []

        async def receive() -> dict:
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: dict) -> None:
            sent.append(message)

        plain, _, query = path.partition("?")
        scope = {"type": "http", "method": method, "path": plain, "raw_path": plain.encode(), "headers": list(headers)}
        await self.app({**scope, "query_string": query.encode(), "client": ("127.0.0.1", 1)}, receive, send)
        text = b"".join(message["body"] for message in sent[1:])
        answered = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        try:
            return RegistryAnswer(sent[0]["status"], json.loads(text) if text else None, answered)
        except ValueError:
            return RegistryAnswer(sent[0]["status"], text.decode(), answered)

    async def register(self, subject: str, schema: object, **more: object) -> RegistryAnswer:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        return await self.ask("POST", f"/subjects/{subject}/versions", {"schema": text, **more})


@contextlib.asynccontextmanager
async def memory_registry(**settings: str) -> AsyncIterator[MemoryRegistry]:
    properties = {"kafkastore.bootstrap.servers": "127.0.0.1:1", "listeners": "http://127.0.0.1:0"}
    registry = SchemaRegistry(
        read_config(properties | {name.replace("_", "."): text for name, text in settings.items()})
    )
    made = MemoryRegistry(registry)
    registry._write = made.write
    registry.leadership.lead_alone()
    registry._is_open = True
    try:
        yield made
    finally:
        registry._thinkers.close()
