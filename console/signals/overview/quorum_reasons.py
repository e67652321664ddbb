"""Troubles of the KRaft quorum as sentences. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from console.kit.common.figures import grouped
from console.signals.overview.health import HealthLevel, HealthReason
from console.signals.overview.next_action import NextAction


def quorum_reasons(quorum: Mapping[str, Any] | None) -> Iterable[HealthReason]:
    """Return reasons. `quorum`: the fields of a QuorumSummary; None or empty: there is none, or it is unknown."""
    if not quorum:
        return
    behind, count = quorum["behind"], quorum["voter_count"]
    evidence = f"{count - len(behind)} of {count} voters are caught up, epoch {quorum['leader_epoch']}"
    if not quorum["is_writable"]:
        cause = "has no leader" if quorum["leader_id"] is None else "has no majority of voters that fetch"
        text = f"The KRaft quorum {cause}: no topic, setting or leader can be changed."
        action = NextAction("Start the controllers that are down; read their logs", "quorum")
        yield HealthReason(HealthLevel.CRITICAL, "KRaft quorum", text, action, evidence, key="quorum")
    elif behind:
        named, verb = ", ".join(map(str, behind)), "is" if len(behind) == 1 else "are"
        text = f"Voter{'' if len(behind) == 1 else 's'} {named} of the KRaft quorum {verb} behind the leader."
        action = NextAction("See whether it runs, and how its lag moves", "quorum")
        if quorum["largest_lag"] is not None:
            evidence += f", largest lag {grouped(quorum['largest_lag'])} records"
        parts = tuple(map(str, behind))
        yield HealthReason(
            HealthLevel.WARNING, "KRaft quorum", text, action, evidence, key="quorum behind", parts=parts
        )
