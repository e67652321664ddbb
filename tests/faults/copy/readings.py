"""What others see of a copy: an independent reader of committed records, and who still has a transaction open."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPythonPartition

from broker.common.types import TopicPartition
from broker.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from tests.faults.matrix.stage import Stage
from tests.faults.matrix.wire import WireClient

_SILENCE_S = 30
_LIST_OFFSETS_VERSION = 7
_LATEST = -1
_READ_UNCOMMITTED, _READ_COMMITTED = 0, 1
_UNDER_WAY = ["Ongoing", "PrepareCommit", "PrepareAbort"]


@dataclass
class CommittedRecords:
    """By partition, values in their order, and one past the offset of the last."""

    values: dict[int, list[bytes]]
    ends: dict[int, int] = field(default_factory=dict)


def read_committed(servers: str, topic: str, partitions: int) -> CommittedRecords:
    """All committed records, as kafka-python sees them; AssertionError if it stalls."""
    consumer = KafkaConsumer(bootstrap_servers=servers, isolation_level="read_committed", enable_auto_commit=False)
    kafka_python_partitions = [KafkaPythonPartition(topic, index) for index in range(partitions)]
    committed_records = CommittedRecords({index: [] for index in range(partitions)})
    try:
        consumer.assign(kafka_python_partitions)
        consumer.seek_to_beginning(*kafka_python_partitions)
        ends = consumer.end_offsets(kafka_python_partitions)
        heard_at = time.monotonic()
        while any(consumer.position(item) < ends[item] for item in kafka_python_partitions):
            for item, records in consumer.poll(timeout_ms=200, max_records=5_000).items():
                committed_records.values[item.partition] += [record.value for record in records]
                committed_records.ends[item.partition] = records[-1].offset + 1
                heard_at = time.monotonic()
            assert time.monotonic() < heard_at + _SILENCE_S, f"{topic} is not read to its end: {ends}"
    finally:
        consumer.close()
    return committed_records


def transactions_under_way(stage: Stage) -> list[str]:
    """Ids whose transaction a coordinator has begun and not completed; a broker that does not answer counts as one."""
    collected = []
    for broker in stage.cluster.brokers:
        try:
            with WireClient(broker.port) as client:
                listed = client.ask(ListTransactionsRequest(state_filters=_UNDER_WAY), 0)
        except OSError as error:
            collected.append(f"broker {broker.broker_id}: {error}")
            continue
        if listed.error_code:
            collected.append(f"broker {broker.broker_id} answered error {listed.error_code}")
        collected += [f"{state.transactional_id} is {state.transaction_state}" for state in listed.transaction_states]
    return collected


def open_in_partitions(stage: Stage, topic: str = "") -> list[str]:
    """Partitions, of `topic` or all, whose leader knows an open transaction, or where the last stable offset lags."""
    collected = []
    for partition in sorted(replica for replica in stage.replicas if topic in ("", replica.topic)):
        leader = stage.state(*partition).leader
        try:
            with WireClient(stage.broker(leader).port) as client:
                collected += _open_in(client, partition)
        except (OSError, StopIteration) as error:
            collected.append(f"{partition}: its leader, {leader}, does not answer: {error}")
    return collected


def _open_in(client: WireClient, partition: TopicPartition) -> Iterator[str]:
    request = TopicRequest(name=partition.topic, partition_indexes=[partition.partition])
    response = client.ask(DescribeProducersRequest(topics=[request]), 0).topics[0].partitions[0]
    if response.error_code:
        yield f"{partition}: DescribeProducers answered error {response.error_code}"
    for producer in response.active_producers:
        if producer.current_txn_start_offset >= 0:
            start = producer.current_txn_start_offset
            yield f"{partition}: producer {producer.producer_id} has one open from {start} on"
    committed = _end(client, partition, _READ_UNCOMMITTED)
    stable = _end(client, partition, _READ_COMMITTED)
    if stable < committed:
        yield f"{partition}: stable until {stable}, committed until {committed}"


def _end(client: WireClient, partition: TopicPartition, isolation_level: int) -> int:
    list_offsets_partition = ListOffsetsPartition(partition_index=partition.partition, timestamp=_LATEST)
    request = ListOffsetsRequest(
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=partition.topic, partitions=[list_offsets_partition])],
    )
    response = client.ask(request, _LIST_OFFSETS_VERSION).topics[0].partitions[0]
    assert not response.error_code, f"{partition}: ListOffsets answered error {response.error_code}"
    return response.offset
