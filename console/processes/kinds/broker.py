"""A broker, and its server.properties.

Spec: `broker_id`, `port`, `metrics_port` (0: none), `directory` (where the properties file lies), `log_dirs`, `rack`,
`zookeeper` (zookeeper.connect), `zookeeper_digest_file` (who it is there; empty: nobody), `is_secure` (`secured`) and
`first_properties`: keys the file is given while it does not say them itself.
All other keys of the file are the operator's.
"""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from console.kit.common.secret_files import load_or_create_secret
from console.kit.gateway.brokers.server_properties import read_server_properties
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import (
    Launch,
    Spec,
    SpecError,
    read_directory,
    read_log_directory,
    read_number,
    read_pairs,
    read_port,
    read_secret_file,
    read_switch,
    read_text,
    refuse_unknown,
)
from console.processes.properties_file import set_properties
from console.processes.readiness import answer_of_ports, silence_of_ports
from console.processes.secured import make_certificates, properties_to_remove, secured_properties
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "broker", "broker", 10, 20
STOP_MEANS = ""
#: Kafka's reserved.broker.max.id is 1000: what lies above is for ids that ZooKeeper hands out.
BROKER_ID_MAX = 1_000
LOG_DIRS_MAX = 32
_FIELDS = {
    "broker_id",
    "port",
    "metrics_port",
    "directory",
    "log_dirs",
    "rack",
    "zookeeper",
    "zookeeper_digest_file",
    "is_secure",
    "first_properties",
}
#: Keys of the file that follow from those.
_OWNED = {
    "authorizer.class.name",
    "broker.id",
    "broker.rack",
    "inter.broker.listener.name",
    "listeners",
    "log.dirs",
    "metrics.listener",
    "zookeeper.connect",
    "zookeeper.digest.file",
    "zookeeper.set.acl",
}


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, _FIELDS)
    return {
        "broker_id": read_number(spec, "broker_id", 0, BROKER_ID_MAX),
        "port": read_port(spec, "port"),
        "metrics_port": read_number(spec, "metrics_port", 0, 65_535, 0),
        "directory": read_directory(spec, "directory"),
        "log_dirs": _read_log_dirs(spec),
        "rack": read_text(spec, "rack", ""),
        "zookeeper": read_text(spec, "zookeeper"),
        "zookeeper_digest_file": read_secret_file(spec, "zookeeper_digest_file", settings.ZOOKEEPER_DIGEST_FILE),
        "is_secure": read_switch(spec, "is_secure"),
        "first_properties": _read_first_properties(spec),
    }


def _read_first_properties(spec: Mapping[str, object]) -> dict[str, str]:
    pairs = read_pairs(spec, "first_properties")
    if owned := sorted(pairs.keys() & _OWNED):
        raise SpecError(f"first_properties has {owned[0]}, which has a field of its own.")
    return pairs


def _read_log_dirs(spec: Mapping[str, object]) -> list[str]:
    log_dirs = spec.get("log_dirs")
    if not isinstance(log_dirs, list) or not 1 <= len(log_dirs) <= LOG_DIRS_MAX:
        raise SpecError(f"log_dirs must name 1 to {LOG_DIRS_MAX} directories.")
    if any(isinstance(value, str) and "," in value for value in log_dirs):
        raise SpecError("log_dirs must have no comma in a path: log.dirs of a broker is a list.")
    directories = [read_log_directory({"log_dirs": item}, "log_dirs") for item in log_dirs]
    if len({Path(directory) for directory in directories}) < len(directories):
        raise SpecError("log_dirs names a directory twice.")
    return directories


def config_file(spec: Spec) -> Path:
    return Path(spec["directory"]) / "server.properties"


def launch(spec: Spec) -> Launch:
    return Launch(["server", "--config", str(config_file(spec))], Path(spec["directory"]), [spec["port"]])


def write_files(spec: Spec) -> None:
    if spec["zookeeper_digest_file"]:
        load_or_create_secret(Path(spec["zookeeper_digest_file"]), prefix="barnabas:")
    path, removed = config_file(spec), set()
    if spec["is_secure"]:
        make_certificates()
    elif path.exists():
        removed = properties_to_remove(read_server_properties(path.read_text()))
    set_properties(path, properties(spec), spec["first_properties"], removed)


def refresh_files(_spec: Spec) -> None:
    """Do nothing: the files do not depend on the host."""


def properties(spec: Spec) -> dict[str, str]:
    """Return the keys that follow from the spec."""
    owned = {
        "broker.id": str(spec["broker_id"]),
        "listeners": f"PLAINTEXT://127.0.0.1:{spec['port']}",
        "log.dirs": ",".join(spec["log_dirs"]),
        "zookeeper.connect": spec["zookeeper"],
    }
    if spec["zookeeper_digest_file"]:
        owned |= {"zookeeper.set.acl": "true", "zookeeper.digest.file": spec["zookeeper_digest_file"]}
    if spec["is_secure"]:
        owned |= secured_properties(spec["port"])
    if spec["metrics_port"]:
        owned["metrics.listener"] = f"127.0.0.1:{spec['metrics_port']}"
    if spec["rack"]:
        owned["broker.rack"] = spec["rack"]
    return owned


def what_is_missing(process: StartedProcess, _pid: int, _now_s: float) -> str:
    return silence_of_ports(process.ports)


def describe_answer(process: StartedProcess) -> str:
    return answer_of_ports(process.ports)


def cluster_truth(process: StartedProcess, look: ClusterLook) -> ClusterTruth:
    """Return whether the broker is registered, and how many of its replicas are in sync, as the collector last saw
    it.
    """
    if look.brokers_error or not look.is_fresh(look.brokers_at_ms):
        return ClusterTruth(RegistrationState.UNKNOWN, look.brokers_error or "the collector has not looked of late")
    broker_id = process.spec.get("broker_id", -1)
    broker = look.brokers.get(broker_id)
    if broker is None or not broker.is_registered:
        return ClusterTruth(RegistrationState.ABSENT, "it is not registered in ZooKeeper", look.brokers_at_ms)
    controller = " and is controller" if broker_id == look.controller_id else ""
    holds = f"{broker.in_sync:,} of {broker.replicas:,} partitions in sync" if broker.replicas else "no partition yet"
    text = f"it is registered in ZooKeeper{controller}; {holds}"
    return ClusterTruth(
        RegistrationState.PRESENT, text, look.brokers_at_ms, look.partitions_at_ms, broker.replicas, broker.in_sync
    )
