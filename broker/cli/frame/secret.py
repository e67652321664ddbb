"""What only members of the cluster may ask: a command is taken for one that can read the cluster's secret."""

from pathlib import Path

from broker.cli.frame.declaration import Arguments, CommandError, Option
from broker.common.errors import BarnabasError
from broker.security.membership import NONCE_BYTES, Membership

ZOOKEEPER_FOR_SECRET = (
    Option(
        "zookeeper",
        "Where the cluster's ZooKeeper is: who can read the cluster's secret there may ask as a member.",
        "HOST:PORT,…[/CHROOT]",
    ),
    Option(
        "zookeeper-digest-file",
        "With user:password of the brokers, where zookeeper.set.acl keeps the secret from others.",
        "FILE",
    ),
)
_CONNECT_TIMEOUT_MS = 10_000
_SESSION_TIMEOUT_MS = 6_000


def membership(arguments: Arguments) -> Membership | None:
    """None if no ZooKeeper is named, or for a cluster that has no secret. Raises CommandError."""
    connect = arguments["zookeeper"]
    if not connect:
        return None
    import asyncio
    import logging
    import os

    from broker.zookeeper.cluster_secret import read_secret
    from broker.zookeeper.digest_file import read_digest
    from broker.zookeeper.session import ZooKeeperSession

    async def read() -> bytes | None:
        digest = read_digest(Path(arguments["zookeeper-digest-file"])) if arguments["zookeeper-digest-file"] else None
        session = ZooKeeperSession(connect, _SESSION_TIMEOUT_MS, digest)
        await session.connect(_CONNECT_TIMEOUT_MS)
        try:
            return await read_secret(session)
        finally:
            await session.close()

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    try:
        secret = asyncio.run(read())
    except BarnabasError as error:
        raise CommandError(f"ZooKeeper at {connect} does not tell the cluster's secret: {error}") from None
    return Membership(secret, lambda: os.urandom(NONCE_BYTES).hex()) if secret else None
