"""The largest request of every API, made from its declaration, just within what its handler allows."""

import random
import time
from collections.abc import Iterator
from typing import Any

from broker.handlers.handler import Handler
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.headers import RequestHeader, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.primitives import Array, Primitive
from broker.protocol.schema import Message, Struct, WireField
from tests.bench.attacks.aim import Aim, Line, request

#: What has to be so that a request is worked on at all.
_VALUES: dict[str, Any] = {
    "acks": 1,
    "allow_auto_topic_creation": False,
    "current_leader_epoch": -1,
    "replica_id": -1,
    "resource_type": 2,
    "timeout_ms": 1_000,
    "session_timeout_ms": 10_000,
    "rebalance_timeout_ms": 10_000,
    "transaction_timeout_ms": 10_000,
    "generation_id_or_member_epoch": -1,
}
#: Arrays that stay empty: the versions that have them say the same by others, or they call things off.
_EMPTY = ("forgotten_topics_data",)
#: More is for members of the cluster, and refused to others before it is looked at.
_FRAME_BYTES_MAX = 8_000_000
_ENTRIES_MAX = 50_000
_SHARE_OF_BUDGET = 0.9


def largest(handler: Handler, version: int, *, is_wide: bool) -> bytes:
    """A frame of as many array elements as the handler allows: in the outermost arrays, or in the innermost."""
    message, budget = MESSAGES[handler.api].request, handler.budget_of(version)
    size = int(min(_ENTRIES_MAX, budget.entries_max) * _SHARE_OF_BUDGET)
    bytes_max = min(_FRAME_BYTES_MAX, budget.bytes_max)
    while True:
        made = request(_filled(message, version, size, is_wide=is_wide), version)
        if len(made) <= bytes_max:
            return made
        size = int(size * bytes_max / len(made) * _SHARE_OF_BUDGET)


def _filled(message: type[Message], version: int, size: int, *, is_wide: bool) -> Message:
    made = message()
    for field in message.fields:
        if field.exists_in(version) and field.tag is None:
            counts = (size // max(1, _depth(field.type, version)), 1) if is_wide else (1, size)
            setattr(made, field.name, _value(field, version, counts, 0))
    return made


def _depth(kind: Any, version: int) -> int:
    """How many arrays are within each other."""
    if not isinstance(kind, Array):
        return 0
    inner = getattr(kind.element, "fields", ())
    return 1 + max((_depth(item.type, version) for item in inner if item.exists_in(version)), default=-1)


def _value(field: WireField, version: int, counts: tuple[int, int], number: int) -> Any:
    if field.name in _VALUES:
        return _VALUES[field.name]
    if isinstance(field.type, Array):
        if field.name in _EMPTY:
            return []
        is_last = _depth(field.type, version) == 1
        size = counts[1] if is_last and counts[0] == 1 else counts[0]
        within = counts if counts[0] == 1 else (1, 1)
        return [_element(field.type.element, version, within, index) for index in range(size)]
    if isinstance(field.type, Primitive):
        return _scalar(field.type, field, number)
    return field.new_default()


def _element(kind: Any, version: int, counts: tuple[int, int], number: int) -> Any:
    if isinstance(kind, Primitive):
        return f"n-{number}" if kind.name == "string" else number % 128 if kind.name == "int8" else number
    made: Struct = kind()
    for field in kind.fields:
        if field.exists_in(version) and field.tag is None:
            setattr(made, field.name, _value(field, version, counts, number))
    return made


def _scalar(kind: Primitive, field: WireField, number: int) -> Any:
    if kind.name == "string" and field.default is not None:
        return f"n-{number}"
    if kind.name == "int32" and ("index" in field.name or field.name in ("partition", "partition_id")):
        return number
    return field.default


def _of_every_api(*, is_wide: bool) -> Any:
    def attack(aim: Aim) -> Iterator[None]:
        line = Line(aim)
        served = [(handler, version) for handler in HANDLERS for version in sorted({*handler.served})]
        made: dict[tuple[ApiKey, int], bytes] = {}
        while True:
            random.shuffle(served)
            for handler, version in served:
                key = handler.api, version
                made[key] = made.get(key) or largest(handler, version, is_wide=is_wide)
                line.send(made[key])
                line.take()
                yield
                time.sleep(0.02)

    return attack


def announced(aim: Aim) -> Iterator[None]:
    """Every API in every version, its first array said to hold two billion elements, then one."""
    announced_apis = [
        (handler.api, version) for handler in HANDLERS for version in range(handler.served[0], handler.served[1] + 1)
    ]
    line = Line(aim)
    while True:
        random.shuffle(announced_apis)
        for api, version in announced_apis:
            head = encode_request_header(RequestHeader(api, version, 1, "hostile"))
            for count in (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x07"):
                body = count * 200
                line.send((len(head) + len(body)).to_bytes(4) + head + body)
                if line.take() is None:
                    yield
        time.sleep(0.02)


def everything(aim: Aim) -> Iterator[None]:
    """Every API asked for everything there is: by no names at all."""
    requests = []
    for handler in HANDLERS:
        if handler.api in (ApiKey.SASL_AUTHENTICATE, ApiKey.DELETE_TOPICS):
            continue
        version, made = handler.served[1], MESSAGES[handler.api].request()
        for field in made.fields:
            if field.exists_in(version) and field.nullable_in(version) and isinstance(field.type, Array):
                setattr(made, field.name, None)
            elif field.exists_in(version) and field.name in _VALUES:
                setattr(made, field.name, _VALUES[field.name])
        requests.append(request(made, version))
    line = Line(aim)
    while True:
        for item in requests:
            line.send(item)
            line.take()
            yield
        time.sleep(0.02)


ATTACKS = {
    "every API asked of very many": _of_every_api(is_wide=True),
    "every API asked of very much in one": _of_every_api(is_wide=False),
    "every API announced two billion": announced,
    "every API asked for everything": everything,
}
