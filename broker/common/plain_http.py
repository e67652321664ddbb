"""As much of HTTP as a fixed page or two take: what was asked, and an answer after which the connection ends. Pure.

A server of the standard library or a framework would be 2 MB of each process that serves its metrics.
"""

from collections.abc import Sequence

HEAD_BYTES_MAX = 8 * 1024
END_OF_HEAD = b"\r\n\r\n"
_REASONS = {200: "OK", 403: "Forbidden", 404: "Not Found", 503: "Service Unavailable"}


def address_of(request_line: bytes) -> tuple[bytes, bytes]:
    """Return path and query of a GET; nothing for any other request."""
    match request_line.split(b" "):
        case [b"GET", address, _version]:
            path, _, query = address.partition(b"?")
            return path, query
    return b"", b""


def hosts_in(lines: Sequence[bytes]) -> list[str]:
    """Return the values of the Host headers."""
    named = (line.partition(b":") for line in lines)
    return [value.strip().decode("latin-1") for name, _, value in named if name.strip().lower() == b"host"]


def response(status: int, content_type: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
