"""Requests that take long to decode: a slice in each of their connection's turns, so that others do not wait for the
whole.

A controller tells a broker of 100,000 partitions in one request, which takes half a second to decode. Whatever comes
after it on its connection waits, since the frame stays at the head of what was received until it is decoded.
"""

from collections.abc import Generator

from broker.common.errors import ProtocolError
from broker.common.limits import BYTES_DECODED_AT_ONCE_MAX, LONG_REQUESTS_DECODED_MAX
from broker.net.connection import Connection
from broker.net.turns import Turns
from broker.protocol.codec import MALFORMED
from broker.protocol.schema import Message
from broker.security.membership import is_member
from broker.server.route import Route


class LongRequests:
    """What is being decoded, one request of a connection at a time."""

    def __init__(self, turns: Turns):
        self._turns = turns
        self._decoding: dict[Connection, Generator[None, None, Message]] = {}

    def decode(self, connection: Connection, frame: memoryview, body_at: int, route: Route) -> Message | None:
        """Return the request; None if it has to wait for its turn or for bytes: then the frame comes again.

        Raises ProtocolError if it is larger than such a request may be, or malformed.
        """
        if len(frame) > route.request_bytes_max:
            raise ProtocolError(
                f"{route.api.name} request of {len(frame)} bytes, at most {route.request_bytes_max}; "
                "ask for less at once"
            )
        if not connection.may_take_long(frame):
            return None
        try:
            if len(frame) <= BYTES_DECODED_AT_ONCE_MAX:
                return route.decode(frame, body_at)
            return self._decode_a_slice(connection, frame, body_at, route)
        except MALFORMED as error:
            raise route.malformed(error) from None

    def forget(self, connection: Connection) -> None:
        """Drop a connection that was closed."""
        self._decoding.pop(connection, None)

    def _decode_a_slice(self, connection: Connection, frame: memoryview, body_at: int, route: Route) -> Message | None:
        steps = self._decoding.pop(connection, None)
        if steps is None:
            if len(self._decoding) >= LONG_REQUESTS_DECODED_MAX and not is_member(connection.session):
                connection.ask_again(frame)
                return None
            steps = route.decode_in_steps(frame, body_at)
        end = self._turns.whole_slice_end()
        try:
            while not self._turns.is_over(end):
                next(steps)
        except StopIteration as decoded:
            request: Message = decoded.value
            return request
        self._decoding[connection] = steps
        connection.ask_again(frame)
        return None
