"""Aborting a transaction that hangs, in one partition, as a plan. Pure."""

from collections.abc import Iterable

from console.cluster.producers.open_transactions import OpenTransaction, OpenTransactionState
from console.kit.gateway.commands import shell_command
from console.kit.plans.plan import Plan, PlanLine

ABORT = "abort transaction"


def abort_plan(topic: str, transaction: OpenTransaction, bootstrap_servers: str, zookeeper: str) -> Plan:
    """Plan aborting a transaction by hand; only for one that no coordinator will end, whose other partitions cannot be
    committed.
    """
    producer = transaction.producer
    place = f"{topic}-{producer.partition}"
    return Plan(
        action=ABORT,
        object_type="topic",
        object_name=topic,
        lines=(
            PlanLine(
                f"transaction of producer {producer.producer_id} in {place}",
                f"open from {transaction.open_from}",
                "aborted",
            ),
        ),
        read=(
            f"producer={producer.producer_id}",
            f"epoch={producer.epoch}",
            f"from={transaction.open_from}",
            f"coordinator_epoch={producer.coordinator_epoch}",
            f"standing={transaction.standing}",
        ),
        touches=tuple(_touches(place, transaction)),
        losses=(
            f"Readers of committed records never see what producer {producer.producer_id} wrote to {place} "
            f"in this transaction, from offset {transaction.open_from} on.",
        ),
        command=shell_command(
            "kafka-transactions",
            bootstrap_servers,
            {
                "topic": topic,
                "partition": producer.partition,
                "start-offset": transaction.open_from,
                "zookeeper": zookeeper or None,
            },
            subcommand="abort",
        ),
        typed_name=place,
        obstacle="" if transaction.standing is OpenTransactionState.HANGING else transaction.sentence,
    )


def _touches(place: str, transaction: OpenTransaction) -> Iterable[str]:
    yield (
        f"Readers of committed records wait at offset {transaction.open_from} of {place}, then go on from there; "
        f"{transaction.waiting_text} wait behind it, those of other producers among them."
    )
    yield "Compaction of the partition goes on behind it, too."
    yield "If its producer is still alive, its next write is refused: it has to restart."
