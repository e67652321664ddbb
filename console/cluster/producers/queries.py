"""What the tab shows, asked of the cluster while it is drawn: producers, open transactions, who did not answer."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from console.cluster.producers.open_transactions import OpenTransaction, open_transactions
from console.kit.common.clock import now_ms, utc
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.producers.interface import ProducerView
from console.state.clusters.models import Partition, Topic

#: Partitions that are asked about for one page.
PARTITIONS_MAX = 2_000
#: Producers that are listed, those that wrote last; a file has all.
PRODUCERS_SHOWN = 200
OPEN_SHOWN = 200
TITLES = (
    "partition",
    "producer_id",
    "epoch",
    "last_sequence",
    "last_written",
    "coordinator_epoch",
    "open_from_offset",
    "standing",
    "transactional_id",
)


@dataclass(frozen=True, slots=True)
class Writers:
    """Producers of one topic. `open` are those of `producers` whose transaction is open."""

    producers: tuple[ProducerView, ...]
    open: list[OpenTransaction]
    silent: Mapping[int, str]
    untold: str
    left_out: int

    @property
    def newest(self) -> list[ProducerView]:
        return sorted(self.producers, key=lambda producer: -(producer.last_at_ms or 0))[:PRODUCERS_SHOWN]

    @property
    def silent_shown(self) -> list[tuple[int, str]]:
        return list(self.silent.items())[:5]

    def one(self, partition: int, open_from: int) -> OpenTransaction | None:
        return next(
            (
                transaction
                for transaction in self.open
                if (transaction.producer.partition, transaction.open_from) == (partition, open_from)
            ),
            None,
        )


def writers_of(gateway: ClusterGateway, topic: Topic, partitions: Iterable[int] | None = None) -> Writers:
    """Return the writers of all partitions, or of some. Raises GatewayError."""
    numbers = list(range(topic.partition_count) if partitions is None else partitions)
    view = gateway.producers.of_topic(topic.name, numbers[:PARTITIONS_MAX])
    who = {producer.producer_id for producer in view.producers if producer.open_from is not None}
    transactions = gateway.producers.transactions(who)
    rows = Partition.objects.filter(topic=topic, partition__in=numbers[:PARTITIONS_MAX])
    ends = dict(rows.values_list("partition", "next_offset"))
    open_ones = open_transactions(topic.name, view.producers, transactions, ends, now_ms())
    return Writers(view.producers, open_ones, view.silent, transactions.untold, max(0, len(numbers) - PARTITIONS_MAX))


def export_rows(writers: Writers, *, shows_ids: bool) -> Iterator[tuple[object, ...]]:
    """Yield rows. `shows_ids`: transactional ids may be named."""
    open_by = {
        (transaction.producer.partition, transaction.producer.producer_id): transaction for transaction in writers.open
    }
    for producer in writers.producers:
        open_transaction = open_by.get((producer.partition, producer.producer_id))
        transaction = open_transaction.transaction if open_transaction and shows_ids else None
        yield (
            producer.partition,
            producer.producer_id,
            producer.epoch,
            producer.last_sequence,
            utc(producer.last_at_ms) or producer.last_at_ms if producer.last_at_ms else None,
            producer.coordinator_epoch,
            producer.open_from,
            open_transaction.standing if open_transaction else "",
            transaction.transactional_id if transaction else "",
        )
