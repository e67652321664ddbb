"""A registry at work: it knows what is in the topic, and changes it if it leads.

Every change has its turn. It is decided on all that was ever written, because only one can write and has read its own
last word; it is written as one transaction; and it is answered when it has come back by the topic. What fails in the
middle is decided anew after the log was opened again: if it was written all the same, the decision finds it done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from broker.common.limits import REGISTRY_PARSED_MAX, REGISTRY_WRITES_WAITING_MAX
from broker.common.logs import logger
from broker.common.security_limits import REGISTRY_KEPT_TEXTS_MAX
from broker.registry import kinds
from broker.registry.config import RegistryConfig
from broker.registry.errors import InvalidSchema, RegistryError
from broker.registry.fair_pool import FairPool
from broker.registry.leadership import Leader, Leadership
from broker.registry.names import context_of
from broker.registry.records import RegistryRecord, decode_key, decode_value, encode_value
from broker.registry.refusals import RegistrationRefusals
from broker.registry.registering import referred, require_one_version
from broker.registry.schema import Content, NamedSchema
from broker.registry.schema_log import SchemaReader, SchemaRecord, SchemaWriter, WriteFailed
from broker.registry.store import SchemaStore
from broker.registry.text_cache import TextCache

Answer = TypeVar("Answer")
#: What is decided: the answer, and what to write before it is given.
Decision = tuple[Answer, Sequence[RegistryRecord]]

_TRIES_MAX = 3
_THINKERS = 2

_log = logger(__name__)


class NotLeader(Exception):
    """Another registry leads: the request is for that one."""


class SchemaRegistry:
    def __init__(self, config: RegistryConfig, kafka_cluster_id: str = ""):
        self.config = config
        self.kafka_cluster_id = kafka_cluster_id
        self.store = SchemaStore()
        self.leadership = Leadership(*config.advertised)
        self.leadership.on_change(self._on_leader)
        self.reader = SchemaReader(config.client, config.kafkastore_topic, self._apply)
        transactional_id = f"{config.schema_registry_group_id}-{config.kafkastore_topic}"
        self._writer = SchemaWriter(config.client, config.kafkastore_topic, transactional_id)
        self._is_open = False
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._parsed: TextCache[tuple[Content, tuple[NamedSchema, ...]], kinds.ParsedSchema] = TextCache(
            REGISTRY_PARSED_MAX, REGISTRY_KEPT_TEXTS_MAX
        )
        #: Of the last record this one has written: who forwards a request waits until it has read it, too.
        self.last_offset = -1
        self._opening: asyncio.Task[None] | None = None
        self._thinkers = FairPool(_THINKERS)
        self.refusals = RegistrationRefusals()

    # -- what is in the topic

    def _apply(self, records: list[SchemaRecord]) -> None:
        for record in records:
            try:
                key = decode_key(record.key or b"null")
                value = None if key is None else decode_value(record.value)
                wrong = "" if key is None else self.store.apply(key, value, record.key, record.timestamp_ms)
            except ValueError as error:
                wrong = str(error)
            if wrong:
                _log.warning("record skipped", offset=record.offset, reason=wrong)

    # -- changing it

    async def change(self, decide: Callable[[], Awaitable[Decision[Answer]]]) -> Answer:
        """Write what `decide` returns. Raises NotLeader, RegistryError; errors of `decide` change nothing."""
        if self._waiting >= REGISTRY_WRITES_WAITING_MAX:
            raise RegistryError(50301, f"{self._waiting} changes wait already; try again later")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._change(decide)
        finally:
            self._waiting -= 1

    async def _change(self, decide: Callable[[], Awaitable[Decision[Answer]]]) -> Answer:
        failure = ""
        for _ in range(_TRIES_MAX):
            try:
                await self._open()
                answer, records = await decide()
                if records:
                    await self._write(records)
                return answer
            except WriteFailed as error:
                self._is_open = False
                failure = str(error)
                _log.warning("a change failed", reason=failure)
                if error.is_refused:
                    break
        raise RegistryError(50001, f"Error in the backend data store: {failure}")

    async def _open(self) -> None:
        if self.leadership.leader is None or not self.leadership.leader.is_self:
            self._is_open = False
            raise NotLeader
        if self._is_open:
            return
        timeout_s = self.config.kafkastore_init_timeout_ms / 1000
        offset = await asyncio.to_thread(self._writer.open, timeout_s)
        await self._come_back(offset, timeout_s)
        self._is_open = True
        _log.info("writing", offset=offset)

    async def _write(self, records: Sequence[RegistryRecord]) -> None:
        pairs = []
        for record in records:
            value = encode_value(record.value)
            keys = self.store.written_keys(record.key)
            pairs += [(key, value if at == 0 else None) for at, key in enumerate(keys) if at == 0 or value is None]
        offset = await asyncio.to_thread(self._writer.write, pairs)
        self.last_offset = offset
        await self._come_back(offset, self.config.kafkastore_timeout_ms / 1000)

    async def _come_back(self, offset: int, timeout_s: float) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self.reader.has_read(offset)
        except TimeoutError:
            self._is_open = False
            raise RegistryError(50002, "The write was done, but has not come back from the topic in time") from None

    def _on_leader(self, leader: Leader | None) -> None:
        if leader is None or not leader.is_self:
            self._is_open = False
        elif self.reader.is_complete.is_set():
            self.open_soon()

    def open_soon(self) -> None:
        """Open the log as the new leader, which fences the previous one without waiting for a request."""
        self._opening = asyncio.create_task(self._open_now())

    async def _open_now(self) -> None:
        async def nothing() -> Decision[None]:
            return None, ()

        try:
            await self.change(nothing)
        except (NotLeader, RegistryError) as error:
            _log.warning("not writing yet", reason=str(error))

    async def close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
        self._thinkers.close()
        await asyncio.to_thread(self._writer.close)
        await self.reader.close()

    # -- understanding schemas

    async def parse(self, context: str, content: Content, *, is_new: bool) -> kinds.ParsedSchema:
        """Parse the schema in a thread, with a cache. Raises InvalidSchema."""
        named = referred(self.store, context, content, also_deleted=not is_new)
        if is_new and self.config.schema_providers_reference_versions_strict:
            require_one_version(named)
        key = (content, named)
        parsed = self._parsed.get(key)
        if parsed is not None:
            return parsed
        try:
            parsed = await self.think(partial(kinds.parse, content.type, content.text, named, is_new=is_new))
        except RecursionError:
            raise InvalidSchema("the schema is nested too deeply") from None
        if not is_new:
            texts = (content.text, *(schema.content.text for schema in named))
            self._parsed.keep(key, parsed, sum(map(len, texts)))
        return parsed

    async def think(self, about: Callable[[], Answer]) -> Answer:
        """Return what `about` returns. What may take long has threads of its own, and clients take turns there."""
        return await self._thinkers.run(about)

    async def parse_stored(self, subject: str, content: Content) -> kinds.ParsedSchema:
        return await self.parse(context_of(subject), content, is_new=False)
