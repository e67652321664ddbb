"""That a cluster cannot be read, as one sentence: what was tried, and how old the last data is. Pure."""

from collections.abc import Iterable

from console.kit.gateway.errors import OTHER
from console.signals.overview.health import HealthFacts, HealthLevel, HealthReason
from console.signals.overview.next_action import NextAction
from console.state.clusters.outage import Outage


def outage_reasons(facts: HealthFacts) -> Iterable[HealthReason]:
    """Yield one reason at most: the widest of the outages."""
    if facts.brokers_outage:
        yield _of_brokers(facts.brokers_outage, facts)
    elif facts.outage:
        text = f"The state of topics and partitions is unknown: {facts.outage.cause}"
        yield _unknown("Topics", text, NextAction("Read the log of the brokers", "processes"), facts.outage)
    elif facts.groups_outage:
        text = f"The state of consumer groups is unknown: {facts.groups_outage.cause}"
        yield _unknown(
            "Consumer groups", text, NextAction("Read the log of the brokers", "processes"), facts.groups_outage
        )


def _of_brokers(outage: Outage, facts: HealthFacts) -> HealthReason:
    text = f"The state of this cluster is unknown: {outage.cause}"
    if outage.cause.startswith(OTHER):
        action = NextAction("Point the console at its cluster again, or start afresh")
    elif facts.is_refused:
        action = NextAction("Mend the client configuration: it is read again by itself")
    elif facts.managed:
        action = NextAction("See which brokers run and start one", "processes")
    else:
        action = NextAction("See whether its brokers run, and whether this host reaches their addresses")
    return _unknown("Brokers", text, action, outage)


def _unknown(subject: str, text: str, action: NextAction, outage: Outage) -> HealthReason:
    since_ms = outage.seen_at_ms or None
    return HealthReason(
        HealthLevel.UNKNOWN, subject, text, action, outage.evidence, since_ms, f"{subject.lower()} unreachable"
    )
