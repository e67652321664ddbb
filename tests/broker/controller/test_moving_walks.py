"""Partitions move while brokers and controllers die in the middle of everything: nothing is lost, and every move ends.

Brokers are more than a list here: each takes roles as it is told, refuses what is older than what it knows, and carries
out StopReplica late, perhaps after the controller that sent it has been replaced.
"""

import random
from typing import NamedTuple

import pytest

from broker.common.cluster import EPOCH_DURING_DELETE
from broker.common.types import TopicPartition
from broker.controller import effects as do
from broker.controller import events as told
from broker.controller.controller import Controller
from tests.broker.controller.test_random_walks import Walk

BROKERS = (1, 2, 3, 4)


class _Crash(Exception):
    """The controller's process dies between two effects."""


class _Role(NamedTuple):
    """What a broker was last told of a partition it hosts."""

    leader_epoch: int
    replicas: tuple[int, ...]


class _Stop(NamedTuple):
    """A StopReplica on its way."""

    effect: do.SendStopReplica
    broker_epoch: int


class MovingWalk(Walk):
    """A walk with four brokers, moves, elections on request and controllers that fail between two effects."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self._dice = random.Random(seed + 10_000)
        self._on_their_way: list[_Stop] = []
        self._roles: dict[tuple[int, TopicPartition], _Role] = {}
        self._newest_controller: dict[int, int] = {}
        self._may_crash = True
        self._command = ""
        self._epoch = 1
        self.moves_begun = 0
        self.crashes = 0

    def run(self, command: str) -> list[str]:
        self._command = command
        try:
            lines = super().run(command)
        except _Crash:
            self.crashes += 1
            self.controller = Controller()
            self._to_read.clear()
            return ["crash"]
        self._check_leaders()
        return lines

    def step_at_random(self) -> None:
        steps = "come come go topic grow delete answer answer answer elect isr isr isr isr isr"
        more = "move move move call_off redirect request_moves prefer tick"
        getattr(self, "_do_" + self._dice.choice(f"{steps} {more}".split()))()

    def settle(self) -> None:
        """Everybody comes back, every question is answered and every replica catches up."""
        self._may_crash = False
        for broker_id in BROKERS:
            self._come(broker_id)
        self.run("resign")
        self._epoch += 1
        self.run(f"elect {self._epoch}")
        self._read_request()
        for _ in range(3):
            self._catch_up()
            while self._on_their_way:
                self._do_answer()

    def _catch_up(self) -> None:
        for partition, state in sorted(self.states.items()):
            if state.has_leader and partition.topic not in self.to_delete:
                self.run(f"isr {partition} {','.join(map(str, self._in_reach(partition)))}")

    def _in_reach(self, partition: TopicPartition) -> list[int]:
        """Whom the leader can find in sync: replicas it was told of that host the partition and know its epoch.

        Nobody if the leader itself has not heard of the state that makes it leader: its own write would be refused.
        """
        state = self.states[partition]
        own = self._roles.get((state.leader, partition))
        if own is None or own.leader_epoch != state.leader_epoch:
            return []
        roles = {broker_id: self._roles.get((broker_id, partition)) for broker_id in own.replicas}
        return [one for one, role in roles.items() if role and role.leader_epoch == own.leader_epoch]

    # -- steps

    def _do_come(self) -> None:
        self._come(self._dice.choice(BROKERS))

    def _replicas(self, index: int) -> str:
        return f"{index}={self._target()}"

    def _target(self) -> str:
        return ",".join(map(str, self._dice.sample(BROKERS, self._dice.choice((1, 2, 2, 3)))))

    def _do_isr(self) -> None:
        led = [key for key, state in sorted(self.states.items()) if state.leader in self.brokers]
        led = [key for key in led if self._in_reach(key)]
        if led:
            partition = self._dice.choice(led)
            leader = self.states[partition].leader
            in_reach = (one for one in self._in_reach(partition) if one in self.brokers)
            isr = [one for one in in_reach if one == leader or self._dice.random() < 0.8]
            self.run(f"{self._dice.choice(('', '', 'quietly '))}isr {partition} {','.join(map(str, isr))}")

    def _do_move(self) -> None:
        if self.states:
            self.moves_begun += 1
            self.run(f"move {self._dice.choice(sorted(self.states))} {self._target()}")

    def _moving(self) -> list[TopicPartition]:
        return [
            TopicPartition(name, index)
            for name, topic in sorted(self.topics.items())
            for index in sorted(topic.adding.keys() | topic.removing.keys())
        ]

    def _do_call_off(self) -> None:
        if moving := self._moving():
            partition = self._dice.choice(moving)
            lines = self.run(f"call-off {partition}")
            assert f"{partition} done" not in (line.strip() for line in lines) or partition not in (
                self.requested_moves or {}
            )

    def _do_redirect(self) -> None:
        if moving := self._moving():
            self.run(f"move {self._dice.choice(moving)} {self._target()}")

    def _do_request_moves(self) -> None:
        if self.states and self.requested_moves is None:
            chosen = self._dice.sample(sorted(self.states), min(2, len(self.states)))
            self.run("request-moves " + " ".join(f"{partition}={self._target()}" for partition in chosen))

    def _do_prefer(self) -> None:
        self.run("elect-preferred")

    def _do_tick(self) -> None:
        self.run("tick 100000")

    def _do_elect(self) -> None:
        super()._do_elect()
        self._read_request()

    def _read_request(self) -> None:
        """A new controller looks at /admin/reassign_partitions."""
        if self.requested_moves is not None:
            requested = self.requested_moves
            self.run("request-moves " + " ".join(f"{key}={','.join(map(str, ids))}" for key, ids in requested.items()))

    def _do_answer(self) -> None:
        """A StopReplica reaches its broker, which may know better by now or be gone."""
        if not self._on_their_way:
            return
        effect, broker_epoch = self._on_their_way.pop(self._dice.randrange(len(self._on_their_way)))
        broker = self.brokers.get(effect.broker_id)
        if broker is None or broker.epoch != broker_epoch:
            return
        if effect.controller_epoch < self._newest_controller.get(effect.broker_id, 0):
            return
        done = [stop.partition for stop in effect.stops if self._stop(effect.broker_id, stop)]
        fenced = [stop.partition for stop in effect.stops if stop.partition not in done]
        sender = f"{effect.broker_id}:{broker_epoch}"
        self._epochs_asked = {stop.partition: stop.leader_epoch for stop in effect.stops}
        if done:
            self.run(f"deleted {sender} {' '.join(map(str, done))}")
        if fenced:
            self.run(f"undeletable {sender} {' '.join(map(str, fenced))}")

    def _stop(self, broker_id: int, stop: do.ReplicaStop) -> bool:
        role = (broker_id, stop.partition)
        if role in self._roles and 0 <= stop.leader_epoch < self._roles[role].leader_epoch:
            return False
        if stop.leader_epoch != EPOCH_DURING_DELETE:
            self._check_not_needed(broker_id, stop.partition)
        self._roles.pop(role, None)
        return True

    # -- what must hold

    def _check_not_needed(self, broker_id: int, partition: TopicPartition) -> None:
        topic = self.topics.get(partition.topic)
        if topic is None or partition.topic in self.to_delete:
            return
        assert broker_id not in topic.of(partition.partition).target or partition in self._moving()
        assert broker_id not in self.states[partition].isr

    def _check_end(self, effect: do.SendStopReplica) -> None:
        """Replicas are taken away only when all of the target is in sync, or some of it when a move goes back."""
        for stop in effect.stops:
            topic = self.topics.get(stop.partition.topic)
            if stop.leader_epoch == EPOCH_DURING_DELETE or topic is None or stop.partition not in self._moving():
                continue
            move, isr = topic.of(stop.partition.partition), set(self.states[stop.partition].isr)
            if effect.broker_id in move.removing:
                assert isr == set(move.target) or (isr < set(move.target) == set(move.origin))

    def _write(self, states) -> told.ControllerEvent:
        """The controller takes replicas out of an ISR; only leaders, who know, put any in."""
        for partition, state in states.items():
            before = self.states.get(partition)
            if before is not None and before.zk_version == state.zk_version:
                assert set(state.isr) <= set(before.isr)
        return super()._write(states)

    def _write_assignments(self, assignments) -> told.ControllerEvent:
        """The last word is written when nobody alive hosts a removed replica any more, or a new word replaces it."""
        is_new = self._command.startswith(("move ", "request-moves "))
        for partition, assignment in assignments.items():
            if not is_new and partition in self._moving() and not assignment.is_reassigning:
                left = set(self.topics[partition.topic].partitions[partition.partition]) - set(assignment.replicas)
                alive = left & self.controller.context.brokers.keys()
                assert not any((one, partition) in self._roles for one in alive)
        return super()._write_assignments(assignments)

    def _check_leaders(self) -> None:
        context = self.controller.context
        if context is None:
            return
        for partition, state in context.states.items():
            if partition.topic not in context.deleting:
                assert state.leader == -1 or state.leader in context.brokers
                assert state.leader == -1 or state.leader in state.isr
                assert state.isr
                assert set(state.isr) <= set(context.assignment(partition))

    def _carry_out(self, effect: do.ControllerEffect) -> told.ControllerEvent | None:
        crash = self._may_crash and self._dice.random() < 0.01
        if crash and self._dice.random() < 0.5:
            raise _Crash
        outcome = self._tell(effect)
        if crash:
            raise _Crash
        return outcome

    def _tell(self, effect: do.ControllerEffect) -> told.ControllerEvent | None:
        match effect:
            case do.SendStopReplica(broker_id, _, stops):
                self._on_their_way.append(_Stop(effect, self.brokers_as_known(broker_id)))
                assert stops
                if not self._command.startswith("up "):
                    self._check_end(effect)
            case do.SendLeaderAndIsr(broker_id, controller_epoch, partitions, _):
                self._newest_controller[broker_id] = controller_epoch
                for one in partitions:
                    role = (broker_id, one.partition)
                    known = self._roles.get(role)
                    assert known is None or one.state.leader_epoch >= known.leader_epoch
                    self._roles[role] = _Role(one.state.leader_epoch, one.replicas)
            case _:
                return super()._carry_out(effect)
        return None

    def brokers_as_known(self, broker_id: int) -> int:
        return self.controller.context.brokers[broker_id].epoch

    def _remove(self, topic: str) -> None:
        super()._remove(topic)
        self._roles = {role: epoch for role, epoch in self._roles.items() if role[1].topic != topic}


@pytest.mark.parametrize("seed", range(150))
def test_trap_13_every_move_ends_and_nothing_in_use_is_deleted(seed):
    walk = MovingWalk(seed)
    walk.run("elect 1")
    for _ in range(120):
        walk.step_at_random()
    walk.settle()
    assert walk.to_delete == set()
    assert walk.requested_moves is None
    for topic in walk.topics.values():
        assert (topic.adding, topic.removing) == ({}, {})
        for index, replicas in topic.partitions.items():
            state = walk.states[TopicPartition(topic.topic, index)]
            assert state.leader in state.isr
            assert set(state.isr) == set(replicas)


def test_walks_see_crashes_and_moves():
    walks = [MovingWalk(seed) for seed in range(10)]
    for walk in walks:
        walk.run("elect 1")
        for _ in range(120):
            walk.step_at_random()
    assert sum(walk.crashes for walk in walks) > 10
    assert sum(walk.moves_begun for walk in walks) > 50
