"""What an ensemble says of itself in `/zookeeper/config`: who its members are and where they listen. Pure.

A line is `server.N=host:quorum:election[:role][;[client host:]client port]`, as ZooKeeper's dynamic reconfiguration
writes it; a host may be several, divided by `|` (ZooKeeper 3.6), of which the first counts here. The version goes up
with every reconfig.
"""

import re
from dataclasses import dataclass

CONFIG_PATH = "/zookeeper/config"

_MEMBER = re.compile(r"^server\.(?P<number>\d+)=(?P<ports>[^;|]+)[^;]*(?:;(?P<client>.+))?$")
_VERSION = re.compile(r"^version=([0-9a-fA-F]+)$", re.MULTILINE)
_EVERY_ADDRESS = frozenset({"0.0.0.0", "::", "0:0:0:0:0:0:0:0"})


@dataclass(frozen=True, slots=True)
class EnsembleMember:
    """A member of the ensemble: `line` is its `server.N=` line. `client_port` is None if only its zoo.cfg has it."""

    number: int
    host: str
    client_host: str
    client_port: int | None
    role: str
    line: str

    @property
    def address(self) -> str:
        """The client address, as in a connect string; empty while unknown."""
        host = f"[{self.client_host}]" if ":" in self.client_host else self.client_host
        return f"{host}:{self.client_port}" if self.client_port else ""


@dataclass(frozen=True, slots=True)
class EnsembleConfig:
    """`version` is ZooKeeper's number of this configuration; members in order of their numbers."""

    version: int
    members: tuple[EnsembleMember, ...]

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(member.number for member in self.members)

    @property
    def voter_count(self) -> int:
        return sum(member.role == "participant" for member in self.members)


def parse_config(text: str) -> EnsembleConfig:
    """Parse a configuration. Lines that name no member are left out; a configuration without a version has 0."""
    version = _VERSION.search(text)
    ensemble_members = (_parse_member(line.strip()) for line in text.splitlines())
    members = sorted((member for member in ensemble_members if member is not None), key=lambda member: member.number)
    return EnsembleConfig(int(version[1], 16) if version else 0, tuple(members))


def _parse_member(line: str) -> EnsembleMember | None:
    match = _MEMBER.match(line.replace(" ", ""))
    if match is None:
        return None
    host, _, rest = _split_host(match["ports"])
    role = rest.rpartition(":")[2]
    client_host, client_port = _parse_client(match["client"], host)
    return EnsembleMember(
        int(match["number"]),
        host,
        client_host,
        client_port,
        role if role in ("participant", "observer") else "participant",
        line,
    )


def _split_host(text: str) -> tuple[str, str, str]:
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        return host, bracket, rest.lstrip(":")
    return text.partition(":")


def _parse_client(text: str | None, host: str) -> tuple[str, int | None]:
    """Return a member's client host and port; the host it has for other members if it listens on every address."""
    if not text:
        return host, None
    client_host, _, port = text.rpartition(":")
    client_host = client_host.strip("[]")
    return (client_host if client_host and client_host not in _EVERY_ADDRESS else host), (
        int(port) if port.isdecimal() else None
    )
