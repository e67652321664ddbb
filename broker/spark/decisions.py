"""The newest decision of every ledger, in a compacted topic: what is known of a query must outlive the query's rest.

A ledger's group has no members, so its offsets are gone offsets.retention.minutes after the last of them (a week by
default, KIP-211), and a query that goes on after that would write its last batch again. Each decision is therefore
written here too, in the transaction that commits the offset. The group is asked first, because one request answers it;
here a reader goes through all that compaction has left, a few megabytes, and only when the group says nothing.
"""

import time
from collections.abc import Iterator

import pyarrow as pa

from broker.client.cluster import ClusterConnections
from broker.client.coordinators import Coordinators
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.client.transactions import ProducerIdentity
from broker.client.visible_batches import end_of, visible_batches
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.types import IsolationLevel, TopicPartition
from broker.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from broker.records.batch import Compression
from broker.records.record import decode_records
from broker.spark.ledger_names import DECISIONS_TOPIC
from broker.spark.record_encoding import EncodedRows
from broker.spark.task_producer import TaskProducer

#: One is enough: a query decides once a batch. It is also what the groups of the ledgers commit their offsets of.
PARTITION = TopicPartition(DECISIONS_TOPIC, 0)
#: Small segments: what is not compacted yet is read by every new query.
_CONFIGS = {"cleanup.policy": "compact", "segment.bytes": str(4 * 1024 * 1024), "min.cleanable.dirty.ratio": "0.1"}
#: Longer than the transaction of any ledger may stay open.
_STABLE_TIMEOUT_S = 90.0
_PREPARE_TIMEOUT_S = 30.0
_PAUSE_S = 0.1
_FETCH_BYTES = 4 * 1024 * 1024
_FETCH_WAIT_MS = 500
#: The newest version that names topics by name.
_FETCH_BY_NAME = 12
_TOPIC_RESOURCE = 2
_BROKER_DEFAULT = -1


class DecisionsError(BarnabasError):
    """The topic of the decisions is not what it has to be; the text says what to do."""


class CommitDecisions:
    """Commit decisions of one cluster. Every method may raise ApiError and BrokerUnreachable."""

    def __init__(self, cluster: ClusterConnections, coordinators: Coordinators):
        self._cluster = cluster
        self._coordinators = coordinators
        self._leaders = Leaders(cluster)

    def prepare(self) -> None:
        """Make the topic unless it is there. DecisionsError if it would forget what is written to it."""
        deadline = time.monotonic() + _PREPARE_TIMEOUT_S
        while True:
            try:
                self._make_topic()
                policy = self._cleanup_policy()
                break
            except ApiError as error:
                if not error.code.retriable or time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE_S)
        if policy != "compact":
            raise DecisionsError(
                f"topic {DECISIONS_TOPIC} has cleanup.policy={policy} and would forget which batches are written: "
                "set it to compact"
            )

    def write(self, who: ProducerIdentity, name: str, text: str | None) -> None:
        """Make `text` the newest of `name`, or forget what there was (None), in the transaction of `who`.

        Raises TimeoutError too.
        """
        value = pa.array([None if text is None else text.encode()], pa.binary())
        rows = EncodedRows(pa.array([name.encode()], pa.binary()), value, None)
        TaskProducer(self._leaders, self._coordinators, who, Compression.NONE).write({PARTITION: rows})

    def newest(self, name: str, *, once: bool = False) -> str | None:
        """Return the newest committed decision of `name`; None if there is none."""
        return self.all(once=once).get(name)

    def all(self, *, once: bool = False) -> dict[str, str]:
        """Return the decisions of every ledger.

        Waits for open transactions; `once`: raises UNSTABLE_OFFSET_COMMIT instead.
        """
        decisions: dict[str, str] = {}
        for data in self._committed(once):
            for _, batch in visible_batches(memoryview(data.records or b""), data.aborted_transactions or ()):
                for record in decode_records(batch):
                    key = bytes(record.key or b"").decode()
                    if record.value is None:
                        decisions.pop(key, None)
                    else:
                        decisions[key] = bytes(record.value).decode()
        return decisions

    def _committed(self, once: bool) -> Iterator[PartitionData]:
        """Yield the partition's committed records up to now."""
        try:
            position = list_offsets(self._leaders, {PARTITION: EARLIEST_TIMESTAMP})[PARTITION]
            end = list_offsets(self._leaders, {PARTITION: LATEST_TIMESTAMP})[PARTITION]
        except ApiError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return
            raise
        deadline = time.monotonic() + _STABLE_TIMEOUT_S
        while position < end:
            data = self._fetch(position)
            if (next_position := end_of(memoryview(data.records or b""))) is not None:
                yield data
                position = max(position, next_position)
            elif once:
                raise ApiError(ErrorCode.UNSTABLE_OFFSET_COMMIT)
            elif time.monotonic() > deadline:
                raise TimeoutError(f"a transaction on {PARTITION} at offset {position} stays open")

    def _fetch(self, position: int) -> PartitionData:
        fetch_partition = FetchPartition(
            partition=PARTITION.partition, fetch_offset=position, partition_max_bytes=_FETCH_BYTES
        )
        request = FetchRequest(
            max_wait_ms=_FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=_FETCH_BYTES,
            isolation_level=IsolationLevel.READ_COMMITTED,
            topics=[FetchTopic(topic=DECISIONS_TOPIC, partitions=[fetch_partition])],
        )
        response = self._leaders.connection(PARTITION).ask(request, version_max=_FETCH_BY_NAME)
        data: PartitionData | None = response.responses[0].partitions[0] if response.responses else None
        code = error_code_of(response.error_code or (data.error_code if data else 0))
        if code is not ErrorCode.NONE or data is None:
            self._leaders.forget(PARTITION)
            raise ApiError(code, f"{PARTITION}: {code.meaning}")
        return data

    def _make_topic(self) -> None:
        metadata = self._cluster.describe_topics([DECISIONS_TOPIC])
        if metadata.topics[0].error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return
        topic = CreatableTopic(
            name=DECISIONS_TOPIC,
            num_partitions=1,
            replication_factor=_BROKER_DEFAULT,
            configs=[CreatableTopicConfig(name=name, value=value) for name, value in _CONFIGS.items()],
        )
        addresses = {broker.node_id: (broker.host, broker.port) for broker in metadata.brokers}
        if metadata.controller_id not in addresses:
            raise ApiError(ErrorCode.NOT_CONTROLLER, "the cluster has no controller")
        controller = self._cluster.connection(*addresses[metadata.controller_id])
        response = controller.ask(CreateTopicsRequest(topics=[topic]))
        (result,) = response.topics
        code = error_code_of(result.error_code)
        if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            raise ApiError(code, f"topic {DECISIONS_TOPIC} cannot be created: {result.error_message or code.meaning}")

    def _cleanup_policy(self) -> str | None:
        wanted = DescribeConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=DECISIONS_TOPIC, configuration_keys=["cleanup.policy"]
        )
        (result,) = self._cluster.ask_any(DescribeConfigsRequest(resources=[wanted])).results
        if result.error_code:
            raise ApiError(error_code_of(result.error_code), f"topic {DECISIONS_TOPIC}: {result.error_message}")
        return next((config.value for config in result.configs if config.name == "cleanup.policy"), None)
