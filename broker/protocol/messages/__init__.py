"""Every message declared, by API: what the header reader, the handlers, the clients and the tests look into.

A command asks two or three APIs, and all declarations together take a tenth of a second to make. So each is imported
when it is asked for; the module and the names follow from the API (ARCHITECTURE: one guess).
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar, cast

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request

AnyResponse = TypeVar("AnyResponse", bound=Message)


class MessagePair(NamedTuple):
    """The request of an API and its response, declared over the same versions."""

    request: type[Message]
    response: type[Message]


#: An API is declared by the file of its name beside this one.
_FILES = frozenset(module.name for module in pkgutil.iter_modules(__path__))
_DECLARED = tuple(api for api in ApiKey if api.name.lower() in _FILES)


class _Messages(Mapping[ApiKey, MessagePair]):
    def __init__(self) -> None:
        self._imported: dict[int, MessagePair] = {}

    def __getitem__(self, api: ApiKey) -> MessagePair:
        pair = self._imported.get(api)
        if pair is None:
            if api not in _DECLARED:
                raise KeyError(api)
            pair = self._imported[api] = _import(ApiKey(api))
        return pair

    def __iter__(self) -> Iterator[ApiKey]:
        return iter(_DECLARED)

    def __len__(self) -> int:
        return len(_DECLARED)


def _import(api: ApiKey) -> MessagePair:
    module = importlib.import_module(f"{__name__}.{api.name.lower()}")
    name = "".join(word.capitalize() for word in api.name.split("_"))
    return MessagePair(getattr(module, f"{name}Request"), getattr(module, f"{name}Response"))


MESSAGES: Mapping[ApiKey, MessagePair] = _Messages()


def response_type(request: Request[AnyResponse]) -> type[AnyResponse]:
    """Return the class that the response to `request` is decoded into. A test ties it to the request's declaration."""
    return cast(type[AnyResponse], MESSAGES[request.api].response)
