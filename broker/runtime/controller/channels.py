"""The controller's line to each broker: requests leave in order, one at a time, and are repeated until answered.

A channel lives as long as one registration of its broker. While the broker is registered but does not answer, its
requests wait here; ZooKeeper ends that wait by expiring the broker's session, and the channel is closed with all it
holds. The controller's own broker is told over its own socket, as any other.

UpdateMetadata waits a moment for the roles given out before it, on all channels: who sends clients to a new leader
should not be faster than the leader learns of it. A producer with acks=0 has no other way to notice.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from broker.common.backoff import Backoff
from broker.common.cluster import LiveBroker, MemberListeners
from broker.common.errors import ErrorCode, ProtocolError
from broker.common.logs import logger
from broker.controller.effects import SendLeaderAndIsr, SendStopReplica, SendUpdateMetadata
from broker.controller.events import ControllerEvent
from broker.net.dialer import Dialer, PeerUnreachable
from broker.net.outbound import OutboundConnection, connection_to
from broker.protocol.messages.leader_and_isr import LeaderAndIsrResponse
from broker.protocol.messages.stop_replica import StopReplicaResponse
from broker.protocol.messages.update_metadata import UpdateMetadataResponse
from broker.protocol.schema import Request
from broker.runtime.controller.requests import (
    LEADER_AND_ISR_VERSION,
    STOP_REPLICA_VERSION,
    UPDATE_METADATA_VERSION,
    leader_and_isr_answered,
    leader_and_isr_request,
    replicas_deleted,
    stop_replica_request,
    update_metadata_request,
)
from broker.runtime.periodic import rounds

_log = logger(__name__)

#: Kafka's controller.socket.timeout.ms.
REQUEST_TIMEOUT_MS = 30_000
CONNECT_TIMEOUT_MS = 5_000
#: How long a broker that does not take its role holds up what the others are told.
_ROLES_TAKEN_WITHIN_S = 0.5
_BACK_OFF_FIRST_S = 0.05
_BACK_OFF_MAX_S = 1.0

#: What brokers answer to a controller's three requests.
Response = TypeVar("Response", bound=LeaderAndIsrResponse | StopReplicaResponse | UpdateMetadataResponse)
OnResponse = Callable[[Response], ControllerEvent | None]


class ControllerChannels:
    """Channels to the live brokers. `deliver` is called on the loop with each answer the controller wants to know."""

    def __init__(
        self,
        controller_id: int,
        deliver: Callable[[ControllerEvent], None],
        dialer: Dialer,
        listeners: MemberListeners = MemberListeners(),
    ):
        self._listeners = listeners
        self._controller_id = controller_id
        self._deliver = deliver
        self._dialer = dialer
        self._channels: dict[int, _Channel] = {}
        #: One for each LeaderAndIsr that is not answered yet.
        self._roles_under_way: set[asyncio.Future[None]] = set()

    def open(self, broker: LiveBroker) -> None:
        """Open a channel to a broker; one to this incarnation stays, one to an earlier incarnation is closed."""
        known = self._channels.get(broker.broker_id)
        if known is not None and known.broker.epoch == broker.epoch:
            known.go_on(broker)
            return
        self.close(broker.broker_id)
        client_id = f"controller-{self._controller_id}"
        self._channels[broker.broker_id] = _Channel(
            broker, self._listeners.of_controller, client_id, self._deliver, self._dialer
        )

    def close(self, broker_id: int) -> None:
        channel = self._channels.pop(broker_id, None)
        if channel is not None:
            channel.close()

    def close_all(self) -> None:
        for broker_id in list(self._channels):
            self.close(broker_id)

    def send_leader_and_isr(self, effect: SendLeaderAndIsr) -> None:
        channel = self._channels[effect.broker_id]
        request = leader_and_isr_request(effect, self._controller_id, channel.broker.epoch, self._listeners.of_brokers)
        is_over = asyncio.get_running_loop().create_future()
        self._roles_under_way.add(is_over)
        is_over.add_done_callback(self._roles_under_way.discard)
        channel.send(
            request,
            LEADER_AND_ISR_VERSION,
            lambda response: leader_and_isr_answered(channel.broker, effect, response),
            is_over=is_over,
        )

    def send_update_metadata(self, effect: SendUpdateMetadata) -> None:
        roles = tuple(self._roles_under_way)
        for broker_id in effect.broker_ids:
            channel = self._channels[broker_id]
            request = update_metadata_request(effect, self._controller_id, channel.broker.epoch)
            channel.send(request, UPDATE_METADATA_VERSION, lambda _response: None, after=roles)

    def send_stop_replica(self, effect: SendStopReplica) -> None:
        channel = self._channels[effect.broker_id]
        request = stop_replica_request(effect, self._controller_id, channel.broker.epoch)
        channel.send(request, STOP_REPLICA_VERSION, lambda response: replicas_deleted(channel.broker, effect, response))


@dataclass(slots=True)
class _Queued(Generic[Response]):
    request: Request[Response]
    version: int
    on_response: OnResponse[Response]
    #: Done when it was answered, or never will be.
    is_over: asyncio.Future[None] | None
    #: Not sent before these are done, or `not_before_s` has come.
    after: Collection[asyncio.Future[None]]
    not_before_s: float


class _Channel:
    """The queue and the connection of one broker's incarnation."""

    def __init__(
        self,
        broker: LiveBroker,
        listener: str,
        client_id: str,
        deliver: Callable[[ControllerEvent], None],
        dialer: Dialer,
    ):
        self.broker = broker
        self._listener = listener
        self._deliver = deliver
        self._connection_to = partial(connection_to, dialer, listener=listener, client_id=client_id)
        self._connection: OutboundConnection | None = None
        #: Requests of all three kinds, hence Any: only `_deliver_answer` takes one up, as a whole.
        self._queue: asyncio.Queue[_Queued[Any]] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(rounds(self._deliver_next))

    def send(
        self,
        request: Request[Response],
        version: int,
        on_response: OnResponse[Response],
        *,
        is_over: asyncio.Future[None] | None = None,
        after: Collection[asyncio.Future[None]] = (),
    ) -> None:
        not_before_s = asyncio.get_running_loop().time() + _ROLES_TAKEN_WITHIN_S
        self._queue.put_nowait(_Queued(request, version, on_response, is_over, after, not_before_s))

    def go_on(self, broker: LiveBroker) -> None:
        """Use the broker's current listeners. A request in flight is sent again."""
        moved = self.broker.registration.endpoint(self._listener) != broker.registration.endpoint(self._listener)
        self.broker = broker
        if moved:
            self._disconnect()

    def close(self) -> None:
        self._task.cancel()
        self._disconnect()
        while not self._queue.empty():
            _end(self._queue.get_nowait())

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _deliver_next(self) -> None:
        await self._deliver_answer(await self._queue.get())

    async def _deliver_answer(self, queued: _Queued[Response]) -> None:
        try:
            await self._wait_for_roles(queued)
            response = await self._request_until_answered(queued.request, queued.version)
        finally:
            _end(queued)
        if response.error_code != ErrorCode.NONE:
            code, api = response.error_code, queued.request.api.name
            _log.warning("broker refuses", broker=self.broker.broker_id, api=api, error_code=code)
            return
        event = queued.on_response(response)
        if event is not None:
            self._deliver(event)

    async def _wait_for_roles(self, queued: _Queued[Response]) -> None:
        missing = [role for role in queued.after if not role.done()]
        patience_s = queued.not_before_s - asyncio.get_running_loop().time()
        if missing and patience_s > 0:
            await asyncio.wait(missing, timeout=patience_s)

    async def _request_until_answered(self, request: Request[Response], version: int) -> Response:
        backoff = Backoff(_BACK_OFF_FIRST_S, _BACK_OFF_MAX_S)
        while True:
            try:
                connection = self._connection = self._connection or self._connection_to(self.broker)
                await connection.connect(CONNECT_TIMEOUT_MS)
                return await connection.request(request, version, REQUEST_TIMEOUT_MS)
            except (PeerUnreachable, ProtocolError) as error:
                _log.info("broker does not answer", broker=self.broker.broker_id, reason=str(error))
            except Exception:
                _log.exception("broker unreachable", broker=self.broker.broker_id, api=request.api.name)
            await asyncio.sleep(backoff.fail())


def _end(queued: _Queued[Response]) -> None:
    if queued.is_over is not None and not queued.is_over.done():
        queued.is_over.set_result(None)
