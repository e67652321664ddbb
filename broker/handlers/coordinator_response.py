"""What a coordinator responds is of the request's API, which the types of its outcomes do not say."""

from collections.abc import Awaitable
from typing import TypeVar

from broker.common.errors import InvariantViolation
from broker.protocol.schema import Message

Response = TypeVar("Response", bound=Message)


async def response_of(reply: Message | Awaitable[Message], response_class: type[Response]) -> Response:
    """Return what comes now or later. Raises InvariantViolation for a response of another API."""
    return checked(reply if isinstance(reply, Message) else await reply, response_class)


def checked(response: Message, response_class: type[Response]) -> Response:
    """Return `response`. Raises InvariantViolation if it is of another API."""
    if not isinstance(response, response_class):
        raise InvariantViolation(f"{type(response).__name__} is no {response_class.__name__}")
    return response
