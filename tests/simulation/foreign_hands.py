"""What others do to a cluster's znodes and disks: tools older than topic ids, and an operator who loses directories."""

from random import Random
from typing import TYPE_CHECKING

from broker.common.cluster import TopicAssignment
from broker.common.types import NO_TOPIC_ID
from broker.zookeeper import znodes
from broker.zookeeper.json_fields import decode_fields, encode_fields
from broker.zookeeper.session import Delete, SetData, ZnodeCreation
from tests.simulation.topics import PASSING, REPLICATION_FACTOR

if TYPE_CHECKING:
    from tests.simulation.faults import Fault
    from tests.simulation.world import World


def lose_topic_id(world: "World", fault: "Fault") -> None:
    """A topic's znode is written anew as by the tools of Kafka 2.4 to 2.7: without the id, reassignments are kept."""
    names = sorted(world.ensemble.tree.get(znodes.TOPICS).children)
    if not names:
        return
    path = znodes.topic_path(names[int(fault.pick * len(names))])
    fields = decode_fields(path, world.ensemble.tree.get(path).data)
    fields.pop("topic_id", None)
    world.ensemble.by_hand([SetData(path, encode_fields(fields | {"version": 2}))])


def lose_topic_id_while_all_are_down(world: "World", fault: "Fault") -> None:
    """No controller and no broker remembers what it was: it stands beside the logs only."""
    if any(process.is_without_power for process in world.brokers):
        return
    for number, process in enumerate(world.running):
        process.kill()
        world.timeline.plan_in(fault.lasts_us * (2 + number), process.start)
    world.timeline.plan_in(fault.lasts_us, lambda: lose_topic_id(world, fault))


def lose_state_while_all_are_down(world: "World", fault: "Fault") -> None:
    """A broker dies, and some time later all others; a partition's state is removed by hand. The broker that has been
    away for longest starts first.
    """
    running = world.running
    if not running or any(process.is_without_power for process in world.brokers):
        return
    behind = running[int(fault.pick * len(running))]
    partition = world.partitions[int(fault.pick * 997) % len(world.partitions)]

    def remove() -> None:
        path = znodes.state_path(partition)
        if path in world.ensemble.tree.nodes:
            world.ensemble.by_hand([Delete(path)])

    def kill_the_others() -> None:
        if any(process.is_without_power for process in world.brokers):
            behind.start()
            return
        for number, process in enumerate([behind, *(process for process in world.brokers if process is not behind)]):
            process.kill()
            world.timeline.plan_in(fault.lasts_us * (2 + number), process.start)
        world.timeline.plan_in(fault.lasts_us, remove)

    behind.kill()
    world.timeline.plan_in(world.session_timeout_us + fault.lasts_us, kill_the_others)


def make_topic_without_id(world: "World", fault: "Fault") -> None:
    name = PASSING[int(fault.pick * len(PASSING))]
    nodes = world.ensemble.tree.nodes
    if {znodes.topic_path(name), znodes.config_path("topics", name), znodes.delete_topic_path(name)} & nodes.keys():
        return
    brokers = [process.broker_id for process in world.brokers]
    replicas = tuple(brokers[:REPLICATION_FACTOR])
    assignment = TopicAssignment(name, NO_TOPIC_ID, {0: replicas, 1: replicas[::-1]})
    world.ensemble.by_hand(
        [
            ZnodeCreation(znodes.config_path("topics", name), znodes.encode_config({"min.insync.replicas": "1"})),
            ZnodeCreation(znodes.topic_path(name), znodes.encode_topic(assignment)),
        ]
    )


def lose_some_logs(world: "World", fault: "Fault") -> None:
    """A broker is killed, and about half of its partitions' directories are not there when it starts."""
    running = world.running
    process = running[int(fault.pick * len(running))] if running else None
    if process is not None and world.holders.may_lose_power(process):
        process.lose_logs(Random(fault.pick))
        world.timeline.plan_in(fault.lasts_us, process.start)
