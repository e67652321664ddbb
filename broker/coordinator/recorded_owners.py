"""What headers of coordinators' records say: the clients that a record is counted for, and the topic's id of an offset.

Kafka's formats of keys and values name no principal, and what a client holds has to be known after a restart, too.
Values of committed offsets name no topic id before version 4, and an offset belongs to one incarnation of its topic.
Kafka's brokers and tools pass over headers there. Values are JSON, but for topic ids, which are their 16 bytes.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from broker.common.shared_budget import UNATTRIBUTED, Owner
from broker.common.types import NO_TOPIC_ID
from broker.records.builder import RepeatedHeaders

Headers = tuple[tuple[str, bytes | None], ...]

#: [[principal, address, how many in a row], …]
_OWNERS = "barnabas.clients"
#: [principal, address, 1 for offsets of a group that has or had members]
_COMMITTER = "barnabas.committer"
#: Of the topic that an offset was committed for, as the committing coordinator knew it.
_TOPIC_ID = "barnabas.topic.id"
_TOPIC_ID_BYTES = 16
_REMEMBERED = 1_000
#: More members than any group has: a header that claims more is not to fill the memory.
_OWNERS_MAX = 100_000
_NOT_UNDERSTOOD = (ValueError, TypeError, OverflowError, RecursionError)


class Committer(NamedTuple):
    """The client that an offset is counted for, and whether it is among the offsets of groups with members."""

    owner: Owner
    of_members: bool


def encode_owners(owners: Iterable[Owner]) -> Headers:
    runs = [[*owner, len(list(run))] for owner, run in groupby(owners)]
    return ((_OWNERS, _to_json(runs)),)


def decode_owners(headers: Headers) -> list[Owner]:
    """Return the owners in order; none if the record has no such header, or one that is not understood."""
    try:
        runs = [(Owner(str(principal), str(host)), int(count)) for principal, host, count in _value(headers, _OWNERS)]
    except _NOT_UNDERSTOOD:
        return []
    if sum(max(count, 0) for _, count in runs) > _OWNERS_MAX:
        return []
    return [owner for owner, count in runs for _ in range(count)]


@lru_cache(_REMEMBERED)
def encode_owner(owner: Owner) -> Headers:
    return encode_owners([owner])


@lru_cache(_REMEMBERED)
def decode_owner(headers: Headers) -> Owner:
    """Return the only owner; UNATTRIBUTED if the record names none, or many."""
    owners = decode_owners(headers)
    return owners[0] if len(owners) == 1 else UNATTRIBUTED


@lru_cache(_REMEMBERED)
def encode_offset_headers(committer: Committer, topic_id: UUID) -> RepeatedHeaders:
    """Return the headers that name an offset's client and topic; not UNATTRIBUTED, not NO_TOPIC_ID."""
    headers: list[tuple[str, bytes | None]] = []
    if committer.owner != UNATTRIBUTED:
        headers.append((_COMMITTER, _to_json([*committer.owner, int(committer.of_members)])))
    if topic_id != NO_TOPIC_ID:
        headers.append((_TOPIC_ID, topic_id.bytes))
    return RepeatedHeaders(headers)


def decode_committer(headers: Headers) -> Committer | None:
    """Return the client of an offset's record; None if the record has no such header, or one that is not understood."""
    raw = _raw_value(headers, _COMMITTER)
    return None if raw is None else _committer_of(raw)


@lru_cache(_REMEMBERED)
def _committer_of(raw: bytes) -> Committer | None:
    try:
        principal, host, of_members = json.loads(raw)
    except _NOT_UNDERSTOOD:
        return None
    return Committer(Owner(str(principal), str(host)), bool(of_members))


def decode_topic_id(headers: Headers) -> UUID:
    """Return the id of the topic that an offset was committed for; NO_TOPIC_ID if the record does not name it."""
    raw = _raw_value(headers, _TOPIC_ID)
    return NO_TOPIC_ID if raw is None or len(raw) != _TOPIC_ID_BYTES else _topic_id_of(raw)


@lru_cache(_REMEMBERED)
def _topic_id_of(raw: bytes) -> UUID:
    """Return one object for the offsets of one topic, of which there may be a million."""
    return UUID(bytes=raw)


def _raw_value(headers: Headers, wanted: str) -> bytes | None:
    for name, value in headers:
        if name == wanted:
            return value
    return None


def _value(headers: Headers, wanted: str) -> Any:
    raw = _raw_value(headers, wanted)
    return [] if raw is None else json.loads(raw)


def _to_json(value: list[Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
