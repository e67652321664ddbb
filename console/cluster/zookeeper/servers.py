"""The ZooKeeper servers this console runs: their processes, and those it could start next."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings

from console.cluster.zookeeper.ensemble import Server, next_numbers
from console.kit.gateway.zookeeper.interface import EnsembleConfig
from console.processes.models import ManagedProcess
from console.processes.readiness import port_answers

#: What the customary ports for the quorum (2888) and for elections (3888) are above that for clients (2181).
QUORUM_PORT_DISTANCE, ELECTION_PORT_DISTANCE = 2888 - 2181, 3888 - 2181
_CLIENT_PORT_MAX = 65_535 - ELECTION_PORT_DISTANCE
#: Ports looked at before giving up.
_PORTS_TRIED = 200


def server_processes() -> dict[int, ManagedProcess]:
    """Return the processes by server number, without those being removed."""
    rows = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.ZOOKEEPER)
    return {row.spec.get("number", 1): row for row in rows if not row.is_leaving}


def process_names(joining: Iterable[Server], leaving: Iterable[int]) -> list[str]:
    """Return the processes that a change of the ensemble starts and stops, as far as this console runs them."""
    there = server_processes()
    return [*(item.process for item in joining), *(there[number].name for number in leaving if number in there)]


def managed_numbers(config: EnsembleConfig) -> frozenset[int]:
    """Return members whose process this console runs: the number alone may be another ensemble's."""
    rows = server_processes()
    ports = {member.number: member.client_port for member in config.members}
    return frozenset(number for number, row in rows.items() if row.spec.get("client_port") == ports.get(number))


def leaving_processes() -> dict[int, ManagedProcess]:
    rows = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.ZOOKEEPER, is_leaving=True)
    return {row.spec.get("number", 1): row for row in rows}


def new_servers(config: EnsembleConfig, count: int, used_numbers: Iterable[int]) -> list[Server]:
    """Return new servers with unused numbers, directories and ports; fewer if there are not enough."""
    used = {*used_numbers, *config.numbers, *server_processes(), *leaving_processes(), *_numbers_on_disk()}
    taken = _taken_ports(config)
    first = max((member.client_port or 0 for member in config.members), default=2180) + 1
    servers: list[Server] = []
    for number in next_numbers(sorted(used), count):
        ports = next(_free_ports(first, taken), None)
        if ports is None:
            break
        taken |= set(ports)
        directory = str(settings.DATA_DIR / f"zookeeper-{number}")
        servers.append(Server(number, f"zookeeper-{number}", "127.0.0.1", *ports, directory))
    return servers


def settings_given() -> dict[str, str]:
    """Return the zoo.cfg settings of the present servers, which a joining one gets, too."""
    rows = server_processes()
    return rows[min(rows)].spec.get("settings", {}) if rows else {}


def spec_of(server: Server, members: Iterable[str]) -> dict[str, object]:
    """Return the process of a server that joins `members`."""
    return {
        "settings": settings_given(),
        "directory": server.directory,
        "host": server.host,
        "client_port": server.client_port,
        "quorum_port": server.quorum_port,
        "election_port": server.election_port,
        "number": server.number,
        "join": list(members),
        "super_password_file": str(settings.ZOOKEEPER_SECRET_FILE),
    }


def _numbers_on_disk() -> set[int]:
    names = (path.name.rpartition("-")[2] for path in Path(settings.DATA_DIR).glob("zookeeper-*"))
    return {int(name) for name in names if name.isascii() and name.isdecimal()}


def _taken_ports(config: EnsembleConfig) -> set[int]:
    """Return ports of every process this console runs or may start, and of every member."""
    taken: set[int] = set()
    for row in ManagedProcess.objects.all():
        taken |= {value for name, value in row.spec.items() if name.endswith("port") and isinstance(value, int)}
        taken |= set(row.ports)
    for member in config.members:
        ports = (part for part in member.line.replace(";", ":").split(":") if part.isdecimal())
        taken |= {int(port) for port in ports}
    return taken


def _free_ports(first: int, taken: set[int]) -> Iterator[tuple[int, int, int]]:
    for client in range(first, min(first + _PORTS_TRIED, _CLIENT_PORT_MAX)):
        ports = (client, client + QUORUM_PORT_DISTANCE, client + ELECTION_PORT_DISTANCE)
        if not taken & set(ports) and not any(port_answers(port) for port in ports):
            yield ports
