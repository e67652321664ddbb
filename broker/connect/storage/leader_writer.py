"""What the leader of a group writes into the topic of configurations, so that an earlier leader's writes are over then.

A worker that was cut off or suspended may have a write under way when another becomes the leader. It would arrive
behind what that one wrote, and count instead of it: an older configuration, or the note that producers were fenced that
were not. So the leaders of a group share one transactional id, as Kafka's do (KIP-618): the first write of a leader
fences the producers of those before.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from broker.common.quiet_clients import with_quiet_logging
from broker.connect.storage.logs import TIMEOUT_S, StorageError
from broker.connect.storage.records import Record

#: As long as any write is waited for. A transaction whose leader died in it holds up what others write for no longer.
_TRANSACTION_MS = int(TIMEOUT_S * 1000)
#: Another worker has begun to write since this one did.
_FENCED = frozenset((KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH))


class LeaderWriter:
    """Used by any thread. Until it is fenced, one producer serves all writes."""

    def __init__(self, topic: str, client: Mapping[str, Any], transactional_id: str):
        self._topic = topic
        self._settings = dict(client) | {
            "transactional.id": transactional_id,
            "transaction.timeout.ms": _TRANSACTION_MS,
            "linger.ms": 0,
        }
        self._producer: Producer | None = None
        self._lock = threading.Lock()

    def put(self, records: Sequence[Record], require_leader: Callable[[], None]) -> None:
        """Return when the records are committed, all or none.

        `require_leader` raises for a worker that may not be the leader any more. It is asked after each claim, so that
        a worker that was suspended meanwhile writes nothing. A leader whose producer was fenced, by one that took
        itself for the leader, claims once more. Raises StorageError, after which it is not known what was written.
        """
        with self._lock:
            try:
                self._put(records, require_leader)
            except _FencedError:
                self._put(records, require_leader)

    def _put(self, records: Sequence[Record], require_leader: Callable[[], None]) -> None:
        producer = self._producer or self._claim()
        # Only a producer whose last transaction is known to have ended serves again.
        self._producer = None
        try:
            require_leader()
            producer.begin_transaction()
            for key, value in records:
                producer.produce(self._topic, value, key)
            producer.commit_transaction(TIMEOUT_S)
        except (KafkaException, BufferError) as error:
            producer.purge()
            raise self._error_of(error) from None
        self._producer = producer

    def _claim(self) -> Producer:
        producer = Producer(with_quiet_logging(self._settings))
        try:
            producer.init_transactions(TIMEOUT_S)
        except KafkaException as error:
            raise self._error_of(error) from None
        return producer

    def _error_of(self, error: KafkaException | BufferError) -> StorageError:
        cause = error.args[0] if isinstance(error, KafkaException) else None
        kind = _FencedError if cause is not None and cause.code() in _FENCED else StorageError
        return kind(f"records of '{self._topic}' were not written: {cause.str() if cause is not None else error}")


class _FencedError(StorageError):
    """Nothing was written: another worker claimed the topic."""
