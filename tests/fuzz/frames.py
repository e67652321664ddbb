"""Made-up requests as bytes: most as any client would send them, some broken on the way."""

import random
from typing import NamedTuple

from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import encode
from broker.protocol.headers import RequestHeader, encode_request_header
from broker.protocol.messages import MESSAGES
from tests.fuzz.values import Pools

#: Every API there is a declaration of, served or not; those that are, with their versions.
APIS = tuple(sorted(MESSAGES))
_SERVED = {handler.api: handler.served for handler in HANDLERS}
_FRAME_BYTES_MAX = 2_000_000
_SIZE_BYTES = 4


class Sent(NamedTuple):
    api: int
    version: int
    correlation_id: int
    #: With its size in front.
    data: bytes


def make_frame(api: ApiKey, correlation_id: int, pools: Pools, chance: random.Random) -> Sent:
    """One request; one of ten is broken."""
    first, last = _SERVED.get(api, MESSAGES[api].request.versions)
    version = chance.randint(first, last)
    header = RequestHeader(api, version, correlation_id, chance.choice((None, "", "fuzz", "x" * 500)))
    body = encode(pools.request(MESSAGES[api].request, version), version)
    frame = encode_request_header(header) + body
    if chance.random() < 0.1:
        frame = _broken(bytearray(frame), chance)
    frame = frame[:_FRAME_BYTES_MAX]
    size = len(frame) if chance.random() < 0.99 else chance.choice((0, 1, len(frame) + 7, 50_000_000))
    return Sent(api, version, correlation_id, size.to_bytes(_SIZE_BYTES) + frame)


def _broken(frame: bytearray, chance: random.Random) -> bytes:
    match chance.randrange(4):
        case 0:
            for _ in range(chance.randint(1, 8)):
                frame[chance.randrange(len(frame))] = chance.randrange(256)
        case 1:
            del frame[chance.randrange(len(frame)) :]
        case 2:
            frame += chance.randbytes(chance.randint(1, 5_000))
        case _:
            at = chance.randrange(len(frame))
            frame[at:at] = chance.choice((b"\xff\xff\xff\xff\x0f", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", bytes(4)))
    return bytes(frame)
