"""How a command finds its cluster: `--bootstrap-server` of today, `--broker-list` and `--zookeeper` of before.

ZooKeeper is asked where the brokers are, and everything else is asked of the brokers themselves.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from broker.cli.frame.declaration import Arguments, CommandError, Option, UsageError
from broker.client.cluster import Cluster, parse_bootstrap_servers
from broker.common.errors import ApiError, BarnabasError
from broker.config.properties import parse_properties

if TYPE_CHECKING:
    from broker.common.cluster import LiveBroker
    from broker.zookeeper.session import ZooKeeperSession

Found = TypeVar("Found")

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
_CONNECT_TIMEOUT_MS = 10_000
_SESSION_TIMEOUT_MS = 6_000


@contextmanager
def connected(
    arguments: Arguments, config_option: str = "command-config", *, timeout_s: float | None = None
) -> Iterator[Cluster]:
    """Until the end of the block; `timeout_s` if the properties name none. Raises UsageError, CommandError."""
    config = client_config(arguments[config_option])
    _refuse_security(config)
    servers = bootstrap_servers(arguments)
    timeout_s = _timeout_s(config) or timeout_s or _TIMEOUT_S
    with Cluster(servers, timeout_s=timeout_s, client_id=config.get("client.id", arguments.command.name)) as cluster:
        yield cluster


def bootstrap_servers(arguments: Arguments) -> tuple[tuple[str, int], ...]:
    """Of whichever option was typed. Raises UsageError, CommandError."""
    if arguments["bootstrap-server"]:
        try:
            return parse_bootstrap_servers(arguments["bootstrap-server"])
        except ApiError as error:
            spelled = arguments.spelling("bootstrap-server")
            raise UsageError(f"--{spelled}: {error}; valid is host:port like host1:9091,host2:9092") from None
    if arguments.command.option("zookeeper") and arguments["zookeeper"]:
        return _brokers_in_zookeeper(arguments["zookeeper"])
    raise UsageError("--bootstrap-server must be specified")


def _brokers_in_zookeeper(connect: str) -> tuple[tuple[str, int], ...]:
    from broker.zookeeper.znodes import BROKER_IDS, broker_path, decode_broker

    async def read(session: "ZooKeeperSession") -> list["LiveBroker"]:
        brokers = []
        for name in sorted(await session.children(BROKER_IDS), key=int):
            znode = await session.get(broker_path(int(name)))
            brokers.append(decode_broker(int(name), znode.data, znode.czxid))
        return brokers

    found = [broker.registration.endpoints for broker in read_zookeeper(connect, read, "where the brokers are")]
    if not found:
        raise CommandError(f"No broker is registered in the ZooKeeper at {connect}.")
    return tuple((endpoints[0].host, endpoints[0].port) for endpoints in found if endpoints)


def read_zookeeper(connect: str, read: Callable[["ZooKeeperSession"], Awaitable[Found]], what: str) -> Found:
    """What `read` finds in a session of its own. Raises CommandError: ZooKeeper does not tell `what`, and why."""
    import asyncio
    import logging

    from broker.zookeeper.session import ZooKeeperSession

    async def within_session() -> Found:
        session = ZooKeeperSession(connect, _SESSION_TIMEOUT_MS)
        await session.connect(_CONNECT_TIMEOUT_MS)
        try:
            return await read(session)
        finally:
            await session.close()

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    try:
        return asyncio.run(within_session())
    except BarnabasError as error:
        raise CommandError(f"ZooKeeper at {connect} does not tell {what}: {error}") from None


def client_config(path: str | None) -> Mapping[str, str]:
    """What a properties file says; nothing without one. Raises CommandError."""
    if not path:
        return {}
    try:
        return parse_properties(Path(path).read_text())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise CommandError(f"The properties file {path} cannot be read: {reason}.") from None


def _timeout_s(config: Mapping[str, str]) -> float | None:
    text = config.get(_TIMEOUT_KEY)
    if text is None:
        return None
    if not text.isdecimal() or not int(text):
        raise CommandError(f"{_TIMEOUT_KEY}={text}: it is a number of milliseconds greater than 0.")
    return int(text) / 1000


def _refuse_security(config: Mapping[str, str]) -> None:
    protocol = config.get("security.protocol", "PLAINTEXT").upper()
    if protocol != "PLAINTEXT":
        raise CommandError(f"security.protocol={protocol}: this command speaks PLAINTEXT only.")
