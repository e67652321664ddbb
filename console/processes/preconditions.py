"""What a new broker would find: other processes, their ports and directories, who answers, what lies on the disk."""

from pathlib import Path

from django.conf import settings

from console.kit.gateway.connect import cluster_gateway
from console.processes.addition import METRICS_PORT_DISTANCE, AdditionFacts, next_broker_id, next_port
from console.processes.embedded import broker_directory, first_broker_properties, managed_zookeepers
from console.processes.kinds.spec import Spec
from console.processes.models import ManagedProcess
from console.processes.readiness import port_answers
from console.processes.secured import FIRST_PROPERTIES
from console.state.clusters.models import Broker

_META = "meta.properties"


def preconditions_of(spec: Spec) -> AdditionFacts:
    rows = list(ManagedProcess.objects.all())
    ports = [port for port in (spec["port"], spec["metrics_port"]) if port]
    return AdditionFacts(
        names={row.name for row in rows},
        ports=_ports_of(rows),
        registered=set(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True)),
        directories={directory: row.name for row in rows for directory in _directories_of(row)},
        listening={port for port in ports if port_answers(port)},
        owners={directory: owner for directory in spec["log_dirs"] if (owner := _owner_of(Path(directory))) != -1},
    )


def _directories_of(row: ManagedProcess) -> list[str]:
    return [directory for directory in (row.spec.get("directory"), *row.spec.get("log_dirs", [])) if directory]


def _ports_of(rows: list[ManagedProcess]) -> dict[int, str]:
    names = ("port", "metrics_port", "client_port", "quorum_port", "election_port")
    return {port: row.name for row in rows for port in (*row.ports, *map(row.spec.get, names)) if port}


def _owner_of(directory: Path) -> int | None:
    """Return the broker whose data lies there, None for other things, -1 for nothing at all."""
    try:
        if not any(directory.iterdir()):
            return -1
        lines = (directory / _META).read_text().splitlines()
    except FileNotFoundError:
        return None if directory.exists() else -1
    except OSError:
        return None
    ids = [line.partition("=")[2].strip() for line in lines if line.startswith("broker.id=")]
    return int(ids[0]) if ids and ids[0].isdecimal() else None


def suggested_broker() -> dict[str, int | str]:
    """Return form values for the next broker: the next id and port, and a directory beside the others'."""
    rows = list(ManagedProcess.objects.all())
    brokers = [row for row in rows if row.kind == ManagedProcess.Kind.BROKER]
    known = {row.spec["broker_id"] for row in brokers if "broker_id" in row.spec}
    broker_id = next_broker_id(known | set(Broker.objects.values_list("broker_id", flat=True)))
    port = next_port(_ports_of(rows), [row.ports[0] for row in brokers if row.ports])
    log_dirs = str(broker_directory(settings.DATA_DIR, broker_id) / "data")
    return {"broker_id": broker_id, "port": port, "log_dirs": log_dirs, "rack": ""}


def broker_spec_of(values: Spec) -> Spec:
    """Return the spec that the form's values stand for; ports and replicas follow the setup's rules."""
    broker_id, port = values["broker_id"], values["port"]
    others = [row.spec for row in ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER)]
    is_secure = any(spec.get("is_secure") for spec in others)
    metrics_port = port + METRICS_PORT_DISTANCE
    return {
        "broker_id": broker_id,
        "port": port,
        "metrics_port": metrics_port if metrics_port <= 65_535 else 0,
        "directory": str(broker_directory(settings.DATA_DIR, broker_id)),
        "log_dirs": [line.strip() for line in values["log_dirs"].splitlines() if line.strip()],
        "rack": values["rack"],
        "zookeeper": ",".join(managed_zookeepers()) or settings.ZOOKEEPER,
        "zookeeper_digest_file": settings.ZOOKEEPER_DIGEST_FILE,
        "is_secure": is_secure,
        "first_properties": first_broker_properties(len(others) + 1) | (FIRST_PROPERTIES if is_secure else {}),
    }


def replicas_of(broker_id: int) -> list[str]:
    """Return partitions with a replica on the broker, asked of the cluster now. Raises GatewayError."""
    return [
        f"{topic.name}-{partition.partition}"
        for topic in cluster_gateway().describe_topics()
        for partition in topic.partitions
        if broker_id in partition.replicas
    ]
