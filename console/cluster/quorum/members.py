"""The members of a KRaft quorum with what an operator looks for: role, lag, and how long ago one fetched. Pure."""

from dataclasses import dataclass

from console.kit.gateway.quorum.interface import QuorumReplicaView, QuorumView

#: The default of controller.quorum.fetch.timeout.ms: a voter silent for longer asks for an election.
SILENT_MS = 2_000
#: A replica that last had all records longer ago is behind. Idle followers fetch twice a second.
BEHIND_MS = 5_000


@dataclass(frozen=True, slots=True)
class QuorumMember:
    """A quorum member: `lag` in records and the times in ms are None if the leader does not know them."""

    replica: QuorumReplicaView
    role: str
    lag: int | None
    fetched_ms_ago: int | None
    caught_up_ms_ago: int | None

    @property
    def is_silent(self) -> bool:
        return self.role != "leader" and (self.fetched_ms_ago is None or self.fetched_ms_ago > SILENT_MS)

    @property
    def is_behind(self) -> bool:
        """Whether it lacks records that the leader has had for long, or does not fetch."""
        is_late = self.caught_up_ms_ago is None or self.caught_up_ms_ago > BEHIND_MS
        return self.is_silent or (self.role != "leader" and bool(self.lag) and is_late)


@dataclass(frozen=True, slots=True)
class QuorumSummary:
    """The quorum in five figures. `largest_lag` in records is None while no voter's is known; `behind` are voters."""

    leader_id: int | None
    leader_epoch: int
    voter_count: int
    largest_lag: int | None
    behind: tuple[int, ...]
    is_writable: bool


def summary_of(view: QuorumView, now_ms: int) -> QuorumSummary:
    members = members_of(view, now_ms)
    voters = [member for member in members if member.role != "observer"]
    lags = [member.lag for member in voters if member.lag is not None]
    return QuorumSummary(
        view.leader_id,
        view.leader_epoch,
        len(view.voters),
        max(lags, default=None),
        tuple(member.replica.replica_id for member in voters if member.is_behind),
        is_writable(view, members),
    )


def members_of(view: QuorumView, now_ms: int) -> list[QuorumMember]:
    """Return members, voters first, each group by id.

    Times are counted from the leader's clock where it tells it, as the moments are the leader's; else from `now_ms`.
    """
    leader = next((voter for voter in view.voters if voter.replica_id == view.leader_id), None)
    now_ms = (leader.fetched_at_ms if leader else None) or now_ms
    voters = [_member(voter, view, "voter", now_ms) for voter in view.voters]
    observers = [_member(observer, view, "observer", now_ms) for observer in view.observers]
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
    """Return True if a leader and a majority of the voters keep up: only then is metadata changed."""
    if view.leader_id is None:
        return False
    fetching = sum(not member.is_silent for member in members if member.role != "observer")
    return fetching * 2 > len(view.voters)
