"""Troubles of Kafka Connect as sentences: who does not answer, which connector failed. Pure."""

from collections.abc import Iterable, Sequence

from console.signals.overview.health import Action, Level, Reason, TroubledConnector

#: Connectors with a reason of their own; the rest are counted in one.
NAMED_MAX = 4
_NAME_LENGTH_MAX = 40
_ERROR_LENGTH_MAX = 300


def connector_reasons(connectors: Sequence[TroubledConnector], count: int) -> Iterable[Reason]:
    """`connectors` are the first to have failed of `count`."""
    yield from map(_failed, connectors[:NAMED_MAX])
    more = count - min(NAMED_MAX, len(connectors))
    if more > 0:
        text = f"{more} more connector{' has' if more == 1 else 's have'} failed."
        action = Action("See those that failed", "connectors")
        yield Reason(Level.WARNING, "Connectors", text, action, key="more connectors", weight=more)


def silence_reasons(error: str) -> Iterable[Reason]:
    if error:
        action = Action("See which worker answers; start one", "connectors")
        text = "Kafka Connect cannot be asked: what its connectors do is not known."
        yield Reason(Level.WARNING, "Kafka Connect", text, action, error[:_ERROR_LENGTH_MAX], key="connect silent")


def _failed(each: TroubledConnector) -> Reason:
    name = each.name if len(each.name) <= _NAME_LENGTH_MAX else f"{each.name[:_NAME_LENGTH_MAX]}…"
    if each.is_whole:
        text = f"Connector {name} failed: it does nothing until it is restarted."
    else:
        tasks = f"{each.failed_count} of its {each.task_count} tasks" if each.task_count > 1 else "its task"
        text = f"Connector {name} failed in {tasks}: {'they do' if each.failed_count > 1 else 'it does'} nothing more."
    action = Action("Read why; cure the cause, then restart what failed", "connector", each.name)
    evidence = " · ".join(filter(None, [each.error, each.place]))
    weight = each.failed_count + each.is_whole
    key = f"connector:{each.name}"
    subject = f"Connector {name}"
    return Reason(
        Level.WARNING, subject, text, action, evidence, each.since_ms, key, weight, about="process", name=each.name
    )
