"""Whatever happens in whatever order: no illegal transition, epochs only rise, and all is well in the end."""

import random

import pytest

from broker.common.types import NO_TOPIC_ID
from broker.controller import effects as do
from broker.controller import events as told
from broker.controller.context import ControllerContext
from broker.controller.replica_states import Replica
from tests.broker.controller.story import Story

_STEPS = (
    *("come", "come", "go", "stop", "lose_disk", "elect"),
    *("topic", "grow", "delete", "answer", "answer", "isr", "isr", "unclean", "move", "prefer"),
    *("want", "want", "tick", "lose_id", "lose_id", "fill", "fill", "make_room"),
)


class Walk(Story):
    """A story told by dice. Remembers which deletions brokers still have to answer."""

    def __init__(self, seed: int):
        super().__init__()
        self._dice = random.Random(seed)
        self._epoch = 0
        self._unanswered: list[tuple[str, tuple]] = []
        self._told_again: list[tuple[str, list]] = []
        self._next_broker_epoch = 100

    steps = _STEPS

    def step_at_random(self) -> None:
        getattr(self, f"_do_{self._dice.choice(self.steps)}")()

    def settle(self) -> None:
        """Everybody comes back, and every question is answered."""
        for broker_id in (1, 2, 3):
            self._come(broker_id)
        self._do_elect()
        while self._unanswered:
            self._do_answer()

    def _do_come(self) -> None:
        self._come(self._dice.choice((1, 2, 3)))

    def _come(self, broker_id: int) -> None:
        self._next_broker_epoch += 1
        self.run(f"up {broker_id} {self._next_broker_epoch}")

    def _do_go(self) -> None:
        if self.brokers:
            self.run(f"down {self._dice.choice(sorted(self.brokers))}")

    def _do_topic(self) -> None:
        name = self._dice.choice("abcd")
        if name not in self.topics:
            self.run(f"topic {name} {self._replicas(0)} {self._replicas(1)}")

    def _do_lose_id(self, how: str = "") -> None:
        """A tool that knows no topic ids writes a znode anew, or makes a topic."""
        name = self._dice.choice("abcd")
        known = self.topics.get(name)
        if known is not None and known.topic_id == NO_TOPIC_ID:
            return
        before = known.partitions if known else {}
        replicas = [f"{index}={','.join(map(str, ids))}" for index, ids in before.items()]
        self.run(f"{how}without-id {name} {' '.join(replicas or [self._replicas(0)])}")

    def _do_grow(self) -> None:
        if self.topics:
            name = self._dice.choice(sorted(self.topics))
            known = [f"{index}={','.join(map(str, ids))}" for index, ids in self.topics[name].partitions.items()]
            self.run(f"topic {name} {' '.join(known)} {self._replicas(len(known))}")

    def _replicas(self, index: int) -> str:
        ids = self._dice.sample((1, 2, 3), self._dice.choice((1, 1, 2, 3)))
        return f"{index}={','.join(map(str, ids))}"

    def _do_delete(self) -> None:
        if self.topics:
            self.run(f"delete {self._dice.choice(sorted(self.topics))}")

    def _do_answer(self) -> None:
        if self._unanswered:
            broker, partitions = self._unanswered.pop(self._dice.randrange(len(self._unanswered)))
            self.run(f"deleted {broker} {' '.join(map(str, partitions))}")

    def _do_stop(self) -> None:
        if self.brokers:
            broker = self.brokers[self._dice.choice(sorted(self.brokers))]
            self.run(f"stop {broker.broker_id}:{broker.epoch}")

    def _do_lose_disk(self) -> None:
        """Some of what the broker hosts was there."""
        if self.brokers and self.states:
            broker = self.brokers[self._dice.choice(sorted(self.brokers))]
            lost = [str(partition) for partition in sorted(self.states) if self._dice.random() < 0.3]
            self.run(f"lose-log-dir {broker.broker_id}")
            self.run(f"failed {broker.broker_id}:{broker.epoch} {' '.join(lost)}")

    def _do_want(self) -> None:
        """A broker cannot take some of its roles just now, nor delete all it was asked to."""
        if self.brokers and self.states:
            broker = self.brokers[self._dice.choice(sorted(self.brokers))]
            wanting = [str(partition) for partition in sorted(self.states) if self._dice.random() < 0.3]
            self.run(f"deferred {broker.broker_id}:{broker.epoch} {' '.join(wanting)}")
        if self._unanswered:
            broker, partitions = self._unanswered.pop(self._dice.randrange(len(self._unanswered)))
            self.run(f"undeletable {broker} {' '.join(map(str, partitions))}")

    def _do_fill(self) -> None:
        """A log directory is full: of what the broker has there it leads only what no other of the ISR can."""
        if self.brokers and self.states:
            broker = self.brokers[self._dice.choice(sorted(self.brokers))]
            hosted = [str(partition) for partition in sorted(self.states) if self._dice.random() < 0.5]
            self.run(f"lose-log-dir {broker.broker_id}")
            self.run(f"full {broker.broker_id}:{broker.epoch} {' '.join(hosted)}")
            self._assert_full_hosts_lead_only_what_nobody_else_can()

    def _do_make_room(self) -> None:
        if self.brokers and self.states:
            broker = self.brokers[self._dice.choice(sorted(self.brokers))]
            self.run(f"lose-log-dir {broker.broker_id}")
            self.run(f"taken {broker.broker_id}:{broker.epoch} {' '.join(map(str, sorted(self.states)))}")
            self._assert_full_hosts_lead_only_what_nobody_else_can()

    def _assert_full_hosts_lead_only_what_nobody_else_can(self) -> None:
        context = self.controller.context
        for partition in context.all_partitions() if context else ():
            state, full = context.states.get(partition), context.full_hosts(partition)
            if state is not None and state.leader in full and state == self.states[partition]:
                assert set(state.isr).intersection(context.online_replicas(partition)) <= full

    def _do_tick(self) -> None:
        """What is told again is done, or cannot be done once more."""
        self._told_again.clear()
        self.run("tick 40000")
        for broker, partitions in self._told_again:
            self.run(f"{self._dice.choice(('taken', 'deferred'))} {broker} {' '.join(map(str, partitions))}")

    def end_all_wants(self) -> None:
        """Nobody registers anew but who was away; all is done that brokers are asked."""
        for broker_id in {1, 2, 3} - self.brokers.keys():
            self._come(broker_id)
        for _ in range(3):
            self._told_again.clear()
            self.run("tick 40000")
            for broker, partitions in list(self._told_again):
                self.run(f"taken {broker} {' '.join(map(str, partitions))}")
            while self._unanswered:
                self._do_answer()

    def _do_move(self) -> None:
        if self.states:
            target = self._dice.sample((1, 2, 3), self._dice.choice((1, 2, 3)))
            self.run(f"move {self._dice.choice(sorted(self.states))} {','.join(map(str, target))}")

    def _do_prefer(self) -> None:
        self.run("elect-preferred")

    def _do_isr(self) -> None:
        """A leader that is alive, or just died, shrinks or grows its ISR by whom it likes."""
        led = [key for key, state in sorted(self.states.items()) if state.has_leader and key.topic in self.topics]
        if led:
            partition = self._dice.choice(led)
            leader, replicas = (
                self.states[partition].leader,
                self.topics[partition.topic].partitions[partition.partition],
            )
            isr = [one for one in replicas if one == leader or self._dice.random() < 0.5]
            quietly = self._dice.choice(("", "", "quietly "))
            self.run(f"{quietly}isr {partition} {','.join(map(str, isr))}")

    def _do_unclean(self) -> None:
        self.run(f"unclean {self._dice.choice('abcd*')} {self._dice.choice(('yes', 'no'))}")

    def _do_elect(self) -> None:
        if self._dice.random() < 0.5:
            self._epoch += 1
            self.run("resign")
            self._do_lose_id("quietly ")
        self.run(f"elect {max(self._epoch, 1)}")

    def _carry_out(self, effect: do.ControllerEffect) -> told.ControllerEvent | None:
        if isinstance(effect, do.SendStopReplica):
            epoch = self.controller.context.brokers[effect.broker_id].epoch
            deleted = tuple(stop.partition for stop in effect.stops if stop.delete)
            self._unanswered += [(f"{effect.broker_id}:{epoch}", deleted)] if deleted else []
        if isinstance(effect, do.SendLeaderAndIsr):
            context = self.controller.context
            told_again = [one.partition for one in effect.partitions if _is_deferred(context, one, effect.broker_id)]
            incarnation = f"{effect.broker_id}:{context.brokers[effect.broker_id].epoch}"
            self._told_again += [(incarnation, told_again)] if told_again else []
        return super()._carry_out(effect)

    def _identify(self, known_ids, epochs, names) -> told.ControllerEvent:
        """No topic gets another id while it is there."""
        before = {name: topic_id for name, topic_id in self.ids.items() if name in self.topics}
        event = super()._identify(known_ids, epochs, names)
        assert before == {name: self.topics[name].topic_id for name in before if self.topics[name].has_id} | before
        return event

    def _write(self, states) -> told.ControllerEvent:
        for partition, state in states.items():
            before = self.states.get(partition)
            if before is None or before.zk_version == state.zk_version:
                assert state.leader_epoch == (before.leader_epoch + 1 if before else 0)
            assert state.leader in (-1, *state.isr)
            assert state.isr or self.keeps_eligible
            assert state.has_known_isr
            assert self.keeps_eligible or (state.elr, state.last_known_elr) == ((), ())
            assert not set(state.elr) & set(state.isr)
        return super()._write(states)


class EligibleWalk(Walk):
    """A walk of a cluster that keeps eligible leader replicas, and at times does not; brokers lose ends of logs."""

    steps = (*_STEPS, "keep", "min_isr", "min_isr", "lose_tail", "lose_tail", "lose_tail")

    def _do_keep(self) -> None:
        self.run(f"keep-eligible {self._dice.choice(('yes', 'yes', 'no'))}")

    def _do_min_isr(self) -> None:
        self.run(f"min-isr {self._dice.choice('abcd*')} {self._dice.choice((1, 2, 3))}")

    def _do_lose_tail(self) -> None:
        """A broker that is away, or that goes now, notes losses and comes back."""
        broker_id = self._dice.choice((1, 2, 3))
        if broker_id in self.brokers:
            self.run(f"down {broker_id}")
        for partition in sorted(self.states):
            if self._dice.random() < 0.6:
                self.run(f"quietly lost-tail {broker_id} {partition} {self._dice.choice((1, 2))}:50")
        self._come(broker_id)


@pytest.mark.parametrize("kind", [Walk, EligibleWalk])
@pytest.mark.parametrize("seed", range(60))
def test_walk_ends_with_every_partition_led_and_every_deletion_done(kind, seed):
    walk = kind(seed)
    walk.run("elect 1")
    for _ in range(60):
        walk.step_at_random()
    walk.settle()
    assert walk.to_delete == set()
    partitions = {(topic, index) for topic, one in walk.topics.items() for index in one.partitions}
    assert set(walk.states) == partitions
    assert all(state.leader in walk.brokers for state in walk.states.values())
    assert all(line.count("ONLINE") >= 2 for line in walk.run("show") if line != "no partitions")


@pytest.mark.parametrize("seed", range(60))
def test_what_brokers_could_not_do_for_a_while_they_do_in_the_end(seed):
    walk = Walk(seed)
    walk.run("elect 1")
    for _ in range(60):
        walk.step_at_random()
    walk.end_all_wants()
    context = walk.controller.context
    assert not context.deferred_replicas
    for partition in context.all_partitions():
        for_ever = {one.broker_id for one in context.replicas(partition) if one in context.failed_replicas}
        state = walk.states[partition]
        assert state.leader in walk.brokers.keys() - for_ever or set(state.isr) <= for_ever
    lost = {replica.partition.topic for replica in context.failed_replicas}
    assert walk.to_delete <= lost


def _is_deferred(context: ControllerContext, told_one: do.PartitionTold, broker_id: int) -> bool:
    return Replica(told_one.partition, broker_id) in context.deferred_replicas
