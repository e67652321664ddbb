"""Asking one address over HTTP: an answer, or why there is none, within a time and a number of bytes, whatever it does.

All requests of a process run on one event loop in a thread of its own. So the deadline holds also for who sends a byte
now and then, what hangs costs a socket and no thread, and nobody's loop waits.
"""

import asyncio
import ssl
import threading
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import httpcore2
import httpx2

from console.kit.common.outbound import AddressRefusedError, checked_addresses

#: From the first byte asked to the last byte answered. Connect itself gives up after 90 s; nobody waits so long here.
DEADLINE_S = 8.0
#: For a connection: a host that is away is told from one that is slow.
CONNECT_S = 2.0
#: The list of a thousand connectors with traces is a few megabytes.
ANSWER_BYTES_MAX = 16 * 1024 * 1024

T = TypeVar("T")


class NotAskedError(Exception):
    """No connection: nothing was asked."""


class NoAnswerError(Exception):
    """There was no valid response: too late, too large, or no HTTP. The request may have been carried out."""


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    method: str
    url: str
    body: bytes | None = None
    authentication: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class WorkerResponse:
    status: int
    body: bytes


def ask(question: WorkerRequest, authority_file: Path | None = None, deadline_s: float = DEADLINE_S) -> WorkerResponse:
    """Send one request and wait for its response; for threads, not for event loops.

    Raises NotAskedError, NoAnswerError.
    """
    return _run(_bounded(_client(authority_file), question, deadline_s))


def ask_all(
    questions: list[WorkerRequest], authority_file: Path | None = None, deadline_s: float = DEADLINE_S
) -> list[WorkerResponse | Exception]:
    """Send all requests at once; return each response or exception."""
    client = _client(authority_file)

    async def all_of_them() -> list[WorkerResponse | BaseException]:
        generator = (_bounded(client, question, deadline_s) for question in questions)
        return await asyncio.gather(*generator, return_exceptions=True)

    return [
        item if isinstance(item, WorkerResponse | Exception) else NoAnswerError(str(item))
        for item in _run(all_of_them())
    ]


async def _bounded(client: httpx2.AsyncClient, question: WorkerRequest, deadline_s: float) -> WorkerResponse:
    try:
        async with asyncio.timeout(deadline_s):
            return await _request(client, question)
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, AddressRefusedError) as error:
        raise NotAskedError(_why(error)) from None
    except TimeoutError:
        raise NoAnswerError(f"no answer within {deadline_s:g} s") from None
    except (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError) as error:
        raise NoAnswerError(_why(error)) from None


async def _request(client: httpx2.AsyncClient, question: WorkerRequest) -> WorkerResponse:
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if question.body is not None:
        headers["Content-Type"] = "application/json"
    request = client.build_request(question.method, question.url, content=question.body, headers=headers)
    auth = httpx2.BasicAuth(*question.authentication) if question.authentication else None
    response = await client.send(request, stream=True, auth=auth)
    try:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise NoAnswerError("a compressed response, which was not requested")
        return WorkerResponse(response.status_code, await _whole(response))
    finally:
        await response.aclose()


async def _whole(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > ANSWER_BYTES_MAX:
            raise NoAnswerError(f"an answer of more than {ANSWER_BYTES_MAX} bytes")
    return bytes(body)


def _why(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text if text.isprintable() and len(text) < 200 else type(error).__name__


@cache
def _client(authority_file: Path | None) -> httpx2.AsyncClient:
    """Return a client that takes no proxy, password or authority from the environment, and follows no redirects."""
    context = ssl.create_default_context(cafile=str(authority_file) if authority_file else None)
    limits = httpx2.Limits(max_connections=64, max_keepalive_connections=16)
    timeout = httpx2.Timeout(DEADLINE_S, connect=CONNECT_S)
    transport = httpx2.AsyncHTTPTransport(verify=context, limits=limits, trust_env=False)
    # It has no word of its own for who makes the sockets.
    transport._pool._network_backend = _CheckedSockets()
    return httpx2.AsyncClient(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False)


class _CheckedSockets(httpcore2.AnyIOBackend):
    """A Kafka Connect is typed on the page of a cluster: where no cluster is, it is not either."""

    async def connect_tcp(self, host: str, port: int, *rest: Any, **more: Any) -> httpcore2.AsyncNetworkStream:
        """Raises AddressRefusedError."""
        *others, last = await asyncio.to_thread(checked_addresses, host, port)
        for address in others:
            with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await super().connect_tcp(address, port, *rest, **more)
        return await super().connect_tcp(last, port, *rest, **more)


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result()


_starting = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _starting:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, name="connect-http", daemon=True).start()
        return _running
