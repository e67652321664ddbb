"""Troubles of Kafka Connect as sentences: who does not answer, which connector failed. Pure."""

from collections.abc import Iterable, Sequence

from console.signals.overview.health import HealthLevel, HealthReason, TroubledConnector
from console.signals.overview.next_action import NextAction

#: Connectors with a reason of their own; the rest are counted in one.
NAMED_MAX = 4
_NAME_LENGTH_MAX = 40
_ERROR_LENGTH_MAX = 300


def connector_reasons(connectors: Sequence[TroubledConnector], count: int) -> Iterable[HealthReason]:
    """`connectors` are the first to have failed of `count`."""
    yield from map(_failed, connectors[:NAMED_MAX])
    more = count - min(NAMED_MAX, len(connectors))
    if more > 0:
        text = f"{more} more connector{' has' if more == 1 else 's have'} failed."
        action = NextAction("See those that failed", "connectors")
        yield HealthReason(HealthLevel.WARNING, "Connectors", text, action, key="more connectors", weight=more)


def silence_reasons(error: str) -> Iterable[HealthReason]:
    if error:
        action = NextAction("See which worker answers; start one", "connectors")
        text = "Kafka Connect cannot be asked: what its connectors do is not known."
        yield HealthReason(
            HealthLevel.WARNING, "Kafka Connect", text, action, error[:_ERROR_LENGTH_MAX], key="connect silent"
        )


def _failed(connector: TroubledConnector) -> HealthReason:
    name = connector.name if len(connector.name) <= _NAME_LENGTH_MAX else f"{connector.name[:_NAME_LENGTH_MAX]}…"
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
