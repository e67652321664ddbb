"""How a ZooKeeper server is launched: class path, files and flags.

The server is the real one, from the jars inside the pyspark wheel. It runs as a quorum of one (not as "standalone"),
because such a quorum can later grow by `reconfig`.

Whose file is zoo.cfg? It is written once; settings that a start names (`zoo_cfg`) are written into it. While the
ensemble has one server, its `server.1` line follows the arguments of each start (ports move, everything else an
operator edited stays). ZooKeeper moves that line into a file of its own, `zoo.cfg.dynamic.*`; we move it back. Once
there are several servers the members belong to the ensemble: none is touched, and arguments that contradict them are
refused.

A new server that is to join an ensemble is told the members there are. Its first configuration names them and itself:
alone it is no quorum of that, so it can only follow the leader there is, until a reconfig makes it a member.

A reconfig needs ZooKeeper's super user. Its password lies in a file; zoo.cfg gets the digest, the same in every member,
from which the password cannot be found. (`skipACL`, the other way, would lift every access list there is.)
"""

import base64
import hashlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from broker.common import limits
from broker.common.errors import StartupError
from broker.common.extras import require
from broker.config.properties import parse_properties
from broker.zookeeper.zoo_cfg import default_text, with_settings

MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain"

_JAR_PATTERNS = (
    "zookeeper-3*.jar",
    "zookeeper-jute-*.jar",
    "slf4j-api-*.jar",
    "log4j-api-*.jar",
    "log4j-core-*.jar",
    "log4j-slf4j2-impl-*.jar",
    "metrics-core-*.jar",
    "snappy-java-*.jar",
)

#: Besides, for a server whose configuration has a port within TLS: only Netty's connections can.
_NETTY_JAR_PATTERNS = tuple(
    f"netty-{name}-4*.jar"
    for name in (
        "buffer",
        "codec-base",
        "common",
        "handler",
        "resolver",
        "transport",
        "transport-classes-epoll",
        "transport-native-unix-common",
    )
)

#: Of all clients together (maxClientCnxns: 60 of one address). Each may hold a request that is half read.
_CONNECTIONS_MAX = 200

#: A server with little in it takes about 80 MB and is ready in half a second. Bounds that stand here, not in zoo.cfg,
#: hold for older directories too. What was written under a larger jute.maxbuffer is still read at the start: extrasize.
JVM_FLAGS = (
    "-Xms16m",
    f"-Xmx{limits.ZOOKEEPER_HEAP_BYTES_MAX >> 20}m",
    "-XX:MaxNewSize=32m",
    "-XX:MinHeapFreeRatio=10",
    "-XX:MaxHeapFreeRatio=30",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:MaxMetaspaceSize=64m",
    "-XX:ReservedCodeCacheSize=24m",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    f"-Djute.maxbuffer={limits.ZOOKEEPER_REQUEST_BYTES_MAX}",
    f"-Dzookeeper.jute.maxbuffer.extrasize={2 * 1024 * 1024}",
    f"-Dzookeeper.largeRequestMaxBytes={limits.ZOOKEEPER_LARGE_REQUEST_BYTES_MAX}",
    f"-Dzookeeper.largeRequestThreshold={16 * 1024}",
    f"-Dzookeeper.maxCnxns={_CONNECTIONS_MAX}",
    "-Dzookeeper.enforceQuota=true",
)

#: What the customary quorum and election ports (2888, 3888) are above the customary client port (2181).
QUORUM_PORT_DISTANCE = 2888 - 2181
ELECTION_PORT_DISTANCE = 3888 - 2181

_LOG_CONFIG = "log4j2.properties"
_LOG4J2 = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSS}{UTC}Z %-5level %logger{1} %msg%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.main.name = org.apache.zookeeper.server.quorum.QuorumPeerMain
logger.main.level = info
logger.port.name = org.apache.zookeeper.server.NIOServerCnxnFactory
logger.port.level = info
logger.leader.name = org.apache.zookeeper.server.quorum.Leader
logger.leader.level = info
logger.follower.name = org.apache.zookeeper.server.quorum.Follower
logger.follower.level = info
# "zoo.cfg is relative": it is meant to be, so that the directory can be moved.
logger.config.name = org.apache.zookeeper.server.quorum.QuorumPeerConfig
logger.config.level = error
"""

_SERVER_LINE = re.compile(r"^server\.(\d+)=(.*)$", re.MULTILINE)
_SUPER_DIGEST_KEY = "DigestAuthenticationProvider.superDigest"
_SUPER_DIGEST_LINE = re.compile(rf"^{re.escape(_SUPER_DIGEST_KEY)}=.*\n?", re.MULTILINE)
_DYNAMIC_LINE = re.compile(r"^dynamicConfigFile=(.*)$", re.MULTILINE)
_ENDPOINT = re.compile(
    r"^(?P<host>.+):(?P<quorum>\d+):(?P<election>\d+)(?::\w+)?;(?:(?P<client_host>.+):)?(?P<client>\d+)$"
)


@dataclass(frozen=True)
class ServerAddress:
    """Addresses of one server of an ensemble: for clients, for the quorum and for elections."""

    host: str
    client_port: int
    quorum_port: int
    election_port: int

    @property
    def ports(self) -> tuple[int, int, int]:
        return self.client_port, self.quorum_port, self.election_port

    def __str__(self) -> str:
        return f"{self.host}:{self.quorum_port}:{self.election_port}:participant;{self.host}:{self.client_port}"

    @classmethod
    def parse(cls, text: str) -> "ServerAddress":
        match = _ENDPOINT.match(text.replace(" ", ""))
        if match is None:
            raise StartupError(f"zoo.cfg has a server address that is not host:port:port:role;host:port: {text!r}.")
        host = match["client_host"] or match["host"]
        return cls(host, int(match["client"]), int(match["quorum"]), int(match["election"]))


@dataclass(frozen=True)
class ServerMembership:
    """What a server is in its ensemble. `members` are lines as `server.1=…` of those a new server joins."""

    number: int = 1
    members: Sequence[str] = ()
    #: The password of ZooKeeper's super user; None: zoo.cfg keeps what it says.
    super_password: str | None = None
    #: Keys of `zoo_cfg.KEYS`; for those that are not named zoo.cfg keeps what it says.
    settings: Mapping[str, int] = field(default_factory=dict)


def prepare_server(
    directory: Path,
    host: str,
    client_port: int,
    quorum_port: int | None = None,
    election_port: int | None = None,
    membership: ServerMembership | None = None,
) -> ServerAddress:
    """Write what is missing in `directory` and return where the server will listen.

    Quorum and election port stay as they were when not given; a new server's are the client port's customary
    neighbours. Raises StartupError if `directory` holds a server of a larger ensemble that listens elsewhere, or one of
    another number.
    """
    membership = membership or ServerMembership()
    (directory / "data").mkdir(parents=True, exist_ok=True)
    _write_if_missing(directory / "data" / "myid", f"{membership.number}\n")
    write_log_config(directory)
    if _server_id(directory) != membership.number:
        raise StartupError(f"{directory} holds server {_server_id(directory)}, not server {membership.number}.")
    static = directory / "zoo.cfg"
    _write_if_missing(static, default_text() + "".join(f"{line}\n" for line in membership.members))
    if membership.super_password is not None:
        _replace_file(static, _with_super_digest(static.read_text(), membership.super_password))
    _replace_file(static, with_settings(static.read_text(), membership.settings))
    text = static.read_text()
    servers = _servers(directory, text)
    own = servers.get(_server_id(directory))
    address = ServerAddress(
        host=host,
        client_port=client_port,
        quorum_port=quorum_port or (own.quorum_port if own else client_port + QUORUM_PORT_DISTANCE),
        election_port=election_port or (own.election_port if own else client_port + ELECTION_PORT_DISTANCE),
    )
    if membership.number not in servers and _is_unborn(directory, membership):
        _replace_file(static, f"{text}server.{membership.number}={address}\n")
    elif len(servers) > 1:
        _refuse_contradiction(directory, own, address)
    else:
        _replace_file(static, _with_server_line(text, _server_id(directory), address))
        for moved in directory.glob("zoo.cfg.dynamic.*"):
            moved.unlink()
    return address


def write_log_config(directory: Path) -> Path:
    """Write the logging configuration of a server, unless the file exists."""
    path = directory / _LOG_CONFIG
    _write_if_missing(path, _LOG4J2)
    return path


def launch_command(java: Path, config: Path, config_name: str = "", log_config: str = _LOG_CONFIG) -> list[str]:
    """Return the command that is the server of the file `config`, which it is told of as `config_name`.

    With a bare `log_config` it runs inside the server's directory. Raises StartupError.
    """
    logs = f"-Dlog4j2.configurationFile={log_config}"
    path = class_path(serves_tls=_serves_tls(config.read_text("utf-8", "replace")))
    return [str(java), *JVM_FLAGS, logs, "-cp", path, MAIN_CLASS, config_name or str(config)]


def _serves_tls(text: str) -> bool:
    pairs = parse_properties(text)
    return "secureClientPort" in pairs or "Netty" in pairs.get("serverCnxnFactory", "")


def class_path(*, serves_tls: bool = False) -> str:
    """Return the jars a server needs, found by pattern because their versions move with pyspark. Raises
    StartupError.
    """
    jars = _jar_directory()
    paths = []
    for pattern in (*_JAR_PATTERNS, *(_NETTY_JAR_PATTERNS if serves_tls else ())):
        matches = sorted(jars.glob(pattern))
        if not matches:
            raise StartupError(f"ZooKeeper needs {pattern} and {jars} has none; install the pyspark wheel again.")
        paths.append(str(matches[-1]))
    return ":".join(paths)


def _jar_directory() -> Path:
    require("embedded")
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise StartupError("ZooKeeper's jars lie in the package pyspark, which has no directory; install it again.")
    return Path(spec.origin).parent / "jars"


def _servers(directory: Path, text: str) -> dict[int, ServerAddress]:
    """Return every server of the configuration, whether it still stands in zoo.cfg or in ZooKeeper's own dynamic
    file.
    """
    dynamic = _DYNAMIC_LINE.search(text)
    if dynamic is not None:
        moved = directory / Path(dynamic[1].strip()).name
        if not moved.exists():
            raise StartupError(
                f"{directory / 'zoo.cfg'} names {moved.name}, which is missing; restore it from a backup."
            )
        text += "\n" + moved.read_text()
    return {int(match[1]): ServerAddress.parse(match[2]) for match in _SERVER_LINE.finditer(text)}


def _server_id(directory: Path) -> int:
    text = (directory / "data" / "myid").read_text().strip()
    if not text.isdecimal():
        raise StartupError(f"{directory / 'data' / 'myid'} must hold the server's number, not {text!r}.")
    return int(text)


def _with_server_line(text: str, server_id: int, address: ServerAddress) -> str:
    """Return `text` naming this one server; a line without a version is versioned when the server leads."""
    kept = _DYNAMIC_LINE.sub("", _SERVER_LINE.sub("", text))
    lines = [line for line in kept.splitlines() if line.strip()]
    return "\n".join([*lines, f"server.{server_id}={address}"]) + "\n"


def _is_unborn(directory: Path, membership: ServerMembership) -> bool:
    """Return whether the server is to join others and has never run: ZooKeeper makes `version-2` at the first start."""
    return bool(membership.members) and not (directory / "data" / "version-2").exists()


def super_digest(password: str) -> str:
    """Return the digest as ZooKeeper's DigestAuthenticationProvider computes it, by SHA-1 by default."""
    digest = hashlib.sha1(f"super:{password}".encode(), usedforsecurity=False).digest()
    return f"super:{base64.b64encode(digest).decode()}"


def _with_super_digest(text: str, password: str) -> str:
    """Return `text` with the super user's digest as a key: ZooKeeper reads unknown keys as system properties
    `zookeeper.` + key, so the digest is on no command line.
    """
    line = f"{_SUPER_DIGEST_KEY}={super_digest(password)}\n"
    return text if line in text else line + _SUPER_DIGEST_LINE.sub("", text)


def _refuse_contradiction(directory: Path, own: ServerAddress | None, address: ServerAddress) -> None:
    if own is None:
        raise StartupError(f"The ensemble in {directory / 'zoo.cfg'} no longer has this server as a member.")
    if own != address:
        raise StartupError(
            f"{directory} holds a server of a larger ensemble that listens on {own.host}:{own.client_port} "
            f"(quorum {own.quorum_port}, election {own.election_port}); start it there or move it by reconfig first."
        )


def _write_if_missing(path: Path, text: str) -> None:
    if not path.exists():
        _replace_file(path, text)


def _replace_file(path: Path, text: str) -> None:
    if path.exists() and path.read_text() == text:
        return
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text)
    fresh.replace(path)
