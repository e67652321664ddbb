"""The members of a KRaft quorum with what an operator looks for: role, lag, and how long ago one fetched. Pure."""

from dataclasses import dataclass

from console.kit.gateway.quorum.interface import QuorumReplicaView, QuorumView

#: The default of controller.quorum.fetch.timeout.ms: a voter silent for longer asks for an election.
SILENT_MS = 2_000


@dataclass(frozen=True, slots=True)
class QuorumMember:
    """`lag` in records, and the times in ms, are None where the leader does not know them."""

    replica: QuorumReplicaView
    role: str
    lag: int | None
    fetched_ms_ago: int | None
    caught_up_ms_ago: int | None

    @property
    def is_silent(self) -> bool:
        return self.role != "leader" and (self.fetched_ms_ago is None or self.fetched_ms_ago > SILENT_MS)


def members_of(view: QuorumView, now_ms: int) -> list[QuorumMember]:
    """Voters first, each group by id."""
    voters = [_member(each, view, "voter", now_ms) for each in view.voters]
    observers = [_member(each, view, "observer", now_ms) for each in view.observers]
    by_id = (sorted(group, key=lambda member: member.replica.replica_id) for group in (voters, observers))
    return [member for group in by_id for member in group]


def _member(replica: QuorumReplicaView, view: QuorumView, role: str, now_ms: int) -> QuorumMember:
    is_leader = replica.replica_id == view.leader_id
    return QuorumMember(
        replica,
        "leader" if is_leader else role,
        view.lag_of(replica),
        _ago(replica.fetched_at_ms, now_ms),
        _ago(replica.caught_up_at_ms, now_ms),
    )


def _ago(at_ms: int | None, now_ms: int) -> int | None:
    return None if at_ms is None else max(0, now_ms - at_ms)


def is_writable(view: QuorumView, members: list[QuorumMember]) -> bool:
    """True if a leader and a majority of the voters keep up: only then is metadata changed."""
    if view.leader_id is None:
        return False
    fetching = sum(not each.is_silent for each in members if each.role != "observer")
    return fetching * 2 > len(view.voters)
