"""Asks the registry that leads. Imported only once another one does."""

from collections.abc import Mapping
from ssl import SSLContext

import httpx2

from broker.common.security_limits import FORWARDED_ANSWER_BYTES_MAX
from broker.registry.rest.leader_answer import LeaderResponse, NoAnswer, NotConnected

#: Confluent's: connecting and reading.
_TIMEOUT_S = 60.0
_CONNECT_TIMEOUT_S = 5.0


async def ask_leader(
    method: str, url: str, body: bytes, headers: Mapping[str, str], tls: SSLContext | None
) -> LeaderResponse:
    """Raises NotConnected, NoAnswer."""
    timeout = httpx2.Timeout(_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
    try:
        async with httpx2.AsyncClient(timeout=timeout, trust_env=False, verify=tls or True) as client:
            request_headers = {**headers, "Accept-Encoding": "identity"}
            async with client.stream(method, url, content=body, headers=request_headers) as answer:
                return LeaderResponse(answer.status_code, answer.headers, await _content(answer))
    except httpx2.ConnectError as error:
        raise NotConnected(_error_text(error)) from None
    except httpx2.HTTPError as error:
        raise NoAnswer(_error_text(error)) from None


async def _content(answer: httpx2.Response) -> bytes:
    """Return the body as it was sent: what comes compressed unasked is not unpacked. Raises NoAnswer."""
    parts, size = [], 0
    async for part in answer.aiter_raw():
        size += len(part)
        if size > FORWARDED_ANSWER_BYTES_MAX:
            raise NoAnswer(f"its answer is longer than {FORWARDED_ANSWER_BYTES_MAX:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__} {error}"
