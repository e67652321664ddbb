"""The processes of the embedded setup: their rows and their configuration files, written at each start of the console.

Rows of brokers that are no longer part of the setup are removed once they do not run; their data stays on disk.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from console.processes.models import ManagedProcess
from console.processes.properties_file import set_properties, write_properties
from console.processes.setup import Setup
from console.processes.states import Desired

Kind = ManagedProcess.Kind
STREAM_JOB = "access-counts"


@dataclass(frozen=True)
class Spec:
    """How one process is started: what the registry owns of its row."""

    name: str
    kind: ManagedProcess.Kind
    data_dir: Path
    arguments: list[str]
    ports: list[int] = field(default_factory=list)


def register(setup: Setup) -> list[ManagedProcess]:
    """Write files and rows of `setup`; the rows in order of start. A new process is meant to run."""
    specs = embedded_specs(setup, settings.DATA_DIR)
    write_configurations(setup, settings.DATA_DIR)
    rows = [_register(spec, position) for position, spec in enumerate(specs)]
    ManagedProcess.objects.exclude(name__in=[spec.name for spec in specs]).filter(pid__isnull=True).delete()
    return rows


def _register(spec: Spec, position: int) -> ManagedProcess:
    owned = {
        "kind": spec.kind,
        "position": position,
        "host": settings.HOST_NAME,
        "argv": [sys.executable, "-m", "broker", *spec.arguments],
        "working_dir": str(settings.BASE_DIR),
        "data_dir": str(spec.data_dir),
        "log_path": str(settings.LOG_DIR / f"{spec.name}.log"),
        "ports": spec.ports,
    }
    row, _ = ManagedProcess.objects.update_or_create(
        name=spec.name, defaults=owned, create_defaults={**owned, "desired": Desired.RUNNING.value}
    )
    return row


def embedded_specs(setup: Setup, data: Path) -> list[Spec]:
    """What runs, in order of start."""
    specs = []
    if setup.zookeeper_port is not None:
        directory = data / "zookeeper"
        arguments = ["zookeeper", str(directory), "--client-port", str(setup.zookeeper_port)]
        specs.append(Spec("zookeeper", Kind.ZOOKEEPER, directory, arguments, [setup.zookeeper_port]))
    for number in range(1, setup.broker_count + 1):
        directory = broker_directory(data, number)
        arguments = ["server", "--config", str(directory / "server.properties")]
        specs.append(Spec(f"broker-{number}", Kind.BROKER, directory, arguments, [setup.port_of_broker(number)]))
    specs.append(_configured(data / "connect", "demo", Kind.DEMO, "connect"))
    specs.append(_configured(data / "streams" / STREAM_JOB, STREAM_JOB, Kind.STREAM, "stream"))
    return specs


def _configured(directory: Path, name: str, kind: ManagedProcess.Kind, command: str) -> Spec:
    return Spec(name, kind, directory, [command, "--config", str(directory / f"{command}.properties")])


def broker_directory(data: Path, number: int) -> Path:
    return data / f"broker-{number}"


def write_configurations(setup: Setup, data: Path) -> None:
    for number in range(1, setup.broker_count + 1):
        directory = broker_directory(data, number)
        owned, initial = broker_properties(setup, directory, number), initial_broker_properties(setup.broker_count)
        set_properties(directory / "server.properties", owned, initial)
    connect = data / "connect"
    demo = demo_properties(setup, connect, settings.REQUEST_LOG_FILE)
    write_properties(connect / "connect.properties", _DEMO_HEADER + _lines(demo))
    stream = data / "streams" / STREAM_JOB
    set_properties(stream / "stream.properties", stream_properties(setup, stream))


_DEMO_HEADER = "# Written anew at each start of the console, from BARNABAS_DOCUMENTS and the ports.\n"


def _lines(pairs: dict[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in pairs.items())


def broker_properties(setup: Setup, directory: Path, number: int) -> dict[str, str]:
    """The keys that follow from the setup; all others in the file are the operator's."""
    return {
        "broker.id": str(number),
        "listeners": f"PLAINTEXT://127.0.0.1:{setup.port_of_broker(number)}",
        "log.dirs": str(directory / "data"),
        "zookeeper.connect": setup.zookeeper,
        "metrics.listener": f"127.0.0.1:{setup.metrics_port_of_broker(number)}",
    }


def initial_broker_properties(broker_count: int) -> dict[str, str]:
    """As safe as that many brokers allow: a topic survives the loss of any two of three, and acks=all means two.

    On one machine no network delays ZooKeeper, so a broker's death may be noticed sooner than Kafka's 18 s.
    """
    replicas = str(min(3, broker_count))
    return {
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": "2" if broker_count >= 3 else "1",
        "min.insync.replicas": "2" if broker_count >= 3 else "1",
        "zookeeper.session.timeout.ms": "6000",
    }


def demo_properties(setup: Setup, directory: Path, request_log: Path) -> dict[str, str]:
    """The machine's metrics, the console's own requests, and the text files a person named."""
    connectors = ["host-metrics", "console-access", *(["documents"] if setup.documents else [])]
    pairs = {
        "bootstrap.servers": setup.bootstrap_servers,
        "offset.storage.file.filename": str(directory / "offsets.json"),
        "connectors": ",".join(connectors),
        "host-metrics.connector.class": "HostMetricsSource",
        "host-metrics.topic": "host.metrics",
        "console-access.connector.class": "FileSource",
        "console-access.file": str(request_log),
        "console-access.topic": "console.access",
        "console-access.json.key": "path",
    }
    if setup.documents:
        pairs["documents.connector.class"] = "FileSource"
        pairs["documents.file"] = ",".join(map(str, setup.documents))
        pairs["documents.topic"] = "documents.lines"
    return pairs


def stream_properties(setup: Setup, directory: Path) -> dict[str, str]:
    return {
        "job": STREAM_JOB.replace("-", "_"),
        "bootstrap.servers": setup.bootstrap_servers,
        "checkpoint.dir": str(directory),
        "master": setup.spark_master,
    }
