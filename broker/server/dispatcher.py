"""From a frame to a handler and back: the one place that decides what a bad request gets.

Unknown API or version, a header or body that cannot be read: the connection is closed, as Kafka closes it, and one log
line says who and why. An ApiVersions request of an unknown version is answered in version 0 (KIP-511).
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter_ns

from broker.common.clock import Clock
from broker.common.errors import BarnabasError, ErrorCode, InvariantViolation, ProtocolError
from broker.common.limits import LONG_ANSWERS_ENCODED_MAX, REFUSALS_LOGGED_EVERY_S, REFUSED_REQUEST_BYTES_MAX
from broker.common.logs import logger
from broker.common.types import new_tuple
from broker.handlers.api_versions import unsupported_version_response
from broker.handlers.handler import AuthorizationFailed, CloseConnectionError, Handler
from broker.handlers.registry import HANDLERS
from broker.net.connection import Connection
from broker.net.slot import Slot
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import MALFORMED
from broker.protocol.headers import RequestHeader, decode_request_header
from broker.protocol.response_frame import Framed
from broker.protocol.schema import Message
from broker.runtime.in_turns import InOrder, in_turns, steps_in_turns
from broker.runtime.requests.context import RequestContext, Services
from broker.security.membership import is_member
from broker.security.session import Session
from broker.server.long_requests import LongRequests
from broker.server.metering import LaterResponse, Metering, Timed
from broker.server.metrics import RequestMetrics
from broker.server.route import Route

_log = logger(__name__)


#: What is under way for a request: the outcome is framed, or comes framed already.
Work = asyncio.Future[Message | bytes | Framed | None]


class Dispatcher:
    """Turns the frames of all connections into responses."""

    def __init__(self, services: Services, metrics: RequestMetrics):
        self._services = services
        self._metrics = metrics
        self._handlers: dict[int, Handler] = {handler.api: handler for handler in HANDLERS}
        self._routes: dict[tuple[int, int], Route] = {}
        #: Apart, so that who may ask need not be looked at for what everybody may.
        self._member_routes: dict[tuple[int, int], Route] = {}
        self._long_requests = LongRequests(services.turns)
        self._refusals = Refusals(services.clock)
        self._long_answers = asyncio.Semaphore(LONG_ANSWERS_ENCODED_MAX)
        #: None while nobody has a quota.
        self._metering: Metering | None = None
        services.quotas.clients.on_changed.append(self._measure_or_not)
        self._measure_or_not()
        self._cancelling: set[asyncio.Task[None]] = set()
        #: What is still to be answered, in the order it was asked.
        self._working: dict[Connection, dict[Work, None]] = {}

    def _measure_or_not(self) -> None:
        quotas = self._services.quotas
        self._metering = Metering(quotas) if quotas.clients.is_on else None

    def on_frame(self, connection: Connection, frame: memoryview) -> None:
        """Answer one request, at once or later; whatever is wrong ends the connection and nothing else."""
        began_ns = perf_counter_ns()
        try:
            header, body_at = decode_request_header(frame)
            api_key, version, correlation_id, client_id = header
            route = self._routes.get((api_key, version)) or self._find_route(connection, header, frame, body_at)
            if route is None:
                return
            if len(frame) > route.bytes_at_once:
                request = self._long_requests.decode(connection, frame, body_at, route)
                if request is None:
                    return
            else:
                try:
                    request = route.decode(frame, body_at)
                except MALFORMED as error:
                    raise route.malformed(error) from None
            metrics = self._metrics
            metrics.requests[route.api] += 1
            metrics.bytes_in += len(frame)
            context = new_tuple(RequestContext, (self._services, version, client_id or "", connection.session))
            reply = route.handle(request, context)
            if reply.__class__ is route.response_class:
                if self._metering is not None:
                    reply = self._metering.answered(connection, client_id, len(frame), route, reply, began_ns)
                metrics.bytes_out += connection.answer(route.frame(reply, correlation_id))
                if error_code := route.error_in(reply):
                    route.times.note_error(error_code)
            elif reply.__class__ is bytes:
                if self._metering is not None:
                    reply = self._metering.produced(connection, client_id, len(frame), version, reply, began_ns)
                metrics.bytes_out += connection.answer(route.frame_body(reply, correlation_id))
            elif reply is not None:
                self._answer_later(connection, header, len(frame), route, reply, began_ns)
                return
            elif self._metering is not None:
                self._metering.unanswered(connection, client_id, len(frame), route, began_ns)
            route.times.durations.add(perf_counter_ns() - began_ns)
        except AuthorizationFailed as refusal:
            self._answer_refused(connection, route, header, refusal, began_ns)
        except (ProtocolError, CloseConnectionError) as error:
            self._reject(connection.close_when_answered, error)
        except Exception:
            self._fail(connection, decode_request_header(frame)[0])

    def on_closed(self, connection: Connection) -> None:
        """Cancel work for the closed connection, in turns. A task that never began could not clean up now."""
        self._long_requests.forget(connection)
        if works := self._working.pop(connection, None):
            cancelling = asyncio.ensure_future(self._cancel(works))
            self._cancelling.add(cancelling)
            cancelling.add_done_callback(self._cancelling.discard)

    async def _cancel(self, works: dict[Work, None]) -> None:
        await self._services.turns.mine()
        await in_turns(works, lambda work: work.cancel(), self._services.turns)

    def _add_route(self, api_key: int, version: int) -> Route | None:
        """Return a new route; None if that version is not served."""
        handler = self._handlers.get(api_key)
        if handler is None or not handler.serves(version, self._services.config):
            return None
        route = Route(handler, version, self._services.request_times.of(handler.api))
        (self._member_routes if route.is_for_members else self._routes)[api_key, version] = route
        return route

    def _find_route(
        self, connection: Connection, header: RequestHeader, frame: memoryview, body_at: int
    ) -> Route | None:
        """Return the route; None if the request was answered: that version is not served, or not to this client."""
        api_key, version = header.api_key, header.api_version
        route = self._member_routes.get((api_key, version)) or self._add_route(api_key, version)
        if route is None:
            self._answer_unsupported(connection, header)
        elif route.is_for_members and not _is_admitted(connection.session, route):
            self._metrics.requests[route.api] += 1
            self._metrics.bytes_in += len(frame)
            refusal = AuthorizationFailed(_refused(route, frame, body_at), "only for members of the cluster")
            self._answer_refused(connection, route, header, refusal, perf_counter_ns())
            return None
        return route

    def _answer_refused(
        self,
        connection: Connection,
        route: Route | None,
        header: RequestHeader,
        refusal: AuthorizationFailed,
        began_ns: int,
    ) -> None:
        if route is None:
            raise InvariantViolation("a request is refused that no route serves") from refusal
        response = refusal.response
        if self._metering is not None:
            response = self._metering.answered(connection, header.client_id, 0, route, response, began_ns)
        route.times.note_error(route.error_in(response))
        self._metrics.bytes_out += connection.answer(route.frame(response, header.correlation_id))
        if refusal.is_last:
            connection.close_when_answered(str(refusal))
        else:
            self._refusals.note(connection.peer, route.api, str(refusal))

    def _answer_unsupported(self, connection: Connection, header: RequestHeader) -> None:
        if header.api_key != ApiKey.API_VERSIONS:
            raise ProtocolError(f"api {header.api_key} version {header.api_version} is not served")
        route = self._add_route(ApiKey.API_VERSIONS, 0)
        if route is None:
            raise InvariantViolation("version 0 of ApiVersions is served by every broker")
        frame = route.frame(unsupported_version_response(), header.correlation_id)
        self._metrics.bytes_out += connection.answer(frame)

    def _answer_later(
        self,
        connection: Connection,
        header: RequestHeader,
        request_bytes: int,
        route: Route,
        reply: Message | bytes | Awaitable[Message | bytes | None] | InOrder,
        began_ns: int,
    ) -> None:
        """Answer from a future, which costs no task: acks=all and followers' fetches end in one."""
        if isinstance(reply, (Message, bytes)):
            raise InvariantViolation(f"{route.api.name} is answered with a {type(reply).__name__}")
        if isinstance(reply, InOrder):
            connection.hold_until(reply.is_done)
            reply = reply.reply
        later = None
        if self._metering is not None:
            later = self._metering.later(connection, header.client_id, request_bytes, route, began_ns)
        work: Work
        if isinstance(reply, asyncio.Future):
            work = reply
        else:
            timed = reply if later is None else Timed(reply, later)
            is_long = request_bytes > route.long_answers_from
            work = asyncio.ensure_future(self._framed(timed, route, header.correlation_id, later) if is_long else timed)
        self._working.setdefault(connection, {})[work] = None
        slot = connection.reserve(request_bytes * route.decoded_factor)
        work.add_done_callback(partial(self._fill, connection, slot, header, route, began_ns, later))

    async def _framed(
        self, reply: Awaitable[Message | bytes | None], route: Route, correlation_id: int, later: LaterResponse | None
    ) -> Message | bytes | Framed | None:
        """Encode a long response in turns, a few at a time; the others wait."""
        answer = await reply
        if not isinstance(answer, Message):
            return answer
        if later is not None:
            answer = later.answered(answer)
        steps = route.frame_in_steps(answer, correlation_id)
        try:
            next(steps)
        except StopIteration as end:
            framed: Framed = end.value
            return framed
        async with self._long_answers:
            return await steps_in_turns(steps, self._services.turns)

    def _fill(
        self,
        connection: Connection,
        slot: Slot,
        header: RequestHeader,
        route: Route,
        began_ns: int,
        later: LaterResponse | None,
        work: Work,
    ) -> None:
        self._working.get(connection, {}).pop(work, None)
        try:
            if connection.is_open and not work.cancelled():
                reply = work.result()
                if later is not None and reply.__class__ is not Framed:
                    reply = later.answered(reply)
                self._metrics.bytes_out += connection.fill(slot, route.frame_of(reply, header.correlation_id))
                if error_code := route.error_of(reply):
                    route.times.note_error(error_code)
                route.times.durations.add(perf_counter_ns() - began_ns)
        except CloseConnectionError as error:
            self._reject(connection.close, error)
        except Exception:
            self._fail(connection, header)

    def _reject(self, close: Callable[[str], None], error: BarnabasError) -> None:
        """Close the connection for a client's fault, after answering its earlier requests if that is possible."""
        self._metrics.rejected += 1
        close(str(error))

    def _fail(self, connection: Connection, header: RequestHeader) -> None:
        """Close the connection after an internal error: the client learns from that that it has no answer."""
        _log.exception("request failed", peer=connection.peer, api=header.api_key, version=header.api_version)
        self._metrics.failed += 1
        connection.close("internal error")


def _is_admitted(session: Session | None, route: Route) -> bool:
    return is_member(session) or (session is not None and route.admits(session))


def _refused(route: Route, frame: memoryview, body_at: int) -> Message:
    """Return a refusal for a client without the right. The body is decoded only if the response has no other place for
    an error.
    """
    if route.refuse is None:
        response: Callable[..., Message] = route.response_class
        return response(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    if len(frame) > REFUSED_REQUEST_BYTES_MAX:
        raise ProtocolError(
            f"{route.api.name} request of {len(frame)} bytes from a client that is no member of the cluster"
        )
    try:
        return route.refuse(route.decode(frame, body_at))
    except MALFORMED as error:
        raise route.malformed(error) from None


class Refusals:
    """Logs a broker's refused requests: the first at once, then one line for all that came meanwhile."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._count = 0
        self._logged_at_ms: int | None = None

    def note(self, peer: str, api: ApiKey, reason: str) -> None:
        self._count += 1
        now_ms = self._clock.monotonic_ms()
        if self._logged_at_ms is None or now_ms - self._logged_at_ms >= 1000 * REFUSALS_LOGGED_EVERY_S:
            _log.warning("requests refused", last_peer=peer, last_api=api.name, reason=reason, count=self._count)
            self._logged_at_ms, self._count = now_ms, 0
