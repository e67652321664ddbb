"""A random walk of clients, failures and time over a few groups, judged by what must always hold. Seeds repeat."""

import random

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.states import GroupState
from tests.broker.coordinator.group.world import SentRequest, World, durable_state, read

NAMES = ["a", "b", "c", "d"]
PROTOCOLS = [("range",), ("range", "sticky"), ("sticky", "range")]
APPEND_ERRORS = [ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.MESSAGE_TOO_LARGE]


@pytest.mark.parametrize("seed", range(25))
def test_random_walk_keeps_every_invariant(seed: int):
    walk = Walk(random.Random(seed))
    for _ in range(250):
        walk.step()
        walk.check()
    walk.world.append_error = walk.world.commit_error = None
    walk.world.advance(3_600_000)
    walk.check_rest()


class Walk:
    def __init__(self, chance: random.Random):
        self.chance = chance
        self.world = World(GroupConfig(group_max_size=3 if chance.random() < 0.3 else 100))
        self.hung_up: set[int] = set()
        self.acts = [
            *[self.join_somebody] * 8,
            *[self.sync] * 6,
            *[self.heartbeat] * 3,
            *[self.tick] * 4,
            *[self.commit] * 2,
            *[self.go_through_a_rebalance] * 2,
            self.leave,
            self.hang_up,
            self.fail,
            self.delete,
            self.restart,
        ]

    def step(self) -> None:
        self.chance.choice(self.acts)()

    def who(self) -> tuple[str, str]:
        return self.chance.choice("gh"), self.chance.choice(NAMES)

    def join_somebody(self) -> None:
        self.join(*self.who())

    def join(self, group_id: str, name: str) -> SentRequest:
        return self.world.join(
            group_id,
            name,
            version=self.chance.choice([3, 5, 9]),
            session_ms=self.chance.choice([6_000, 30_000]),
            rebalance_ms=self.chance.choice([5_000, 20_000]),
            protocols=self.chance.choice(PROTOCOLS),
            instance_id="static-" + name if name in "cd" else None,
            member_id="" if self.chance.random() < 0.3 else None,
        )

    def sync(self) -> None:
        group_id, name = self.who()
        self.world.sync(group_id, name, {name: f"for {name}" for name in NAMES})

    def go_through_a_rebalance(self) -> None:
        """What clients do when nothing interferes, so that groups are stable often enough."""
        group_id = self.chance.choice("gh")
        for name in self.chance.sample(NAMES, 3):
            sent = self.join(group_id, name)
            if sent.error is ErrorCode.MEMBER_ID_REQUIRED:
                self.join(group_id, name)
        self.world.advance(3_000)
        for name in NAMES:
            self.world.sync(group_id, name, {name: f"for {name}" for name in NAMES})

    def heartbeat(self) -> None:
        self.world.heartbeat(*self.who())

    def commit(self) -> None:
        group_id, name = self.who()
        self.world.commit(group_id, name, {("t", self.chance.randrange(3)): self.chance.randrange(100)})

    def leave(self) -> None:
        self.world.leave(*self.who())

    def tick(self) -> None:
        self.world.advance(self.chance.choice([0, 100, 1_000, 3_000, 7_000]))

    def hang_up(self) -> None:
        parked = [sent for sent in self.world.sent.values() if sent.is_parked]
        if parked:
            sent = self.chance.choice(parked)
            self.hung_up.add(sent.token)
            self.world.hang_up(sent)

    def fail(self) -> None:
        if self.chance.random() < 0.5:
            self.world.append_error = self.chance.choice(APPEND_ERRORS)
        else:
            self.world.commit_error = ErrorCode.REQUEST_TIMED_OUT

    def delete(self) -> None:
        self.world.delete(self.who()[0])

    def restart(self) -> None:
        if self.chance.random() < 0.3:
            self.world.restart()

    # -- what must hold -----------------------------------------------------------------------------------------------

    def check(self) -> None:
        self.check_log()
        self.check_parked()
        for group in self.world.coordinator.groups.values():
            check_group(group)
            self.check_deadlines(group)

    def check_log(self) -> None:
        fresh = GroupCoordinator(self.world.config, str)
        read(self.world.log, fresh)
        assert durable_state(fresh) == self.world.durable_state()

    def check_parked(self) -> None:
        """A request without an answer is parked exactly once, unless its connection has gone."""
        waiting = {token for token, sent in self.world.sent.items() if sent.is_parked} - self.hung_up
        parked = [
            token
            for group in self.world.coordinator.groups.values()
            for token in [*(join.token for join in group.awaiting_join.values()), *group.awaiting_sync.values()]
        ]
        assert sorted(parked) == sorted(waiting)

    def check_deadlines(self, group: ClassicGroup) -> None:
        """Nothing waits for ever: every member has a session, every phase an end."""
        keys = set(self.world.coordinator._timers._deadlines)
        ids = {key.member_id for key in keys if key.group_id == group.group_id and key.kind.value == "session"}
        assert {*group.members, *group.pending_joins} <= ids
        kinds = {key.kind.value for key in keys if key.group_id == group.group_id}
        if group.state is GroupState.PREPARING_REBALANCE:
            assert "join" in kinds
        if group.pending_syncs:
            assert "sync" in kinds

    def check_rest(self) -> None:
        """After an hour without clients nobody is left, and nothing that would need the time."""
        self.check()
        assert not any(sent.is_parked for sent in self.world.sent.values() if sent.token not in self.hung_up)
        assert {group.state for group in self.world.coordinator.groups.values()} <= {GroupState.EMPTY}
        assert self.world.coordinator._timers.next_deadline_ms() is None


def check_group(group: ClassicGroup) -> None:
    members = group.members
    assert group.proposal is None
    assert (group.leader_id in members) if members else (group.leader_id is None)
    assert {*group.awaiting_join, *group.awaiting_sync, *group.pending_syncs} <= members.keys()
    assert not group.pending_joins & members.keys()
    statics = {m.group_instance_id: m.member_id for m in members.values() if m.group_instance_id is not None}
    assert group.static_members == statics
    names = {name for member in members.values() for name in member.protocols}
    for name in names:
        assert group._support[name] == sum(name in member.protocols for member in members.values())
    assert not members or any(group._support[name] == len(members) for name in names)
    check_state(group)


def check_state(group: ClassicGroup) -> None:
    if group.state is GroupState.STABLE:
        assert [member.member_id for member in group.metadata.members] == list(group.members)
        assert group.generation_id == group.metadata.generation_id
    if group.state is GroupState.COMPLETING_REBALANCE:
        assert group.generation_id > (group.metadata.generation_id if group.metadata else 0)
    else:
        assert not group.awaiting_sync
    if group.state is GroupState.EMPTY:
        assert not members_or_waiting(group)
    if group.state is not GroupState.PREPARING_REBALANCE:
        assert not group.awaiting_join
        assert group.initial_delay is None


def members_or_waiting(group: ClassicGroup) -> set[str]:
    return {*group.members, *group.awaiting_join, *group.awaiting_sync}
