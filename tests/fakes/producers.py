"""Producers and transactions of the cluster in memory: they are what a test says they are."""

from collections.abc import Collection
from dataclasses import replace
from typing import Protocol

from broker.common.errors import ErrorCode
from console.kit.gateway.errors import refusal
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.interface import TopicView
from console.kit.gateway.producers.interface import ProducersView, ProducerView, TransactionsView, TransactionView


class FakeCluster(Protocol):
    """What producers need of the rest of the cluster in memory."""

    def describe_topics(self) -> list[TopicView]: ...


class FakeProducers:
    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self._producers: dict[tuple[str, int, int], ProducerView] = {}
        self._transactions: list[TransactionView] = []
        self._untold = ""

    # What the console asks -------------------------------------------------------------------------------------------

    def of_topic(self, topic: str, partitions: Collection[int]) -> ProducersView:
        known = {topic.name: topic.partitions for topic in self._cluster.describe_topics()}
        if topic not in known:
            raise refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        led = {partition.partition for partition in known[topic] if partition.leader is not None}
        result = [
            item for (name, partition, _), item in sorted(self._producers.items()) if name == topic and partition in led
        ]
        silent = dict.fromkeys(sorted(set(partitions) - led), f"{topic} has no leader")
        return ProducersView(tuple(partition for partition in result if partition.partition in set(partitions)), silent)

    def transactions(self, producer_ids: Collection[int]) -> TransactionsView:
        self._cluster.describe_topics()
        transactions = (transaction for transaction in self._transactions if transaction.producer_id in producer_ids)
        return TransactionsView(tuple(transactions), self._untold)

    def stable_offsets(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the first open transaction of each partition begins, or its end."""
        ends = {
            (topic.name, partition.partition): partition.next_offset or 0
            for topic in self._cluster.describe_topics()
            for partition in topic.partitions
            if partition.leader is not None and (topic.name, partition.partition) in set(places)
        }
        for (topic, number, _), producer in self._producers.items():
            if producer.open_from is not None and (topic, number) in ends:
                ends[topic, number] = min(ends[topic, number], producer.open_from)
        return ends

    def abort(self, topic: str, producer: ProducerView) -> None:
        self._cluster.describe_topics()
        known = self._producers.get((topic, producer.partition, producer.producer_id))
        if known is None or known.epoch > producer.epoch:
            raise refusal(ErrorCode.INVALID_PRODUCER_EPOCH)
        self.write(topic, replace(known, open_from=None, coordinator_epoch=max(producer.coordinator_epoch, 0)))

    # What tests do to it ---------------------------------------------------------------------------------------------

    def write(self, topic: str, producer: ProducerView) -> None:
        """As if the producer had written there, and its partition remembered it so."""
        self._producers[topic, producer.partition, producer.producer_id] = producer

    def coordinate(self, *transactions: TransactionView) -> None:
        """What coordinators know, and nothing else."""
        self._transactions = list(transactions)

    def leave_untold(self, sentence: str) -> None:
        self._untold = sentence
