"""Troubles of Kafka Connect as sentences: who does not answer, which connector failed or does not read. Pure."""

from collections.abc import Iterable, Sequence

from console.signals.overview.health import HealthLevel, HealthReason, TroubledConnector
from console.signals.overview.next_action import NextAction

#: Connectors with a reason of their own; the rest are counted in one.
NAMED_MAX = 4
_NAME_LENGTH_MAX = 40
_ERROR_LENGTH_MAX = 300
#: Topics in the evidence of a sink that does not read them.
_TOPICS_NAMED = 3


def connector_reasons(connectors: Sequence[TroubledConnector], count: int) -> Iterable[HealthReason]:
    """`connectors` are the first of `count`: those that failed, then those that do not read."""
    yield from map(_reason, connectors[:NAMED_MAX])
    more = count - min(NAMED_MAX, len(connectors))
    if more > 0:
        text = f"{more} more connector{' is' if more == 1 else 's are'} in trouble."
        action = NextAction("See which they are", "connectors")
        yield HealthReason(HealthLevel.WARNING, "Connectors", text, action, key="more connectors", weight=more)


def silence_reasons(error: str) -> Iterable[HealthReason]:
    if error:
        action = NextAction("See which worker answers; start one", "connectors")
        text = "Kafka Connect does not answer: the state of its connectors is unknown."
        yield HealthReason(
            HealthLevel.WARNING, "Kafka Connect", text, action, error[:_ERROR_LENGTH_MAX], key="connect silent"
        )


def _reason(connector: TroubledConnector) -> HealthReason:
    name = connector.name if len(connector.name) <= _NAME_LENGTH_MAX else f"{connector.name[:_NAME_LENGTH_MAX]}…"
    if connector.unassigned:
        return _not_reading(connector, name)
    if connector.is_whole:
        text = f"Connector {name} failed: it does nothing until it is restarted."
    else:
        tasks = (
            f"{connector.failed_count} of its {connector.task_count} tasks" if connector.task_count > 1 else "its task"
        )
        they_do = "they do" if connector.failed_count > 1 else "it does"
        text = f"Connector {name} failed in {tasks}: {they_do} nothing more."
    action = NextAction("Read why; cure the cause, then restart what failed", "connector", connector.name)
    evidence = " · ".join(filter(None, [connector.place, connector.error]))
    weight = connector.failed_count + connector.is_whole
    key = f"connector:{connector.name}"
    subject = f"Connector {name}"
    return HealthReason(
        HealthLevel.WARNING,
        subject,
        text,
        action,
        evidence,
        connector.since_ms,
        key,
        weight,
        about="process",
        name=connector.name,
    )


def _not_reading(connector: TroubledConnector, name: str) -> HealthReason:
    topics, count = connector.unassigned, len(connector.unassigned)
    of_all = "any topic" if count == connector.wanted_count else f"{count} of its {connector.wanted_count} topics"
    shown = ", ".join(topic[:_NAME_LENGTH_MAX] for topic in topics[:_TOPICS_NAMED])
    more = f" and {count - _TOPICS_NAMED} more" if count > _TOPICS_NAMED else ""
    return HealthReason(
        HealthLevel.WARNING,
        f"Connector {name}",
        f"Connector {name} runs, and does not read {of_all}: no member of its group holds their partitions.",
        NextAction("See which topics; allow its login READ on them", "connector", connector.name),
        f"not read: {shown}{more}",
        connector.since_ms,
        f"connector:{connector.name}",
        count,
        about="process",
        name=connector.name,
    )
