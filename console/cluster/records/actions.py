"""Producing a record: done, and in the audit whatever the answer. What is in the record is not: it may be a secret.

Who reads records of which topic is counted there too.
"""

from collections.abc import Collection, Mapping

from django.contrib.auth.models import User

from console.cluster.records.copying import print_of
from console.kit.audit.record import record_event
from console.kit.audit.tally import count_event
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.gateway.records.interface import Headers
from console.kit.plans.apply import ask_rules, carry_out
from console.kit.plans.plan import Confirmation, Plan, PlanLine
from console.state.clusters.access import refusal_to_write
from console.state.clusters.models import Topic

ACTION = "produce record"
READ = "read records"


def produce_plan(topic: Topic, partition: int | None, offsets: Mapping[str, int | None], print_: str) -> Plan:
    """Plan a record. `offsets` are stored in the audit; the record's print is only confirmed, as is the topic's id."""
    place = PlanLine("record", None, f"partition {'by key' if partition is None else partition}")
    lines = (place, *(PlanLine(name, None, "null" if count is None else count) for name, count in offsets.items()))
    return Plan(ACTION, "topic", topic.name, lines, (topic.topic_id, print_), losses=(), safe_because="")


def do_produce(
    actor: User, topic: Topic, partition: int | None, key: bytes | None, value: bytes | None, headers: Headers
) -> tuple[int, int]:
    """Append the record; its partition and offset. Raises NotConfirmedError, GatewayError."""
    after = {
        "key_bytes": None if key is None else len(key),
        "value_bytes": None if value is None else len(value),
        "headers": len(headers),
    }
    ask_rules(actor, produce_plan(topic, partition, after, print_of(key, value, headers)))
    try:
        place = _append(topic, partition, key, value, headers)
    except GatewayError as error:
        result = "refused" if isinstance(error, RefusedError) else "failed"
        record_event(actor, ACTION, "topic", topic.name, after=after, result=result, detail=str(error))
        raise
    record_event(actor, ACTION, "topic", topic.name, after={"partition": place[0], "offset": place[1], **after})
    return place


def do_append(
    actor: User,
    plan: Plan,
    topic: Topic,
    partition: int | None,
    key: bytes | None,
    value: bytes | None,
    headers: Headers,
    confirmation: Confirmation,
) -> tuple[int, int]:
    """Append the planned record, and return its partition and offset. Raises NotConfirmedError, GatewayError."""
    places: list[tuple[int, int]] = []

    def append() -> None:
        places.append(_append(topic, partition, key, value, headers))

    carry_out(actor, plan, confirmation, append)
    return places[0]


def _append(
    topic: Topic, partition: int | None, key: bytes | None, value: bytes | None, headers: Headers
) -> tuple[int, int]:
    """Append a record, the console's only way to do so; views have checked the person's rights before."""
    if refusal := refusal_to_write(topic):
        raise RefusedError("INTERNAL_TOPIC", refusal)
    return cluster_gateway().produce_record(topic.name, partition, key, value, headers)


def count_reading(person: User, topic: Topic, partitions: Collection[int]) -> None:
    """Record in the audit what was read; without partitions nothing was."""
    if partitions:
        span = (min(partitions), max(partitions))
        count_event(person, READ, "topic", topic.name, partitions=span, result="done")
