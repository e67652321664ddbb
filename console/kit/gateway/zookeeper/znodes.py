"""A real ensemble, asked through one kazoo client that connects when it is first needed and stays."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kazoo import exceptions as kazoo_errors
from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.interfaces import IAsyncResult

from broker.common.errors import BarnabasError
from broker.config.properties import parse_properties
from broker.config.zookeeper import read_zookeeper_tls
from broker.net.tls.settings import TlsSettings
from broker.zookeeper.ensemble_config import CONFIG_PATH, EnsembleConfig, parse_config
from broker.zookeeper.tls import tls_arguments, tls_settings
from console.kit.common.natural_order import natural_order
from console.kit.gateway.zookeeper.four_letter_words import describe_servers
from console.kit.gateway.zookeeper.interface import (
    CHILDREN_LISTED_MAX,
    VALUE_BYTES_MAX,
    ChildView,
    NoQuorumError,
    NoSuchZnodeError,
    NotAllowedError,
    ReconfigRefusedError,
    StaleConfigError,
    ZnodeView,
    ZooKeeperUnreachableError,
)

TIMEOUT_SECONDS = 3.0
#: A reconfig is answered when a quorum of the new members has it.
RECONFIG_TIMEOUT_SECONDS = 8.0
SESSION_TIMEOUT_SECONDS = 10.0
_RECONNECT = {"max_tries": -1, "delay": 0.1, "backoff": 2, "max_delay": 2}
_UNREACHABLE = "ZooKeeper does not answer: no member can be reached, or they have no quorum."

#: kazoo tells every broken connection as a warning; the page says it already.
_QUIET = logging.getLogger("console.kit.gateway.kazoo")
_QUIET.setLevel(logging.CRITICAL)


class KazooGateway:
    """Thread-safe. The connect string is where it begins; from then on it knows every member the ensemble names.

    `read_secret` gives the super user's password, which a reconfig needs; None: this console has none. `read_digest`
    gives the brokers' user:password, with which their sensitive znodes can be read; None, or no such file: as anybody.
    `tls_file` holds Kafka's zookeeper.ssl.… keys; empty: in plain text. What the ensemble names are ports in plain
    text, so within TLS the connect string is all there is.
    """

    def __init__(
        self,
        connect_string: str,
        read_secret: Callable[[], str] | None = None,
        read_digest: Callable[[], str] | None = None,
        tls_file: str = "",
    ):
        self._servers, _, chroot = connect_string.partition("/")
        self._first_servers = [part.strip() for part in self._servers.split(",") if part.strip()]
        self._chroot = f"/{chroot.strip('/')}" if chroot.strip("/") else ""
        self._read_secret = read_secret
        self._read_digest = read_digest
        self._tls_file = tls_file
        self._lock = threading.Lock()
        self._client: KazooClient | None = None
        #: Set by kazoo once the client is connected.
        self._connection = threading.Event()
        self._follows_members = False

    # What the console asks -------------------------------------------------------------------------------------------

    def look(self, path: str, children_from: int = 0, children_count: int = 100) -> ZnodeView:
        client, path = self._connected(), self._absolute(path)
        stat = self._wait(path, client.exists_async(path))
        if stat is None:
            raise NoSuchZnodeError(f"There is no znode {self._relative(path)}.")
        value = None
        if stat.dataLength <= VALUE_BYTES_MAX:
            value, stat = self._wait(path, client.get_async(path))
        children: tuple[ChildView, ...] = ()
        if 0 < stat.numChildren <= CHILDREN_LISTED_MAX:
            names = sorted(self._wait(path, client.get_children_async(path)), key=natural_order)
            children = self._children(path, names[children_from : children_from + children_count])
        return ZnodeView(
            path=self._relative(path),
            value=value,
            data_bytes=stat.dataLength,
            child_count=stat.numChildren,
            children=children,
            version=stat.version,
            children_version=stat.cversion,
            acl_version=stat.aversion,
            ephemeral_owner=stat.ephemeralOwner,
            czxid=stat.czxid,
            mzxid=stat.mzxid,
            pzxid=stat.pzxid,
            created_at_ms=stat.ctime,
            modified_at_ms=stat.mtime,
        )

    def ensemble(self) -> EnsembleConfig:
        value, _ = self._wait(CONFIG_PATH, self._connected().get_async(CONFIG_PATH))
        return parse_config(value.decode("utf-8", "replace"))

    def modes(self, addresses: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        views = describe_servers(addresses)
        return {address: view.mode for address, view in zip(addresses, views, strict=True) if not view.error}

    def reconfigure(self, joining: Sequence[str], leaving: Sequence[int], from_version: int) -> EnsembleConfig:
        """Reconfigure the ensemble on a connection of its own with the super user's rights."""
        if self._read_secret is None:
            raise NotAllowedError("This console has no password for a reconfig of this ensemble.")
        client = self._new_client()
        try:
            self._open_as_super(client, self._read_secret)
            result = client.reconfig_async(
                ",".join(joining) or None, ",".join(map(str, leaving)) or None, None, from_version
            )
            value, _ = result.get(timeout=RECONFIG_TIMEOUT_SECONDS)
            return parse_config(value.decode("utf-8", "replace"))
        except tuple(_REFUSALS) as error:
            kind, sentence = _REFUSALS[type(error)]
            raise kind(sentence) from error
        except (KazooTimeoutError, kazoo_errors.KazooException) as error:
            sentence = f"Whether the ensemble has changed is not known ({type(error).__name__})."
            raise ZooKeeperUnreachableError(sentence) from error
        finally:
            _end(client)

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            _end(client)

    # Underneath ------------------------------------------------------------------------------------------------------

    def _open_as_super(self, client: KazooClient, read_secret: Callable[[], str]) -> None:
        try:
            client.start(timeout=TIMEOUT_SECONDS)
            client.add_auth("digest", f"super:{read_secret()}")
        except (KazooTimeoutError, kazoo_errors.KazooException) as error:
            raise ReconfigRefusedError(f"{_UNREACHABLE} Nothing was changed.") from error
        except OSError as error:
            raise NotAllowedError("The file with ZooKeeper's super password cannot be read.") from error

    def _children(self, path: str, names: Sequence[str]) -> tuple[ChildView, ...]:
        client = self._connected()
        children = [(name, client.exists_async(f"{path.rstrip('/')}/{name}")) for name in names]
        views = []
        for name, result in children:
            stat = self._wait(path, result)
            if stat is None:
                views.append(ChildView(name, None, None))
            else:
                views.append(ChildView(name, stat.numChildren, stat.dataLength, bool(stat.ephemeralOwner)))
        return tuple(views)

    def _wait(self, path: str, result: IAsyncResult) -> Any:
        try:
            return result.get(timeout=TIMEOUT_SECONDS)
        except kazoo_errors.NoNodeError as error:
            raise NoSuchZnodeError(f"There is no znode {self._relative(path)}.") from error
        except kazoo_errors.NoAuthError as error:
            raise NotAllowedError(
                f"The access list of {self._relative(path)} does not let the console read it."
            ) from error
        except (KazooTimeoutError, kazoo_errors.KazooException) as error:
            raise ZooKeeperUnreachableError(_UNREACHABLE) from error

    def _connected(self) -> KazooClient:
        with self._lock:
            if self._client is None:
                self._client, self._follows_members = self._new_client(), False
                self._connection = self._client.start_async()
            client, connection = self._client, self._connection
        if not client.connected and not connection.wait(TIMEOUT_SECONDS):
            raise ZooKeeperUnreachableError(_UNREACHABLE)
        with self._lock:
            is_first, self._follows_members = not self._follows_members, True
        if is_first and not self._tls_file:
            client.DataWatch(CONFIG_PATH, self._follow_members)
        return client

    def _follow_members(self, value: bytes | None, _stat: object) -> None:
        """Called by kazoo at first, at every change and after every reconnection."""
        members = parse_config((value or b"").decode("utf-8", "replace")).members
        addresses = [member.address for member in members if member.address]
        named = [server for server in self._first_servers if server not in addresses]
        self._servers = ",".join([*addresses, *named])
        with self._lock:
            if self._client is not None:
                self._client.set_hosts(self._servers)

    def _new_client(self) -> KazooClient:
        if not self._servers:
            raise ZooKeeperUnreachableError("No ZooKeeper address is set.")
        return KazooClient(
            hosts=self._servers,
            timeout=SESSION_TIMEOUT_SECONDS,
            connection_retry=_RECONNECT,
            logger=_QUIET,
            auth_data=self._auth_data(),
            **tls_arguments(self._tls()),
        )

    def _tls(self) -> TlsSettings | None:
        if not self._tls_file:
            return None
        try:
            return tls_settings(read_zookeeper_tls(parse_properties(Path(self._tls_file).read_text())))
        except (OSError, UnicodeDecodeError, BarnabasError) as error:
            raise ZooKeeperUnreachableError(f"{self._tls_file} cannot be used: {error}") from error

    def _auth_data(self) -> list[tuple[str, str]]:
        try:
            return [("digest", self._read_digest())] if self._read_digest else []
        except OSError:
            return []

    def _absolute(self, path: str) -> str:
        return f"{self._chroot}{path}".rstrip("/") or "/"

    def _relative(self, path: str) -> str:
        return path.removeprefix(self._chroot) or "/"


def secret_reader(path: Path) -> Callable[[], str]:
    return lambda: path.read_text().strip()


def _end(client: KazooClient) -> None:
    try:
        client.stop()
        client.close()
    except kazoo_errors.KazooException:
        _QUIET.debug("a connection was broken when it was ended")


_REFUSALS = {
    kazoo_errors.NewConfigNoQuorumError: (
        NoQuorumError,
        "Too few of the new members are in sync with the leader yet.",
    ),
    kazoo_errors.BadVersionError: (StaleConfigError, "The ensemble was changed by another client meanwhile."),
    kazoo_errors.ReconfigInProcessError: (NoQuorumError, "Another change of the ensemble is under way."),
    kazoo_errors.NoAuthError: (
        NotAllowedError,
        "The ensemble does not take the console's password for a reconfig. Members started before this console knew "
        "how to change the ensemble need one restart.",
    ),
    kazoo_errors.BadArgumentsError: (ReconfigRefusedError, "The ensemble does not accept these members."),
    kazoo_errors.ReconfigDisabledError: (
        ReconfigRefusedError,
        "The members do not allow a reconfig (reconfigEnabled=true is missing in their zoo.cfg).",
    ),
    kazoo_errors.UnimplementedError: (ReconfigRefusedError, "This ensemble is too old for a reconfig (before 3.5)."),
}
