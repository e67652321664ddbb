"""Aborting a transaction that hangs, in one partition, as a plan. Pure."""

from collections.abc import Iterable

from console.cluster.producers.standing import OpenTransaction, TransactionStanding
from console.kit.gateway.commands import shell_command
from console.kit.plans.plan import Plan, PlanLine

ABORT = "abort transaction"


def abort_plan(topic: str, found: OpenTransaction, bootstrap_servers: str, zookeeper: str) -> Plan:
    """Only what no coordinator will end is aborted by hand: the other partitions of a living one might be committed."""
    producer = found.producer
    place = f"{topic}-{producer.partition}"
    return Plan(
        action=ABORT,
        object_type="topic",
        object_name=topic,
        lines=(
            PlanLine(
                f"transaction of producer {producer.producer_id} in {place}", f"open from {found.open_from}", "aborted"
            ),
        ),
        read=(
            f"producer={producer.producer_id}",
            f"epoch={producer.epoch}",
            f"from={found.open_from}",
            f"coordinator_epoch={producer.coordinator_epoch}",
            f"standing={found.standing}",
        ),
        touches=tuple(_touches(place, found)),
        losses=(
            f"What producer {producer.producer_id} wrote to {place} in this transaction, from offset {found.open_from} "
            "on, is never shown to who reads committed records.",
        ),
        command=shell_command(
            "kafka-transactions",
            bootstrap_servers,
            {
                "topic": topic,
                "partition": producer.partition,
                "start-offset": found.open_from,
                "zookeeper": zookeeper or None,
            },
            subcommand="abort",
        ),
        typed_name=place,
        obstacle="" if found.standing is TransactionStanding.HANGING else found.sentence,
    )


def _touches(place: str, found: OpenTransaction) -> Iterable[str]:
    yield (
        f"Who reads committed records stands at offset {found.open_from} of {place} now, and goes on from there at "
        f"once; {found.waits_in_words} wait behind it, those of other producers among them."
    )
    yield "Compaction of the partition goes on behind it, too."
    yield "If its producer is still alive, what it writes next is refused: it has to begin anew."
