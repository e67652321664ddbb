"""Adding a broker as a plan: what is written, what is in its way, how it is taken back. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from console.kit.plans.plan import Plan, PlanLine
from console.processes.kinds.spec import Spec
from console.processes.secured import secured_properties

ACTION = "add broker"
METRICS_PORT_DISTANCE = 100


@dataclass(frozen=True, slots=True)
class AdditionFacts:
    """What exists already.

    `listening`: ports of the spec in use; `owners`: directory → broker id of its logs, None for other content.
    """

    names: Collection[str]
    #: Port → the process it belongs to.
    ports: Mapping[int, str]
    registered: Collection[int]
    #: Directory → the process that keeps its data there.
    directories: Mapping[str, str]
    listening: Collection[int] = ()
    owners: Mapping[str, int | None] | None = None


def name_of(broker_id: int) -> str:
    return f"broker-{broker_id}"


def addition_plan(spec: Spec, around: AdditionFacts) -> Plan:
    """Plan an addition. `spec` has been checked by the broker's kind."""
    broker_id = spec["broker_id"]
    values = {
        "broker.id": broker_id,
        "listeners": f"PLAINTEXT://127.0.0.1:{spec['port']}",
        "log.dirs": ",".join(spec["log_dirs"]),
        "broker.rack": spec["rack"] or None,
        "metrics.listener": f"127.0.0.1:{spec['metrics_port']}" if spec["metrics_port"] else None,
        "zookeeper.connect": spec["zookeeper"],
    }
    if spec.get("is_secure"):
        values |= secured_properties(spec["port"])
    return Plan(
        action=ACTION,
        object_type="process",
        object_name=name_of(broker_id),
        lines=tuple(PlanLine(name, None, value) for name, value in values.items() if value is not None),
        read=(*(f"{name}={value}" for name, value in sorted(spec.items())), *_obstacles(spec, around)),
        touches=(
            f"{spec['directory']}/server.properties is written (mode 600), and the broker is started.",
            "It joins empty: partitions come to it by new topics, or when they are moved to it on the placement page.",
        ),
        losses=(),
        safe_because="An empty broker joins: no partition moves by that.",
        undo="remove it on its page, as long as it holds no replica. Its files stay on disk.",
        command=f"python -m broker server --config {spec['directory']}/server.properties",
        obstacle=next(iter(_obstacles(spec, around)), ""),
    )


def _obstacles(spec: Spec, around: AdditionFacts) -> Sequence[str]:
    """Return obstacles in the order in which a person would look for them."""
    broker_id, obstacles = spec["broker_id"], []
    if name_of(broker_id) in around.names:
        obstacles.append(f"There is a process called {name_of(broker_id)} already.")
    elif broker_id in around.registered:
        obstacles.append(f"A broker {broker_id} that this console does not run is registered in the cluster.")
    for port in filter(None, (spec["port"], spec["metrics_port"])):
        if owner := around.ports.get(port):
            obstacles.append(f"Port {port} belongs to {owner}.")
        elif port in around.listening:
            obstacles.append(f"Port {port} is taken by another program.")
    for directory in spec["log_dirs"]:
        if owner := _owner_of(directory, around.directories):
            obstacles.append(f"{directory} belongs to {owner}.")
        elif (around.owners or {}).get(directory, broker_id) != broker_id:
            obstacles.append(f"{directory} is not empty and holds nothing of a broker {broker_id}.")
    return obstacles


def _owner_of(directory: str, directories: Mapping[str, str]) -> str:
    """Return the process whose directory it is, lies in, or contains."""
    path = Path(directory)
    others = ((Path(item), owner) for item, owner in directories.items())
    return next((owner for other, owner in others if path.is_relative_to(other) or other.is_relative_to(path)), "")


def next_broker_id(taken: Collection[int]) -> int:
    return max(taken, default=0) + 1


def next_port(ports: Collection[int], of_brokers: Collection[int]) -> int:
    """Return the first port above the brokers' that no process has, with its metrics port free too."""
    port = max(of_brokers, default=9_091) + 1
    while port in ports or port + METRICS_PORT_DISTANCE in ports:
        port += 1
    return port
