"""How a command finds its cluster: `--bootstrap-server` of today, `--broker-list` and `--zookeeper` of before.

ZooKeeper is asked where the brokers are, and everything else is asked of the brokers themselves.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from broker.cli.frame.declaration import Arguments, CommandError, Option, UsageError
from broker.cli.frame.zookeeper import ZooKeeperAccess
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.common.errors import ApiError

if TYPE_CHECKING:
    from broker.client.security.properties import ClientSecurity
    from broker.common.cluster import LiveBroker
    from broker.zookeeper.session import ZooKeeperSession

BOOTSTRAP_SERVER = Option(
    "bootstrap-server",
    "Some brokers of the cluster, through which the others are found.",
    "HOST:PORT,…",
    older=("broker-list", "bootstrap-servers"),
)
ZOOKEEPER = Option(
    "zookeeper",
    "As before Kafka 3.0: where the cluster's ZooKeeper is, which knows its brokers.",
    "HOST:PORT,…[/CHROOT]",
)
COMMAND_CONFIG = Option("command-config", "A properties file of the client.", "FILE")
#: For a command that asks as an administrator does.
ADMIN = (BOOTSTRAP_SERVER, ZOOKEEPER, COMMAND_CONFIG)

_TIMEOUT_KEY = "default.api.timeout.ms"
_TIMEOUT_S = 30.0


@contextmanager
def connected(
    arguments: Arguments, config_option: str = "command-config", *, timeout_s: float | None = None
) -> Iterator[ClusterConnections]:
    """Connect for the length of the block; `timeout_s` if the properties name none. Raises UsageError, CommandError."""
    config = client_config(arguments[config_option])
    security = security_of(config)
    servers = bootstrap_servers(arguments)
    timeout_s = _timeout_s(config) or timeout_s or _TIMEOUT_S
    client_id = config.get("client.id", arguments.command.name)
    with ClusterConnections(servers, timeout_s=timeout_s, client_id=client_id, security=security) as cluster:
        yield cluster


def bootstrap_servers(arguments: Arguments) -> tuple[tuple[str, int], ...]:
    """Return the addresses of whichever option was typed. Raises UsageError, CommandError."""
    if arguments["bootstrap-server"]:
        try:
            return parse_bootstrap_servers(arguments["bootstrap-server"])
        except ApiError as error:
            spelled = arguments.spelling("bootstrap-server")
            raise UsageError(f"--{spelled}: {error}; valid is host:port like host1:9091,host2:9092") from None
    if arguments.command.option("zookeeper") and arguments["zookeeper"]:
        return brokers_in_zookeeper(arguments["zookeeper"])
    raise UsageError("--bootstrap-server must be specified")


def brokers_in_zookeeper(connect: str) -> tuple[tuple[str, int], ...]:
    from broker.zookeeper.znodes import BROKER_IDS, broker_path, decode_broker

    async def read(session: "ZooKeeperSession") -> list["LiveBroker"]:
        brokers = []
        for name in sorted(await session.children(BROKER_IDS), key=int):
            znode = await session.get(broker_path(int(name)))
            brokers.append(decode_broker(int(name), znode.data, znode.czxid))
        return brokers

    endpoint_lists = [
        broker.registration.endpoints for broker in ZooKeeperAccess(connect).read(read, "where the brokers are")
    ]
    if not endpoint_lists:
        raise CommandError(f"No broker is registered in the ZooKeeper at {connect}.")
    return tuple((endpoints[0].host, endpoints[0].port) for endpoints in endpoint_lists if endpoints)


def client_config(path: str | None) -> Mapping[str, str]:
    """Return the properties of a file; none without a path. Raises CommandError.

    One that holds a password and is open to others is used, and told: it may be a mount whose mode nobody can
    change.
    """
    if not path:
        return {}
    from broker.client.security.errors import ClientConfigError
    from broker.client.security.file import exposure, read_client_properties

    try:
        config = read_client_properties(path)
    except ClientConfigError as error:
        raise CommandError(f"The{str(error).removeprefix('the')}.") from None
    if exposed := exposure(path, config):
        print(f"WARNING: {exposed}", file=sys.stderr)
    return config


def typed_properties(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return typed properties. Warns about passwords: anyone who lists the host's processes can read them."""
    from broker.client.security.properties import is_secret

    typed = dict(pairs)
    if shown := sorted(filter(is_secret, typed)):
        print(
            f"WARNING: {shown[0]} on a command line can be read by every user of this host; use a properties file.",
            file=sys.stderr,
        )
    return typed


def security_of(config: Mapping[str, str]) -> "ClientSecurity | None":
    """Return the security settings of client properties; None for plaintext connections. Raises CommandError."""
    if config.get("security.protocol", "PLAINTEXT").upper() == "PLAINTEXT":
        return None
    from broker.client.security.errors import ClientConfigError
    from broker.client.security.properties import read_security

    try:
        return read_security(config)
    except ClientConfigError as error:
        raise CommandError(f"{error}.") from None


def _timeout_s(config: Mapping[str, str]) -> float | None:
    text = config.get(_TIMEOUT_KEY)
    if text is None:
        return None
    if not text.isdecimal() or not int(text):
        raise CommandError(f"{_TIMEOUT_KEY}={text}: it is a number of milliseconds greater than 0.")
    return int(text) / 1000
