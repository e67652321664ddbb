"""The console as a member of the cluster: some of what our brokers tell, they tell to members only.

The cluster's secret is read from ZooKeeper when it is first needed, and again after brokers would not take it.
"""

import os
from collections.abc import Callable

from broker.common.errors import BarnabasError
from broker.security.membership import NONCE_BYTES, ClusterMembership
from broker.zookeeper.znodes import SECRET, decode_secret
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import NoSuchZnodeError, ZooKeeperGateway


class ConsoleMembership:
    """Called for the membership; threads may share it. `zookeeper` gives where to look."""

    def __init__(self, zookeeper: Callable[[], ZooKeeperGateway]):
        self._zookeeper = zookeeper
        self._known: ClusterMembership | None = None

    def __call__(self) -> ClusterMembership | None:
        """Return the membership; None for a cluster of other brokers, which has no secret. Raises GatewayError if it
        cannot be read.
        """
        if self._known is None:
            secret = self._read()
            self._known = ClusterMembership(secret, lambda: os.urandom(NONCE_BYTES).hex()) if secret else None
        return self._known

    def forget(self) -> None:
        """Forget the secret that was read, because brokers have another."""
        self._known = None

    def _read(self) -> bytes | None:
        try:
            return decode_secret(self._zookeeper().look(SECRET).value or b"")
        except NoSuchZnodeError:
            return None
        except GatewayError as error:
            why = "Brokers tell this to members of the cluster only, whose secret is in ZooKeeper."
            raise GatewayError(f"{why} {error}") from error
        except BarnabasError as error:
            raise GatewayError(f"The secret of the cluster cannot be read: {error}.") from error
