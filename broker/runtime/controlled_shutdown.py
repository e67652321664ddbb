"""The broker's part of a clean stop: have the controller move its leaderships away before the listener closes.

Nothing here may keep a broker from stopping: every wait has an end, and what cannot be moved is left behind, as when
the broker is killed.
"""

import asyncio
from contextlib import suppress

from broker.common.errors import ErrorCode, ProtocolError
from broker.common.logs import logger
from broker.common.types import NO_BROKER
from broker.config.broker import BrokerConfig
from broker.net.dialer import Dialer, PeerUnreachable
from broker.net.outbound import connection_to
from broker.protocol.messages.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.zookeeper.election import read_controller
from broker.zookeeper.errors import ZooKeeperError
from broker.zookeeper.session import SessionState
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_VERSION = 3
_CONNECT_TIMEOUT_MS = 2_000
#: A controller moves some thousand partitions a second.
_ANSWER_TIMEOUT_MS = 10_000
#: With what ZooKeeper takes to say who is controller.
_ASK_TIMEOUT_S = 15.0
_LOOK_AGAIN_S = 0.5


class ControlledShutdown:
    """Asks the current controller, up to `controlled.shutdown.max.retries` times."""

    def __init__(
        self,
        store: ClusterStore,
        metadata: MetadataCache,
        replicas: ReplicaManager,
        dialer: Dialer,
        config: BrokerConfig,
    ):
        self._store = store
        self._metadata = metadata
        self._replicas = replicas
        self._dialer = dialer
        self._config = config

    async def hand_over(self) -> None:
        """Returns when the controller has moved all it can, or has been asked often enough."""
        others = self._metadata.brokers.keys() - {self._config.broker_id}
        if not (self._config.controlled_shutdown_enable and others and len(self._replicas)):
            return
        for _ in range(self._config.controlled_shutdown_max_retries):
            if await self._attempt():
                return
        _log.warning("stopping without having handed everything over")

    async def _attempt(self) -> bool:
        """Find a controller that answers, for as long as the pause between attempts; whether nothing remains.

        Others may be stopping, too: the next controller is asked as soon as there is one, and any controller again as
        soon as a broker is gone, which may have been all that could still be helped.
        """
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._config.controlled_shutdown_retry_backoff_ms / 1000
        while self._store.session.state is SessionState.CONNECTED:
            changed, brokers = asyncio.Event(), set(self._metadata.brokers)
            response = await self._ask(changed)
            if response is not None and response.error_code == ErrorCode.NONE and not response.remaining_partitions:
                return True
            left_s = max(ends_at - loop.time(), 0)
            await self._wait(changed, brokers, left_s if response else min(left_s, _LOOK_AGAIN_S))
            if response or not left_s:
                break
        return False

    async def _ask(self, changed: asyncio.Event) -> ControlledShutdownResponse | None:
        """Ask the controller; None when there is no answer. `changed` is set when another broker becomes controller."""
        try:
            async with asyncio.timeout(_ASK_TIMEOUT_S):
                response = await self._ask_controller(changed)
        except (ZooKeeperError, PeerUnreachable, ProtocolError, TimeoutError) as error:
            _log.info("controller not reached", reason=str(error))
            return None
        return response if response is not None and response.error_code != ErrorCode.NOT_CONTROLLER else None

    async def _ask_controller(self, changed: asyncio.Event) -> ControlledShutdownResponse | None:
        controller_id = await read_controller(self._store.session, changed.set)
        broker = (await self._store.brokers()).get(controller_id)
        if controller_id == NO_BROKER or broker is None:
            return None
        client_id = f"shutdown-{self._config.broker_id}"
        connection = connection_to(self._dialer, broker, self._config.inter_broker_listener, client_id)
        request = ControlledShutdownRequest(broker_id=self._config.broker_id, broker_epoch=self._replicas.broker_epoch)
        try:
            await connection.connect(_CONNECT_TIMEOUT_MS)
            response = await connection.request(request, _VERSION, _ANSWER_TIMEOUT_MS)
        finally:
            connection.close()
        remaining = len(response.remaining_partitions)
        _log.info("controller answered", error_code=response.error_code, remaining_partitions=remaining)
        return response

    async def _wait(self, changed: asyncio.Event, brokers: set[int], timeout_s: float) -> None:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + timeout_s
        while not changed.is_set() and self._metadata.brokers.keys() == brokers and loop.time() < ends_at:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(ends_at - loop.time(), _LOOK_AGAIN_S)):
                    await changed.wait()
