"""What stands before every body: the request header (versions 1 and 2) and the response header (0 and 1).

Both follow from the body: flexible versions have the later header, whose only difference is a section of tagged fields.
Two exceptions are Kafka's: `client_id` keeps its two-byte length in the flexible header, and the ApiVersions response
header is always version 0, so that a client can read it before it knows what the broker speaks (KIP-511).
"""

import struct
from typing import NamedTuple

from broker.common.errors import ProtocolError
from broker.common.types import new_tuple
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages import MESSAGES
from broker.protocol.primitives import Buffer, skip_tagged_fields

_REQUEST = struct.Struct(">hhih")
_CORRELATION_ID = struct.Struct(">i")
_read_request = _REQUEST.unpack_from
_API_KEYS = {int(key): key for key in ApiKey}


class _Flexible(dict[tuple[int, int], bool]):
    """Whether a version of an API is flexible. Of what is declared only: a peer may name any number."""

    def __missing__(self, key: tuple[int, int]) -> bool:
        api, version = key
        if api not in MESSAGES:
            return False
        request = MESSAGES[_API_KEYS[api]].request
        lowest, highest = request.versions
        if not lowest <= version <= highest:
            return False
        self[key] = request.is_flexible(version)
        return self[key]


_FLEXIBLE = _Flexible()


class RequestHeader(NamedTuple):
    #: An ApiKey, or a plain int when Kafka has no such API.
    api_key: int
    api_version: int
    #: Chosen by the client, repeated in the response.
    correlation_id: int
    client_id: str | None


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """Return the header and the position where the body begins.

    An API or version that is not declared still yields its header, so that the caller can answer or refuse it; the
    position then tells nothing. Raises ProtocolError if the header is truncated or not text.
    """
    try:
        api_key, api_version, correlation_id, length = _read_request(frame)
        at = _REQUEST.size
        client_id = None
        if length >= 0:
            client_id = str(memoryview(frame)[at : at + length], "utf-8")
            at += length
        elif length != -1:
            raise ProtocolError(f"client_id has length {length}")
        if _FLEXIBLE[api_key, api_version]:
            at = at + 1 if frame[at] == 0 else skip_tagged_fields(frame, at)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ProtocolError(f"the request header is malformed: {error}") from error
    if at > len(frame):
        raise ProtocolError("the request header is truncated")
    fields = (_API_KEYS.get(api_key, api_key), api_version, correlation_id, client_id)
    return new_tuple(RequestHeader, fields), at


def encode_request_header(header: RequestHeader) -> bytes:
    client_id = b"" if header.client_id is None else header.client_id.encode()
    length = -1 if header.client_id is None else len(client_id)
    fixed = _REQUEST.pack(header.api_key, header.api_version, header.correlation_id, length)
    return fixed + client_id + (b"\0" if _is_flexible(header.api_key, header.api_version) else b"")


def decode_response_header(api_key: int, api_version: int, frame: Buffer) -> tuple[int, int]:
    """Return (correlation id, position where the body begins); ProtocolError if truncated."""
    try:
        (correlation_id,) = _CORRELATION_ID.unpack_from(frame, 0)
        at = _CORRELATION_ID.size
        if has_flexible_response_header(api_key, api_version):
            at = skip_tagged_fields(frame, at)
    except (struct.error, IndexError) as error:
        raise ProtocolError(f"the response header is malformed: {error}") from error
    if at > len(frame):
        raise ProtocolError("the response header is truncated")
    return correlation_id, at


def _is_flexible(api_key: int, api_version: int) -> bool:
    """Return whether the header is flexible; unknown APIs and versions are not, so that only fields all versions share
    are read.
    """
    return _FLEXIBLE[api_key, api_version]


def has_flexible_response_header(api_key: int, api_version: int) -> bool:
    """Return whether tagged fields follow the correlation id."""
    return api_key != ApiKey.API_VERSIONS and _is_flexible(api_key, api_version)
