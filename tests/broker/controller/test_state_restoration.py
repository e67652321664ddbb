"""Who leads a partition whose state was removed from ZooKeeper, by what brokers know of it."""

import itertools
import random

import pytest

from broker.common.cluster import NO_LOG, LastRole, LeaderAndIsr, LogLoss
from broker.common.types import NO_BROKER
from broker.controller.election import next_state, preferred_state, state_after_loss, unclean_state
from broker.controller.state_restoration import furthest_state, restored_state
from tests.broker.controller.story import Story

BROKERS = (1, 2, 3)
WAITING = LeaderAndIsr(NO_BROKER, 6, (), 2, 1)


class Replicated:
    """One partition's logs, as leaders, followers and controllers change them: a record is (epoch, number)."""

    def __init__(self, seed: int):
        self._dice = random.Random(seed)
        self.logs: dict[int, list[tuple[int, int]]] = {broker_id: [] for broker_id in BROKERS}
        self.leader, self.epoch, self.isr = 1, 0, set(BROKERS)
        self.acknowledged: list[tuple[int, int]] = []
        self._records = 0

    def step(self) -> None:
        steps = (self._append, self._append, self._fetch, self._fetch, self._shrink, self._grow, self._fail)
        self._dice.choice(steps)()
        self._acknowledge()

    def _acknowledge(self) -> None:
        """Records that this leader appended, and whoever is in sync has: an earlier leader's promise ended with it."""
        leaders = self.logs[self.leader]
        end = min(_common_length(self.logs[broker_id], leaders) for broker_id in self.isr)
        while end > len(self.acknowledged) and leaders[end - 1][0] != self.epoch:
            end -= 1
        if end > len(self.acknowledged):
            self.acknowledged = leaders[:end]

    def _append(self) -> None:
        self._records += 1
        self.logs[self.leader].append((self.epoch, self._records))

    def _fetch(self) -> None:
        """A follower truncates what its leader does not have, and takes one record or all."""
        follower = self._dice.choice([broker_id for broker_id in BROKERS if broker_id != self.leader])
        leaders = self.logs[self.leader]
        same = _common_length(self.logs[follower], leaders)
        self.logs[follower] = leaders[: self._dice.choice((same + 1, len(leaders)))]

    def _shrink(self) -> None:
        self.isr = {member for member in self.isr if member == self.leader or self._dice.random() < 0.6}

    def _grow(self) -> None:
        """A follower joins when it has all the leader has: never with what it has not fetched in this epoch."""
        self.isr |= {broker_id for broker_id in BROKERS if self.logs[broker_id] == self.logs[self.leader]}

    def _fail(self) -> None:
        successors = sorted(self.isr - {self.leader})
        if successors:
            former, self.leader = self.leader, self._dice.choice(successors)
            self.isr.discard(former)
            self.epoch += 1

    def extents(self) -> dict[int, tuple[int, int]]:
        return {broker_id: (log[-1][0] if log else -1, len(log)) for broker_id, log in self.logs.items()}


def _common_length(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("seed", range(300))
def test_the_log_that_reaches_furthest_has_every_acknowledged_record(seed):
    partition = Replicated(seed)
    for _ in range(random.Random(seed).randint(1, 80)):
        partition.step()
    for assignment in itertools.permutations(BROKERS):
        elected = furthest_state(assignment, WAITING, BROKERS, 2, partition.extents())
        assert partition.logs[elected.leader][: len(partition.acknowledged)] == partition.acknowledged
        assert (elected.isr, elected.leader_epoch) == ((elected.leader,), 7)


def test_nobody_leads_before_the_logs_of_all_replicas_are_known_whoever_is_online():
    extents = {1: (4, 100), 2: (5, 10), 3: (4, 200)}
    for known in itertools.chain.from_iterable(itertools.combinations(BROKERS, size) for size in range(3)):
        part = {broker_id: extents[broker_id] for broker_id in known}
        assert furthest_state(BROKERS, WAITING, BROKERS, 2, part) is None
    assert furthest_state(BROKERS, WAITING, {1, 3}, 2, extents) is None, "who has all is away"
    assert furthest_state(BROKERS, WAITING, {2}, 2, extents).leader == 2, "a log is known that was away since"
    assert furthest_state((3, 1), WAITING, {1, 3}, 2, {1: (4, 9), 3: (4, 9)}).leader == 3
    assert furthest_state(BROKERS, LeaderAndIsr(NO_BROKER, 6, (1,), 2, 1), BROKERS, 2, extents) is None


def test_a_state_without_a_known_isr_stays_without_a_leader_but_for_an_unclean_election():
    for size in range(4):
        for online in itertools.combinations(BROKERS, size):
            assert next_state(BROKERS, WAITING, online, 2) is None
            assert preferred_state(BROKERS, WAITING, online, 2) is None
    assert state_after_loss(WAITING, LogLoss(1, -1, NO_LOG), is_noted=True).isr == ()
    elected = unclean_state(BROKERS, WAITING, {1, 3}, 2, {3: (4, 200)})
    assert (elected.leader, elected.leader_recovery_state) == (3, 1)


def test_a_role_that_a_broker_knows_is_restored_and_a_log_alone_tells_no_isr():
    first = LeaderAndIsr(1, 0, BROKERS, 2, 0)
    assert restored_state(BROKERS, first, LastRole(5), BROKERS, 2) == LeaderAndIsr(NO_BROKER, 6, (), 2, 0)
    assert restored_state(BROKERS, first, LastRole(5, 2, (2, 3)), BROKERS, 2) == LeaderAndIsr(2, 6, (2,), 2, 0)
    assert restored_state(BROKERS, first, LastRole(5, 2, (2, 3)), {1, 3}, 2) == LeaderAndIsr(NO_BROKER, 6, (2, 3), 2, 0)
    assert restored_state(BROKERS, first, LastRole(5, 9, (9,)), BROKERS, 2).isr == ()


def test_a_first_state_is_later_than_no_role_of_its_own_epoch():
    first = LeaderAndIsr(1, 0, BROKERS, 2, 0)
    assert restored_state(BROKERS, first, LastRole(0), BROKERS, 2).isr == ()
    assert restored_state(BROKERS, first, LastRole(0, 2, (2, 3)), BROKERS, 2).leader == 2
    assert restored_state(BROKERS, first.at_version(1), LastRole(0), BROKERS, 2) is None


def test_a_role_told_after_a_log_is_restored_if_it_is_of_the_latest_epoch():
    assert restored_state(BROKERS, WAITING, LastRole(5, 2, (2, 3)), BROKERS, 2) == LeaderAndIsr(2, 7, (2,), 2, 1)
    assert restored_state(BROKERS, WAITING, LastRole(4, 2, (2, 3)), BROKERS, 2) is None
    assert restored_state(BROKERS, WAITING, LastRole(5), BROKERS, 2) is None
    assert restored_state(BROKERS, LeaderAndIsr(1, 6, (1,), 2, 1), LastRole(5, 2, (2, 3)), BROKERS, 2) is None


@pytest.mark.parametrize("order", list(itertools.permutations(BROKERS)), ids=str)
@pytest.mark.parametrize("epoch", [0, 5])
def test_whoever_starts_first_the_replica_with_all_records_leads(order, epoch):
    """The logs end at 100 (broker 1), 90 and 40; all brokers start anew, one after the other."""
    ends = {1: 100, 2: 90, 3: 40}
    story = Story()
    for broker_id in BROKERS:
        story.run(f"up {broker_id} {10 + broker_id}")
    story.run("elect 1")
    story.run("topic t 0=1,2,3")
    story.run("resign")
    story.run("quietly cluster")
    story.run("remove-state t-0")
    story.run(f"quietly up {order[0]} {20 + order[0]}")
    story.run("elect 2")
    for number, broker_id in enumerate(order):
        incarnation = f"{broker_id}:{20 + broker_id}"
        if number:
            story.run(f"up {incarnation.replace(':', ' ')}")
        (state,) = story.states.values()
        assert state.leader == NO_BROKER
        if state.leader_epoch <= epoch:
            story.run(f"knows {incarnation} t-0 epoch={epoch} leader=-1")
        story.run(f"reaches {incarnation} t-0 {epoch}:{ends[broker_id]}")
    (state,) = story.states.values()
    assert (state.leader, state.isr) == (1, (1,))
    assert state.leader_epoch > epoch
