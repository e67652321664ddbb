"""What a request costs those whose quotas it counts for, and what follows: a word in the answer, and a mute connection.

The answer goes at once and says for how long the client has to wait (KIP-219); whether it does or not, nothing more of
it is read for as long. Several quotas are all counted, the longest wait holds.

A request's time is that of the loop, which does one thing at a time: from its frame to its answer, or slice by slice
where it waits in between. What the kernel takes to send the answer is not in it. Producers that want no answer
(acks=0) have the bandwidth counted alone, as in Kafka.
"""

from collections.abc import Awaitable, Generator
from copy import copy
from functools import partial
from time import perf_counter_ns
from typing import Any

from broker.net.connection import Connection
from broker.protocol.produced import with_throttle_time
from broker.runtime.security.quotas import Quotas
from broker.server.route import Route


class Metering:
    """Used while there are quotas for clients."""

    def __init__(self, quotas: Quotas):
        self._quotas = quotas

    def produced(
        self,
        connection: Connection,
        client_id: str | None,
        request_bytes: int,
        version: int,
        body: bytes,
        began_ns: int,
    ) -> bytes:
        """Return the body of an answer to Produce, with what its client has to wait.

        What small requests pay is counted: nothing is worked out while a budget lasts.
        """
        session: Any = connection.session
        meter = session.meter
        if meter is None or meter.client_id != client_id:
            meter = self._quotas.meter_of(session, client_id or "", began_ns)
        wait_ms = 0
        if (sensor := meter.produce) is not None:
            sensor.left = left = sensor.left - request_bytes
            if left < 0 or began_ns >= sensor.until_ns:
                wait_ms = sensor.settle(request_bytes, began_ns)
        if (sensor := meter.request) is not None:
            now_ns = perf_counter_ns()
            spent_ns = now_ns - began_ns
            sensor.left = left = sensor.left - spent_ns
            if left < 0 or now_ns >= sensor.until_ns:
                wait_ms = max(wait_ms, sensor.settle(spent_ns, now_ns))
        if not wait_ms:
            return body
        connection.mute(wait_ms)
        return with_throttle_time(version, body, wait_ms)

    def answered(
        self,
        connection: Connection,
        client_id: str | None,
        request_bytes: int,
        route: Route,
        answer: Any,
        began_ns: int,
    ) -> Any:
        """Add the throttle time to a response, also that of the handler's own quotas."""
        session: Any = connection.session
        meter = session.meter
        if meter is None or meter.client_id != client_id:
            meter = self._quotas.meter_of(session, client_id or "", began_ns)
        wait_ms = answer.throttle_time_ms if route.has_throttle_time else 0
        if meter.request is not None:
            now_ns = perf_counter_ns()
            wait_ms = max(wait_ms, meter.request.record(now_ns - began_ns, now_ns))
        if route.is_produce and meter.produce is not None:
            wait_ms = max(wait_ms, meter.produce.record(request_bytes, began_ns))
        if not wait_ms:
            return answer
        connection.mute(wait_ms)
        if route.has_throttle_time:
            answer = copy(answer)  # a handler may give the same to others
            answer.throttle_time_ms = wait_ms
        return answer

    def unanswered(
        self, connection: Connection, client_id: str | None, request_bytes: int, route: Route, began_ns: int
    ) -> None:
        """Account for a request without an answer: a Produce with acks=0, of which the bytes count."""
        session: Any = connection.session
        sensor = self._quotas.meter_of(session, client_id or "", began_ns).produce
        if route.is_produce and sensor is not None and (wait_ms := sensor.record(request_bytes, began_ns)):
            connection.mute(wait_ms)

    def later(
        self, connection: Connection, client_id: str | None, request_bytes: int, route: Route, began_ns: int
    ) -> "LaterResponse":
        return LaterResponse(self, connection, client_id, request_bytes, route, perf_counter_ns() - began_ns)


class LaterResponse:
    """A request that is answered later; the time of the loop it takes until then is added up."""

    __slots__ = ("_client_id", "_connection", "_metering", "_request_bytes", "_route", "spent_ns")

    def __init__(
        self,
        metering: Metering,
        connection: Connection,
        client_id: str | None,
        request_bytes: int,
        route: Route,
        spent_ns: int,
    ):
        self._metering = metering
        self._connection = connection
        self._client_id = client_id
        self._request_bytes = request_bytes
        self._route = route
        self.spent_ns = spent_ns

    def answered(self, reply: Any) -> Any:
        """Return the reply, delayed so that its time includes what was spent before."""
        began_ns, route, size = perf_counter_ns() - self.spent_ns, self._route, self._request_bytes
        if reply is None:
            return self._metering.unanswered(self._connection, self._client_id, size, route, began_ns)
        if reply.__class__ is bytes:
            return self._metering.produced(self._connection, self._client_id, size, route.version, reply, began_ns)
        return self._metering.answered(self._connection, self._client_id, size, route, reply, began_ns)


class Timed:
    """Awaits `work` and adds the time its steps take to `later`."""

    def __init__(self, work: Awaitable[Any], later: LaterResponse):
        self._work = work
        self._later = later

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._work.__await__()
        go_on = partial(steps.send, None)
        while True:
            began_ns = perf_counter_ns()
            try:
                waited_for = go_on()
            except StopIteration as end:
                return end.value
            finally:
                self._later.spent_ns += perf_counter_ns() - began_ns
            try:
                go_on = partial(steps.send, (yield waited_for))
            except BaseException as error:
                go_on = partial(steps.throw, error)
