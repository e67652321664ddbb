"""What changes something is the leader's to do: asked of another registry, it goes there and the answer comes back."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from broker.registry.errors import RegistryError
from broker.registry.leadership import Leader
from broker.registry.registry import NotLeader, SchemaRegistry
from broker.registry.rest.answers import MEDIA_TYPE
from broker.registry.rest.asking import bytes_of, registry_of
from broker.registry.rest.leader_answer import LeaderResponse, NoAnswer, NotConnected

#: Between two leaders a request waits as long for the next one.
_LEADER_WAIT_S = 8.0
_TRIES_MAX = 3
_CAUGHT_UP_S = 2.0
_PASSED_ON = ("content-type", "accept", "authorization")
#: Behind which record of the topic the answer is true.
_OFFSET = "X-Registry-Offset"

Endpoint = Callable[[Request], Awaitable[Response]]


def for_leader(endpoint: Endpoint) -> Endpoint:
    """Handle the request if this registry leads, else forward it. Raises RegistryError 50003, 50004."""

    async def run(request: Request) -> Response:
        registry = registry_of(request)
        body = await bytes_of(request)
        for _ in range(_TRIES_MAX):
            leader = await registry.leadership.known(_LEADER_WAIT_S)
            if leader is None:
                raise RegistryError(50004, "No registry leads at the moment; try again")
            try:
                if not leader.is_self:
                    return await _forward(registry, leader, request, body)
                answer = await endpoint(request)
                answer.headers[_OFFSET] = str(registry.last_offset)
                return answer
            except NotLeader:
                continue
        raise RegistryError(50003, "The request could not be forwarded: the leader keeps changing")

    return run


async def _forward(registry: SchemaRegistry, leader: Leader, request: Request, body: bytes) -> Response:
    """Raises NotLeader when another leads before it has answered: what is asked for twice is the same, but for
    deletions, which say that they were done.
    """
    if request.headers.get("x-forward", "").lower() == "true":
        raise RegistryError(50003, "The request was forwarded to a registry that does not lead")
    changed = asyncio.ensure_future(registry.leadership.changed())
    asking = asyncio.ensure_future(_ask(registry, leader, request, body))
    try:
        await asyncio.wait({changed, asking}, return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            raise NotLeader
        try:
            answer = asking.result()
        except NotConnected as error:
            # Nothing was sent. One that has just died leads until its session ends.
            try:
                async with asyncio.timeout(_LEADER_WAIT_S):
                    await changed
            except TimeoutError:
                raise _failed(leader, error) from None
            raise NotLeader from None
        except NoAnswer as error:
            raise _failed(leader, error) from None
    finally:
        changed.cancel()
        asking.cancel()
    await _catch_up(registry, answer.headers.get(_OFFSET, ""))
    return Response(answer.body, answer.status, media_type=answer.headers.get("content-type", MEDIA_TYPE))


def _failed(leader: Leader, error: Exception) -> RegistryError:
    return RegistryError(50003, f"The leader at {leader.host}:{leader.port} does not answer: {error}".strip())


async def _ask(registry: SchemaRegistry, leader: Leader, request: Request, body: bytes) -> LeaderResponse:
    """Forward to the leader. Imported here: a lone registry never does, and the HTTP client is 2 MB."""
    from broker.registry.rest.leader_client import ask_leader

    host = f"[{leader.host}]" if ":" in leader.host else leader.host
    query = request.scope["query_string"].decode("ascii", "replace")
    url = f"{leader.scheme}://{host}:{leader.port}{request.scope['registry.path']}{'?' if query else ''}{query}"
    headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
    tls = registry.config.tls
    return await ask_leader(request.method, url, body, headers | {"X-Forward": "true"}, tls.client if tls else None)


async def _catch_up(registry: SchemaRegistry, offset: str) -> None:
    """Wait until this registry has read what the leader wrote, so that its client finds it here."""
    if offset.isdecimal():
        try:
            async with asyncio.timeout(_CAUGHT_UP_S):
                await registry.reader.has_read(int(offset))
        except TimeoutError:
            pass
