"""What only members of the cluster may ask: a command is taken for one that can read the cluster's secret."""

from broker.cli.frame.declaration import Arguments, Option
from broker.cli.frame.zookeeper import ZK_TLS, ZOOKEEPER_DIGEST, ZooKeeperAccess
from broker.security.membership import NONCE_BYTES, Membership

ZOOKEEPER_FOR_SECRET = (
    Option(
        "zookeeper",
        "Where the cluster's ZooKeeper is: who can read the cluster's secret there may ask as a member.",
        "HOST:PORT,…[/CHROOT]",
    ),
    ZOOKEEPER_DIGEST,
    ZK_TLS,
)


def membership(arguments: Arguments) -> Membership | None:
    """None if no ZooKeeper is named, or for a cluster that has no secret. Raises CommandError."""
    connect = arguments["zookeeper"]
    if not connect:
        return None
    import os

    from broker.zookeeper.cluster_secret import read_secret

    files = (arguments["zookeeper-digest-file"] or "", arguments["zk-tls-config-file"] or "")
    secret = ZooKeeperAccess(connect, *files).read(read_secret, "the cluster's secret")
    return Membership(secret, lambda: os.urandom(NONCE_BYTES).hex()) if secret else None
