"""The collector's look for transactions that do not end."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

from console.cluster.producers.open_transactions import open_transactions
from console.cluster.producers.stuck import StableOffsets, StuckTransaction, stuck_transaction
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.producers.interface import ProducerGateway
from console.state.clusters.store import update_state
from console.state.clusters.topic_rows import TopicRow
from console.state.consumers.tiers import TierContext, TierLook

#: Partitions whose stable offset one look asks for; with more, looks take turns.
PARTITIONS_PER_LOOK = 5_000
#: Partitions that one look asks for their producers, those that have stood still for longest.
LOOKED_INTO_MAX = 10


class TransactionCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(
        self, gateway: ProducerGateway, topics: Callable[[], Mapping[str, TopicRow]], clock_ms: Callable[[], int]
    ):
        self._gateway, self._topics, self._now_ms = gateway, topics, clock_ms
        self._stable = StableOffsets()
        self._turn = 0
        self._kept: list[dict[str, object]] | None = None

    def look(self) -> None:
        """Raises ClusterUnreachableError while nobody answers. A cluster that does not tell has none that are known."""
        ends = {
            (topic.name, partition.partition): partition.next_offset
            for topic in self._topics().values()
            for partition in topic.partitions
            if not topic.is_internal and partition.leader is not None and partition.record_count
            if partition.next_offset is not None
        }
        self._stable.keep(ends)
        places = self._of_this_turn(sorted(ends))
        stable = self._gateway.stable_offsets(places)
        at_ms = self._now_ms()
        stuck = self._stable.observe({place: ends[place] for place in places}, stable, at_ms)
        transactions = [asdict(transaction) for transaction in self._transactions(stuck[:LOOKED_INTO_MAX], ends, at_ms)]
        if transactions != self._kept:
            update_state(stuck_transactions=transactions)
            self._kept = transactions

    def _of_this_turn(self, places: list[TopicPartition]) -> list[TopicPartition]:
        begin = self._turn if self._turn < len(places) else 0
        chosen = places[begin : begin + PARTITIONS_PER_LOOK]
        self._turn = begin + len(chosen)
        return chosen

    def _transactions(
        self, stuck: list[TopicPartition], ends: Mapping[TopicPartition, int], at_ms: int
    ) -> Iterator[StuckTransaction]:
        for topic, number in stuck:
            try:
                producers = self._gateway.of_topic(topic, [number]).producers
            except ClusterUnreachableError:
                raise
            except GatewayError:
                continue
            who = {producer.producer_id for producer in producers if producer.open_from is not None}
            known = self._gateway.transactions(who)
            end = {number: ends[topic, number]}
            for transaction in open_transactions(topic, producers, known, dict(end), at_ms):
                if unended := stuck_transaction(topic, transaction, at_ms):
                    yield unended


def tier(context: TierContext) -> TierLook:
    return TierLook(TransactionCollector(context.gateway.producers, lambda: context.topics, context.clock_ms).look)
