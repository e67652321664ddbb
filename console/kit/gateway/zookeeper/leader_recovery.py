"""Whether ZooKeeper says that the leader of a partition was elected out of sync (KIP-704), until a replica is back."""

import time
from collections.abc import Callable

from console.kit.common.foreign_json import parse_foreign_json
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import NoSuchZnodeError, NotAllowedError, ZooKeeperGateway

RECOVERING = 1
#: An ensemble that did not answer is left alone for this long: each question to it would cost its whole timeout.
SILENT_PAUSE_SECONDS = 30.0


class LeaderRecovery:
    """False too where nobody says: before Kafka 3.2, with KRaft, and while no ZooKeeper answers."""

    def __init__(self, gateway: ZooKeeperGateway, clock_s: Callable[[], float] = time.monotonic):
        self._gateway = gateway
        self._clock_s = clock_s
        self._not_before_s = 0.0

    def __call__(self, topic: str, partition: int) -> bool:
        if self._clock_s() < self._not_before_s:
            return False
        try:
            state = self._gateway.look(f"/brokers/topics/{topic}/partitions/{partition}/state").value
        except (NoSuchZnodeError, NotAllowedError):
            return False
        except GatewayError:
            self._not_before_s = self._clock_s() + SILENT_PAUSE_SECONDS
            return False
        try:
            fields = parse_foreign_json(state or b"{}")
        except ValueError:
            return False
        return isinstance(fields, dict) and fields.get("leader_recovery_state") == RECOVERING
