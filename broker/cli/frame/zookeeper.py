"""How a command comes to ZooKeeper: where it is, as whom, and within TLS or not."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from broker.cli.frame.declaration import CommandError, Option
from broker.common.errors import BarnabasError

if TYPE_CHECKING:
    from broker.zookeeper.session import ZooKeeperSession

Found = TypeVar("Found")

ZK_TLS = Option(
    "zk-tls-config-file",
    "TLS with ZooKeeper: a properties file with zookeeper.ssl.client.enable=true.",
    "FILE",
)
ZOOKEEPER_DIGEST = Option(
    "zookeeper-digest-file",
    "With user:password of the brokers, where zookeeper.set.acl keeps znodes from others.",
    "FILE",
)
_CONNECT_TIMEOUT_MS = 10_000
_SESSION_TIMEOUT_MS = 6_000


@dataclass(frozen=True)
class ZooKeeperAccess:
    """`connect` as `zookeeper.connect`; of the files empty ones are none."""

    connect: str
    digest_file: str = ""
    tls_file: str = ""

    def session(self, timeout_ms: int = _SESSION_TIMEOUT_MS) -> "ZooKeeperSession":
        """Return an unconnected session. Raises StartupError, CommandError for unusable files."""
        from broker.config.definition import ConfigError
        from broker.config.properties import parse_properties
        from broker.config.zookeeper import read_zookeeper_tls
        from broker.zookeeper.digest_file import read_digest
        from broker.zookeeper.session import ZooKeeperSession
        from broker.zookeeper.tls import tls_settings

        digest = read_digest(Path(self.digest_file)) if self.digest_file else None
        try:
            keys = parse_properties(Path(self.tls_file).read_text()) if self.tls_file else {}
            tls = tls_settings(read_zookeeper_tls(keys))
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise CommandError(f"cannot read {self.tls_file}: {reason}") from None
        except ConfigError as error:
            raise CommandError(f"{self.tls_file}: {error}") from None
        if self.tls_file and tls is None:
            raise CommandError(f"{self.tls_file} does not say zookeeper.ssl.client.enable=true")
        return ZooKeeperSession(self.connect, timeout_ms, digest, sets_acls=digest is not None, tls=tls)

    def read(self, read: Callable[["ZooKeeperSession"], Awaitable[Found]], what: str) -> Found:
        """Run `read` in a session of its own and return its result.

        Raises CommandError if ZooKeeper does not return `what`.
        """
        import asyncio
        import logging

        async def within_session() -> Found:
            session = self.session()
            await session.connect(_CONNECT_TIMEOUT_MS)
            try:
                return await read(session)
            finally:
                await session.close()

        logging.getLogger("kazoo").setLevel(logging.CRITICAL)
        try:
            return asyncio.run(within_session())
        except BarnabasError as error:
            raise CommandError(f"ZooKeeper at {self.connect} does not tell {what}: {error}") from None
