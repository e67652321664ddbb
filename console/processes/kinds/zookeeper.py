"""A ZooKeeper server. Its zoo.cfg is written by `python -m broker zookeeper` when there is none, never by the console.

Spec: `directory`, `client_port`, `host` (127.0.0.1), `quorum_port` and `election_port` (default: the client port's
customary neighbours), `number` (1: its N of server.N), `join` (lines as `server.1=…` of the ensemble that a new server
joins), `super_password_file` (of who may change the ensemble) and `settings` (keys of zoo.cfg; the others stay).
"""

import re
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from console.kit.common.secret_files import load_or_create_secret
from console.kit.gateway.zookeeper.settings import why_wrong
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import (
    Launch,
    Spec,
    SpecError,
    read_directory,
    read_number,
    read_optional_port,
    read_pairs,
    read_port,
    read_secret_file,
    read_text,
    refuse_unknown,
)
from console.processes.readiness import answer_of_ports, silence_of_ports, zookeeper_serves
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "zookeeper", "ZooKeeper", 0, 5
STOP_MEANS = (
    "Stops ZooKeeper: brokers go on serving what they have, but no broker can join, no leader is elected and no "
    "topic is made until it is back."
)
_FIELDS = {
    "directory",
    "client_port",
    "host",
    "quorum_port",
    "election_port",
    "number",
    "join",
    "super_password_file",
    "settings",
}
#: Members that a new server is told of.
JOINED_MAX = 20
_HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:_-]*")
_MEMBER = re.compile(r"server\.\d+=[A-Za-z0-9.:;|_\[\]-]+")


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, _FIELDS)
    return {
        "directory": read_directory(spec, "directory"),
        "client_port": read_port(spec, "client_port"),
        "host": _read_host(spec),
        "quorum_port": read_optional_port(spec, "quorum_port"),
        "election_port": read_optional_port(spec, "election_port"),
        "number": read_number(spec, "number", 1, 255, 1),
        "join": _read_members(spec),
        "super_password_file": read_secret_file(spec, "super_password_file", str(settings.ZOOKEEPER_SECRET_FILE)),
        "settings": _read_settings(spec),
    }


def _read_settings(spec: Mapping[str, object]) -> dict[str, str]:
    pairs = read_pairs(spec, "settings")
    if wrong := why_wrong(pairs):
        raise SpecError(wrong)
    return pairs


def _read_host(spec: Mapping[str, object]) -> str:
    host = read_text(spec, "host", "127.0.0.1")
    if not _HOST.fullmatch(host):
        raise SpecError(f"host must be a name or an address, not {host!r}.")
    return host


def _read_members(spec: Mapping[str, object]) -> list[str]:
    lines = spec.get("join", [])
    if not isinstance(lines, list) or len(lines) > JOINED_MAX:
        raise SpecError(f"join must name at most {JOINED_MAX} members.")
    members = [read_text({"join": line}, "join") for line in lines]
    if not all(map(_MEMBER.fullmatch, members)):
        raise SpecError("join must name members as in zoo.cfg: server.1=host:2888:3888:participant;host:2181.")
    return members


def launch(spec: Spec) -> Launch:
    arguments = ["zookeeper", spec["directory"], "--client-port", str(spec["client_port"]), "--host", spec["host"]]
    for name in ("quorum_port", "election_port"):
        if spec[name] is not None:
            arguments += [f"--{name.replace('_', '-')}", str(spec[name])]
    if spec["number"] != 1:
        arguments += ["--number", str(spec["number"])]
    for name, value in spec["settings"].items():
        arguments += ["--set", f"{name}={value}"]
    for line in spec["join"]:
        arguments += ["--join", line]
    if spec["super_password_file"]:
        arguments += ["--super-password-file", spec["super_password_file"]]
    return Launch(arguments, Path(spec["directory"]), [spec["client_port"]])


def write_files(spec: Spec) -> None:
    """Write the password if it is missing. zoo.cfg is written by the server's first start, and after a reconfig it
    is ZooKeeper's.
    """
    if spec["super_password_file"]:
        load_or_create_secret(Path(spec["super_password_file"]))


def refresh_files(_spec: Spec) -> None:
    """Do nothing: the files do not depend on the host."""


def what_is_missing(process: StartedProcess, _pid: int, _now_s: float) -> str:
    silence = silence_of_ports(process.ports)
    if silence:
        return silence
    return "" if zookeeper_serves(process.ports[0]) else "it does not serve requests: it has no quorum"


def describe_answer(process: StartedProcess) -> str:
    return f"{answer_of_ports(process.ports)} and it serves requests"


def cluster_truth(process: StartedProcess, look: ClusterLook) -> ClusterTruth:
    """Return the truth of the server by its address, as of the collector's last look."""
    ending = f":{process.ports[0]}" if process.ports else ""
    server = next((mapping for mapping in look.zookeeper if ending and str(mapping["address"]).endswith(ending)), None)
    if server is None or not look.is_fresh(look.zookeeper_at_ms):
        return ClusterTruth(RegistrationState.UNKNOWN, "the collector has not asked this server of late")
    if server["error"]:
        return ClusterTruth(RegistrationState.ABSENT, f"it {server['error']}", look.zookeeper_at_ms)
    others = f" of {len(look.zookeeper)} servers" if len(look.zookeeper) > 1 else ""
    return ClusterTruth(RegistrationState.PRESENT, f"it serves as {server['mode']}{others}", look.zookeeper_at_ms)
