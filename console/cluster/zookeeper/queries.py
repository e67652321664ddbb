"""What the pages show of the ensemble, from what the collector wrote."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from console.cluster.zookeeper.ensemble import size_advice
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.state.clusters.models import ClusterState
from console.state.clusters.queries import cluster_state

MODE_TONES = {"leader": "ok", "standalone": "ok", "follower": "ok", "observer": "plain"}


@dataclass(frozen=True, slots=True)
class ShownMember:
    """One server as the collector last saw it."""

    seen: ZooKeeperView

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "ShownMember":
        """Return the stored member; fields that an older collector lacked are unknown."""
        known = {field.name for field in fields(ZooKeeperView)}
        return cls(ZooKeeperView(**{name: value for name, value in stored.items() if name in known}))

    @property
    def name(self) -> str:
        return self.seen.address if self.seen.number is None else f"server {self.seen.number}"

    @property
    def tone(self) -> str:
        return "critical" if self.seen.error else MODE_TONES.get(self.seen.mode, "warning")

    @property
    def word(self) -> str:
        return "down" if self.seen.error else self.seen.mode

    @property
    def is_voter(self) -> bool:
        """Whether the member votes; a single server does, and one of unknown role counts as a voter."""
        return self.seen.role != "observer" and self.seen.mode != "observer"


def shown_members(state: ClusterState) -> list[ShownMember]:
    return [ShownMember.of(stored) for stored in state.zookeeper]


def ensemble_facts(state: ClusterState | None = None) -> dict[str, object]:
    """Return what the table of members and the line above it show."""
    state = state or cluster_state()
    members = shown_members(state)
    voters = [member for member in members if member.is_voter]
    serving = sum(not voter.seen.error for voter in voters)
    leader = next((member for member in members if member.seen.mode in ("leader", "standalone")), None)
    quorum = len(voters) // 2 + 1
    return {
        "cluster": state,
        "members": members,
        "voter_count": len(voters),
        "serving_count": serving,
        "quorum": quorum,
        "spare": serving - quorum,
        "size_advice": size_advice(len(voters)),
        "leader": leader,
        #: The figures of the whole ensemble are the leader's; unknown without one.
        "whole": leader.seen if leader else ZooKeeperView(""),
    }
