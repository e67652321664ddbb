"""The processes of the embedded setup: kind, name and spec of each, worked out from the settings."""

from dataclasses import replace
from pathlib import Path

from django.conf import settings

from console.processes.job_users import (
    CONNECT_GROUP,
    CONNECT_TOPICS,
    COUNTS_TOPIC,
    DEMO_JOB,
    DOCUMENTS_TOPIC,
    METRICS_TOPIC,
    PROBE,
    PROBE_TOPIC,
    REQUESTS_TOPIC,
    SCHEMAS_TOPIC,
)
from console.processes.kinds.spec import Spec
from console.processes.models import ManagedProcess, WithdrawnProcess
from console.processes.secured import FIRST_PROPERTIES
from console.processes.setup import Setup

ZOOKEEPER, REGISTRY, CONNECT, MIRROR = "zookeeper", "schema-registry", "connect", "mirror"
COUNTER = "audit-counter"
#: Brokers count what they append as well.
COUNTING = {"barnabas.audit.enable": "true"}
#: Of sinks and mirrors, in the message audit.
TAKING_PART = {"audit.enable": "true"}
#: What mirrors call this cluster and the second.
PRIMARY, BACKUP = "primary", "backup"
SECOND = BACKUP


def embedded_processes(setup: Setup, data: Path) -> list[tuple[str, str, Spec]]:
    """Return (kind, name, spec), in order of start."""
    processes: list[tuple[str, str, Spec]] = []
    if setup.zookeeper_port is not None:
        spec = {
            "directory": str(data / "zookeeper"),
            "client_port": setup.zookeeper_port,
            "super_password_file": str(settings.ZOOKEEPER_SECRET_FILE),
            "settings": _zookeeper_settings(),
        }
        processes.append(("zookeeper", ZOOKEEPER, spec))
    for number in range(1, setup.broker_count + 1):
        processes.append(("broker", f"broker-{number}", broker_spec(setup, data, number)))
    if setup.registry_port is not None:
        processes.append(("registry", REGISTRY, registry_spec(setup, data / "registry")))
    if setup.connect_port is not None:
        processes.append(("connect", CONNECT, connect_spec(setup, data / "connect")))
    if setup.demo:
        stream = data / "streams" / DEMO_JOB
        processes.append(
            ("stream", DEMO_JOB, {"directory": str(stream), "properties": stream_properties(setup, stream)})
        )
    if setup.has_mirror:
        processes.append(("second", SECOND, second_spec(setup, data / SECOND)))
        processes.append(("mirror", MIRROR, mirror_spec(setup, data / MIRROR)))
    if setup.has_audit:
        spec = {"directory": str(data / COUNTER), "bootstrap_servers": setup.bootstrap_servers}
        processes.append(("counter", COUNTER, spec))
    if setup.has_probe:
        processes.append(("probe", PROBE, probe_spec(setup, data / "probe")))
    return processes


def _zookeeper_settings() -> dict[str, str]:
    """Return ZooKeeper's settings; those an operator has set stay."""
    row = ManagedProcess.objects.filter(name=ZOOKEEPER).first()
    return row.spec.get("settings", {}) if row else {}


def with_every_zookeeper(setup: Setup) -> Setup:
    """Return `setup` with all ZooKeeper servers this console runs as what brokers connect to.

    The one of the setup may have been joined by others, or replaced. One that comes from elsewhere stays as it is.
    """
    if setup.zookeeper_port is None:
        return setup
    others = managed_zookeepers(but=ZOOKEEPER)
    if not others or not WithdrawnProcess.objects.filter(name=ZOOKEEPER).exists():
        others = [setup.zookeeper, *others]
    return replace(setup, zookeeper=",".join(others))


def managed_zookeepers(but: str = "") -> list[str]:
    """Return host:port of each ZooKeeper server this console runs, without the one of the process named `but`."""
    rows = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.ZOOKEEPER, is_leaving=False).exclude(name=but)
    return [f"{row.spec['host']}:{row.spec['client_port']}" for row in rows if row.spec]


def broker_spec(setup: Setup, data: Path, number: int) -> Spec:
    directory = broker_directory(data, number)
    return {
        "broker_id": number,
        "port": setup.port_of_broker(number),
        "metrics_port": setup.metrics_port_of_broker(number),
        "directory": str(directory),
        "log_dirs": [str(directory / "data")],
        "zookeeper": setup.zookeeper,
        "zookeeper_digest_file": settings.ZOOKEEPER_DIGEST_FILE,
        "is_secure": setup.is_secure,
        "first_properties": first_broker_properties(setup.broker_count)
        | (FIRST_PROPERTIES if setup.is_secure else {})
        | (COUNTING if setup.has_audit else {}),
    }


def broker_directory(data: Path, number: int) -> Path:
    return data / f"broker-{number}"


def first_broker_properties(broker_count: int) -> dict[str, str]:
    """Return settings as safe as that many brokers allow.

    On one machine no network delays ZooKeeper, so a broker's death is noticed after 6 s, as the documents
    have it; a broker set up by hand has that default too.
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


def connect_spec(setup: Setup, directory: Path) -> Spec:
    """Return the spec of a worker alone in its group, so that it does not wait for other workers."""
    configs, offsets, statuses = CONNECT_TOPICS
    pairs = {
        "bootstrap.servers": setup.bootstrap_servers,
        "group.id": CONNECT_GROUP,
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "config.storage.topic": configs,
        "offset.storage.topic": offsets,
        "status.storage.topic": statuses,
        "offset.storage.partitions": "5",
        "offset.flush.interval.ms": "10000",
        "scheduled.rebalance.max.delay.ms": "0",
    }
    pairs |= {f"{name}.storage.replication.factor": _replicas(setup) for name in ("config", "offset", "status")}
    pairs |= TAKING_PART if setup.has_audit else {}
    files = [str(settings.REQUEST_LOG_FILE), *map(str, setup.documents)]
    return {"directory": str(directory), "port": setup.connect_port, "properties": pairs, "files": files}


def registry_spec(setup: Setup, directory: Path) -> Spec:
    """Return the spec of a registry that leads without an election, since there is only one."""
    pairs = {
        "kafkastore.bootstrap.servers": setup.bootstrap_servers,
        "kafkastore.topic": SCHEMAS_TOPIC,
        "kafkastore.topic.replication.factor": _replicas(setup),
    }
    return {
        "directory": str(directory),
        "port": setup.registry_port,
        "properties": pairs,
        "is_secure": setup.is_secure,
    }


def _replicas(setup: Setup) -> str:
    return str(min(3, setup.broker_count) or -1)


def probe_spec(setup: Setup, directory: Path) -> Spec:
    """Return the probe's spec: a record a second to each leader is a third of an idle broker's work; a broker that is
    gone is still blamed after two refusals, a hanging one after three seconds of silence.
    """
    properties = {"bootstrap.servers": setup.bootstrap_servers, "topic": PROBE_TOPIC, "record.interval.ms": "1000"}
    if setup.has_mirror:
        properties |= {
            "mirror.bootstrap.servers": second_servers(setup),
            "mirror.topic": f"{PRIMARY}.{PROBE_TOPIC}",
        }
    return {"directory": str(directory), "port": setup.probe_port, "properties": properties}


def second_servers(setup: Setup) -> str:
    return f"127.0.0.1:{setup.second_port}"


def second_spec(setup: Setup, directory: Path) -> Spec:
    """Return the spec of the second cluster, in the same ensemble under its own chroot."""
    servers, _, root = setup.zookeeper.partition("/")
    return {
        "cluster": BACKUP,
        "broker_id": 1,
        "port": setup.second_port,
        "directory": str(directory),
        "log_dirs": [str(directory / "data")],
        "zookeeper": "/".join(part for part in (servers, root, BACKUP) if part),
        "zookeeper_digest_file": settings.ZOOKEEPER_DIGEST_FILE,
        "first_properties": first_broker_properties(1),
    }


def mirror_spec(setup: Setup, directory: Path) -> Spec:
    """Return the spec of the demo's mirror: topics of the demo and the probe go there, those written there come back,
    without loops.
    """
    copied = (METRICS_TOPIC, REQUESTS_TOPIC, COUNTS_TOPIC, DOCUMENTS_TOPIC, PROBE_TOPIC)
    there = {"source": PRIMARY, "target": BACKUP, "topics": ",".join(copied), "groups": ".*"}
    back = {"source": BACKUP, "target": PRIMARY, "topics": ".*", "groups": ".*"}
    flows = [there | {"replication_factor": 1}, back | {"replication_factor": min(3, setup.broker_count)}]
    properties = {
        "sync.group.offsets.enabled": "true",
        "sync.group.offsets.interval.seconds": "10",
        "emit.checkpoints.interval.seconds": "10",
        "refresh.topics.interval.seconds": "10",
        f"{PRIMARY}.exactly.once.source.support": "enabled",
        f"{BACKUP}.exactly.once.source.support": "enabled",
        **(TAKING_PART if setup.has_audit else {}),
    }
    clusters = {PRIMARY: setup.bootstrap_servers, BACKUP: second_servers(setup)}
    return {"directory": str(directory), "clusters": clusters, "flows": flows, "properties": properties}


def stream_properties(setup: Setup, directory: Path) -> dict[str, str]:
    return {
        "job": "windowed_counts",
        "bootstrap.servers": setup.bootstrap_servers,
        "checkpoint.dir": str(directory),
        "master": setup.spark_master,
        "input.topic": REQUESTS_TOPIC,
        "output.topic": COUNTS_TOPIC,
        "group.by": "$.path,$.status",
        "time.field": "$.time_ms",
        # A batch costs a third of a second of CPU, however few records are in it.
        "trigger.interval.ms": "3000",
    }
