"""One API in one version: everything about it that need not be looked up again for each request."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

from broker.common.errors import ProtocolError
from broker.handlers.handler import Handler
from broker.protocol.answered_errors import error_check
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decoder_of, stepwise_decoder_of
from broker.protocol.messages import MESSAGES
from broker.protocol.primitives import Buffer
from broker.protocol.response_frame import Framed, body_framer, response_framer, stepwise_framer
from broker.protocol.schema import Message
from broker.runtime.request_times import ApiTimes
from broker.runtime.requests.context import Reply, RequestContext


class Route:
    """How requests of one API and version are decoded, handled and answered."""

    __slots__ = (
        "_entries_max",
        "_request_class",
        "admits",
        "api",
        "bytes_at_once",
        "decode",
        "decoded_factor",
        "error_in",
        "frame",
        "frame_body",
        "frame_in_steps",
        "handle",
        "has_throttle_time",
        "is_for_members",
        "is_produce",
        "long_answers_from",
        "refuse",
        "request_bytes_max",
        "response_class",
        "times",
        "version",
    )

    def __init__(self, handler: Handler, version: int, times: ApiTimes):
        messages = MESSAGES[handler.api]
        self.api = handler.api
        self.version = version
        self._request_class = messages.request
        self.admits = handler.admits
        self.request_bytes_max, self._entries_max, *others = handler.budget_of(version)
        self.bytes_at_once, self.decoded_factor, self.long_answers_from = others
        self.decode: Callable[[memoryview, int], Message] = decoder_of(
            messages.request, version, ignore_rest=True, entries_max=self._entries_max
        )
        self.handle: Callable[[Any, RequestContext], Reply] = handler.handle
        self.is_for_members = handler.is_for_members(version)
        self.is_produce = handler.api is ApiKey.PRODUCE
        self.has_throttle_time = any(field.name == "throttle_time_ms" for field in messages.response.fields)
        self.refuse = handler.refuse
        self.times = times
        self.error_in = error_check(messages.response)
        self.response_class: type[Message] = messages.response
        self.frame: Callable[[Message, int], Sequence[Buffer]] = response_framer(messages.response, version)
        self.frame_body: Callable[[bytes, int], Sequence[Buffer]] = body_framer(messages.response, version)

        #: For an answer that comes later and may be long.
        self.frame_in_steps: Callable[[Message, int], Generator[None, None, Framed]] = stepwise_framer(
            messages.response, version
        )

    def decode_in_steps(self, frame: memoryview, body_at: int) -> Generator[None, None, Message]:
        """Decode a long request in steps, as `decode` does."""
        decode = stepwise_decoder_of(self._request_class, self.version, ignore_rest=True, entries_max=self._entries_max)
        return decode(frame, body_at)

    def malformed(self, error: Exception) -> ProtocolError:
        """Return the error for the log; the client sees its connection closed."""
        return ProtocolError(f"{self.api.name} request of version {self.version} is malformed: {error}")

    def frame_of(self, response: Message | bytes | Framed | None, correlation_id: int) -> Sequence[Buffer]:
        """Return the frame of a handler's result: a message, a body's bytes, a whole frame, or nothing."""
        if response is None:
            return ()
        if isinstance(response, Framed):
            return response.parts
        if isinstance(response, bytes):
            return self.frame_body(response, correlation_id)
        return self.frame(response, correlation_id)

    def error_of(self, response: Message | bytes | Framed | None) -> int:
        """Return the first error in the framed response, 0 if there is none."""
        if response.__class__ is Framed:
            return response.error_code
        return self.error_in(response) if response.__class__ is self.response_class else 0
