"""What goes wrong in a run: drawn from the seed beforehand, so that a run can be repeated with some of it left out."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from tests.simulation import foreign_hands
from tests.simulation.broker_process import BrokerProcess
from tests.simulation.ensemble import MACHINE as ZOOKEEPER
from tests.simulation.topics import PASSING

if TYPE_CHECKING:
    from tests.simulation.world import World

_MS = 1_000
_S = 1_000_000


@dataclass(frozen=True)
class Fault:
    """`pick` chooses among those it could strike when its time has come."""

    at_us: int
    kind: str
    lasts_us: int
    pick: float

    def __str__(self) -> str:
        return f"{self.at_us / _S:.3f} {self.kind} for {self.lasts_us / _S:.3f} s (pick {self.pick:.3f})"


def draw_count(random: Random) -> int:
    return random.randint(3, random.choice((6, 12, 30)))


def draw_faults(random: Random, count: int, during_us: int) -> list[Fault]:
    weights = [often for often, _, _ in FAULTS.values()]
    kinds = random.choices(list(FAULTS), weights, k=count)
    drawn = [_draw(random, kind, random.randint(0, during_us)) for kind in kinds]
    return sorted(drawn, key=lambda fault: fault.at_us)


def draw_foreign_hands(random: Random, during_us: int) -> list[Fault]:
    """From a generator of its own: the other faults of a seed are what they would be without."""
    kinds = random.choices(list(FOREIGN_HANDS), k=random.choice((0, 1, 2, 3)))
    return [_draw(random, kind, random.randint(0, during_us)) for kind in kinds]


def _draw(random: Random, kind: str, at_us: int) -> Fault:
    _, lasts_us_max, _ = (FAULTS | FOREIGN_HANDS)[kind]
    # Short and long are equally likely: what matters happens around timeouts of very different lengths.
    lasts_us = int(20 * _MS * (lasts_us_max / (20 * _MS)) ** random.random())
    return Fault(at_us, kind, lasts_us, random.random())


def inflict(world: "World", fault: Fault) -> None:
    world.history.add("FAULT", str(fault))
    (FAULTS | FOREIGN_HANDS)[fault.kind][2](world, fault)


def _one(fault: Fault, candidates: list):
    return candidates[int(fault.pick * len(candidates))] if candidates else None


def _kill(world: "World", process: BrokerProcess | None, restart_after_us: int) -> None:
    if process is not None and process.is_running and world.holders.may_be_struck(process):
        process.kill()
        world.timeline.plan_in(restart_after_us, process.start)


def _kill_any(world: "World", fault: Fault) -> None:
    _kill(world, _one(fault, world.running), fault.lasts_us)


def _kill_leader(world: "World", fault: Fault) -> None:
    _kill(world, world.leader_of(_one(fault, world.partitions)), fault.lasts_us)


def _kill_controller(world: "World", fault: Fault) -> None:
    _kill(world, world.controller, fault.lasts_us)


def _kill_all(world: "World", fault: Fault) -> None:
    for number, process in enumerate(world.running):
        _kill(world, process, fault.lasts_us * (1 + number))


def _double_fail_over(world: "World", fault: Fault) -> None:
    """The leader of a partition dies, soon after that its successor, and both come back."""
    partition = _one(fault, world.partitions)
    _kill(world, world.leader_of(partition), 2 * fault.lasts_us)
    pause_us = world.session_timeout_us + fault.lasts_us // 4
    world.timeline.plan_in(pause_us, lambda: _kill(world, world.leader_of(partition), fault.lasts_us))


def _cut_power(world: "World", fault: Fault) -> None:
    _cut_power_of(world, _one(fault, world.running), fault.lasts_us)


def _cut_power_of(world: "World", process: BrokerProcess | None, restart_after_us: int) -> None:
    if process is not None and process.is_running and world.holders.may_lose_power(process):
        process.cut_power()
        world.timeline.plan_in(restart_after_us, process.start)


def _cut_power_of_controller(world: "World", fault: Fault) -> None:
    """It leads as well, as a rule, and may be back before anybody else is controller."""
    _cut_power_of(world, world.controller, fault.lasts_us)


def _cut_power_of_leader(world: "World", fault: Fault) -> None:
    _cut_power_of(world, world.leader_of(_one(fault, world.partitions)), fault.lasts_us)


def _leave_a_stray(world: "World", fault: Fault) -> None:
    """A broker is away while a partition moves from it, and whoever remembers that dies before it is back.

    It then holds a log nobody will have deleted when the topic is, and that must not be found under a new one.
    """
    passing = [(where, moved) for where, _, moved in world.states() if where.topic in PASSING]
    where, assignment = _one(fault, passing) or (None, None)
    if where is None or assignment.is_reassigning:
        return
    free = [process.broker_id for process in world.running if process.broker_id not in assignment.replicas]
    away = world.process_of(assignment.replicas[-1])
    if not free or not away.is_running:
        return
    world.load.mover.wishes.append((where, [*assignment.replicas[:-1], free[0]]))
    forgotten_us = world.session_timeout_us + 2 * _S
    _kill(world, away, forgotten_us + 1 * _S)
    world.timeline.plan_in(forgotten_us, lambda: _kill(world, world.controller, fault.lasts_us))
    world.timeline.plan_in(forgotten_us + 4 * _S, lambda: world.load.administrator.wishes.append(where.topic))


def _stop(world: "World", fault: Fault) -> None:
    process = _one(fault, world.running)
    if process is not None and world.holders.may_be_struck(process):
        process.stop(fault.lasts_us)


def _pause(world: "World", fault: Fault) -> None:
    process = _one(fault, world.running)
    if process is not None and world.holders.may_be_struck(process):
        process.pause()
        world.timeline.plan_in(fault.lasts_us, process.resume)


def _cut(world: "World", fault: Fault, links: list[tuple[str, str]]) -> None:
    for link in links:
        world.network.cut(*link)

    def mend() -> None:
        for link in links:
            world.network.mend(*link)
        world.history.add("FAULT", "links are whole again", links=links)

    world.history.add("FAULT", "links are cut", links=links)
    world.timeline.plan_in(fault.lasts_us, mend)


def _both_ways(one: str, other: str) -> list[tuple[str, str]]:
    return [(one, other), (other, one)]


def _cut_pair(world: "World", fault: Fault) -> None:
    names = [process.name for process in world.brokers]
    _cut(world, fault, _both_ways(*_one(fault, [(a, b) for a in names for b in names if a < b])))


def _cut_one_way(world: "World", fault: Fault) -> None:
    names = [process.name for process in world.brokers]
    _cut(world, fault, [_one(fault, [(a, b) for a in names for b in names if a != b])])


def _isolate_from_brokers(world: "World", fault: Fault) -> None:
    alone = _one(fault, world.brokers).name
    _cut(
        world,
        fault,
        [link for broker in world.brokers if broker.name != alone for link in _both_ways(alone, broker.name)],
    )


def _cut_from_zookeeper(world: "World", fault: Fault) -> None:
    process = _one(fault, world.brokers)
    if world.holders.may_be_struck(process):
        _cut(world, fault, _both_ways(process.name, ZOOKEEPER))


def _lose_zookeeper(world: "World", fault: Fault) -> None:
    """The ensemble has no quorum: nobody reaches it, and no session ends."""
    world.ensemble.lose_quorum()
    world.timeline.plan_in(fault.lasts_us, world.ensemble.regain_quorum)
    _cut(world, fault, [link for broker in world.brokers for link in _both_ways(broker.name, ZOOKEEPER)])


def _expire_session(world: "World", fault: Fault) -> None:
    process = _one(fault, world.running)
    session = world.ensemble.session_of(process.broker_id) if process is not None else None
    if session is not None and world.holders.may_be_struck(process):
        world.ensemble.end(session, "expired by a fault")


def _slow_down(world: "World", fault: Fault) -> None:
    process = _one(fault, world.brokers)

    def set_extra(extra_us: int) -> None:
        process.disturb()
        world.network.slow_down(process.name, extra_us)

    set_extra(int(400 * _MS * fault.pick) + 5 * _MS)
    world.timeline.plan_in(fault.lasts_us, lambda: set_extra(0))


def _break_connections(world: "World", fault: Fault) -> None:
    """Something on the way forgets all connections of one broker."""
    process = _one(fault, world.running)
    if process is not None:
        process.break_connections()


def _trouble_disk(trouble: str) -> Callable[["World", Fault], None]:
    def strike(world: "World", fault: Fault) -> None:
        process = _one(fault, world.running)
        if process is not None and world.holders.may_be_struck(process):
            process.trouble_disk(trouble, fault.lasts_us)

    return strike


def _load_without_descriptors(world: "World", fault: Fault) -> None:
    """A coordinator dies, and whoever takes over has no descriptors left, as in a storm of connections."""
    partition = _one(fault, world.coordinated_partitions)
    leader = world.leader_of(partition)
    _kill(world, leader, world.session_timeout_us + 2 * fault.lasts_us)

    def strike() -> None:
        for process in filter(world.holders.may_be_struck, world.running):
            process.trouble_disk("no descriptors", world.session_timeout_us // 3 + fault.lasts_us)

    # Its session ends two thirds to the whole of its timeout from now.
    world.timeline.plan_in(world.session_timeout_us * 3 // 5, strike)


def _jump_clock(world: "World", fault: Fault) -> None:
    """Its wall clock is hours away for a while, in either direction."""
    process = _one(fault, world.brokers)
    world.set_clock(process, int((2 * fault.pick - 1) * 2 * 3_600_000))
    world.history.add("FAULT", "wall clock jumps", broker=process.name, offset_ms=process.machine.wall_offset_ms)
    world.timeline.plan_in(fault.lasts_us, lambda: world.set_clock(process, 0))


#: Of each kind: how often among the others, the longest it lasts, and what it does.
FAULTS: dict[str, tuple[int, int, Callable[["World", Fault], None]]] = {
    "kill any": (4, 8 * _S, _kill_any),
    "kill leader": (4, 8 * _S, _kill_leader),
    "kill controller": (3, 8 * _S, _kill_controller),
    "kill all": (1, 3 * _S, _kill_all),
    "double fail-over": (3, 6 * _S, _double_fail_over),
    "power cut": (2, 8 * _S, _cut_power),
    "power cut of controller": (2, 8 * _S, _cut_power_of_controller),
    "power cut of leader": (2, 8 * _S, _cut_power_of_leader),
    "stray replica": (2, 1 * _S, _leave_a_stray),
    "clean stop": (2, 6 * _S, _stop),
    "pause": (4, 9 * _S, _pause),
    "cut pair": (3, 6 * _S, _cut_pair),
    "cut one way": (2, 6 * _S, _cut_one_way),
    "isolate from brokers": (2, 6 * _S, _isolate_from_brokers),
    "cut from zookeeper": (3, 8 * _S, _cut_from_zookeeper),
    "lose zookeeper": (1, 6 * _S, _lose_zookeeper),
    "expire session": (3, 1 * _S, _expire_session),
    "slow down": (3, 6 * _S, _slow_down),
    "break connections": (3, 1 * _S, _break_connections),
    "no descriptors": (2, 3 * _S, _trouble_disk("no descriptors")),
    "load without descriptors": (2, 2 * _S, _load_without_descriptors),
    "disk is full": (2, 4 * _S, _trouble_disk("disk is full")),
    "disk fails": (1, 3 * _S, _trouble_disk("disk fails")),
    "disk hangs": (2, 6 * _S, _trouble_disk("disk hangs")),
    "clock jump": (2, 6 * _S, _jump_clock),
}

#: As above; drawn by themselves, all equally often.
FOREIGN_HANDS: dict[str, tuple[int, int, Callable[["World", Fault], None]]] = {
    "topic id is lost": (1, 1 * _S, foreign_hands.lose_topic_id),
    "topic id is lost while all are down": (1, 2 * _S, foreign_hands.lose_topic_id_while_all_are_down),
    "state is lost while all are down": (1, 2 * _S, foreign_hands.lose_state_while_all_are_down),
    "topic without id": (1, 1 * _S, foreign_hands.make_topic_without_id),
    "some logs are lost": (1, 8 * _S, foreign_hands.lose_some_logs),
}
