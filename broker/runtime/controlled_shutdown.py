"""The broker's part of a clean stop: have the controller move its leaderships away before the listener closes.

Nothing here may keep a broker from stopping: every wait has an end, and what cannot be moved is left behind, as when
the broker is killed.
"""

import asyncio

from broker.common.errors import ErrorCode, ProtocolError
from broker.common.logs import logger
from broker.common.types import NO_BROKER
from broker.config.broker import BrokerConfig
from broker.net.outbound import OutboundConnection, PeerUnreachable
from broker.protocol.messages.controlled_shutdown import ControlledShutdownRequest
from broker.runtime.controller_requests import control_endpoint
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replica_manager import ReplicaManager
from broker.zookeeper.election import read_controller
from broker.zookeeper.errors import ZooKeeperError
from broker.zookeeper.session import SessionState
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_VERSION = 3
_CONNECT_TIMEOUT_MS = 2_000
#: A controller moves some thousand partitions a second.
_ANSWER_TIMEOUT_MS = 10_000
_ATTEMPT_TIMEOUT_S = 15.0


class ControlledShutdown:
    """Asks the controller, whoever that is, up to `controlled.shutdown.max.retries` times."""

    def __init__(self, store: ClusterStore, metadata: MetadataCache, replicas: ReplicaManager, config: BrokerConfig):
        self._store = store
        self._metadata = metadata
        self._replicas = replicas
        self._config = config

    async def hand_over(self) -> None:
        """Returns when the controller has moved all it can, or has been asked often enough."""
        others = self._metadata.brokers.keys() - {self._config.broker_id}
        if not (self._config.controlled_shutdown_enable and others and len(self._replicas)):
            return
        for _ in range(self._config.controlled_shutdown_max_retries):
            if self._store.session.state is not SessionState.CONNECTED:
                break
            changed = asyncio.Event()
            try:
                async with asyncio.timeout(_ATTEMPT_TIMEOUT_S):
                    if await self._ask(changed):
                        return
            except (ZooKeeperError, PeerUnreachable, ProtocolError, TimeoutError) as error:
                _log.info("controller not reached", reason=str(error))
            await self._pause(changed)
        _log.warning("stopping without having handed everything over")

    async def _ask(self, changed: asyncio.Event) -> bool:
        """Whether nothing remains to be moved. `changed` is set when another broker becomes controller."""
        controller_id = await read_controller(self._store.session, changed.set)
        broker = (await self._store.brokers()).get(controller_id)
        if controller_id == NO_BROKER or broker is None:
            return False
        endpoint = control_endpoint(broker)
        connection = OutboundConnection(endpoint.host, endpoint.port, f"shutdown-{self._config.broker_id}")
        request = ControlledShutdownRequest(broker_id=self._config.broker_id, broker_epoch=self._replicas.broker_epoch)
        try:
            await connection.connect(_CONNECT_TIMEOUT_MS)
            response = await connection.request(request, _VERSION, _ANSWER_TIMEOUT_MS)
        finally:
            connection.close()
        remaining = len(response.remaining_partitions)
        _log.info("controller answered", error_code=response.error_code, remaining_partitions=remaining)
        return response.error_code == ErrorCode.NONE and not remaining

    async def _pause(self, changed: asyncio.Event) -> None:
        """Another controller is asked at once, the same one not too often."""
        try:
            async with asyncio.timeout(self._config.controlled_shutdown_retry_backoff_ms / 1000):
                await changed.wait()
        except TimeoutError:
            return
