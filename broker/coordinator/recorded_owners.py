"""The clients that records of coordinators are counted for, in a header of each record.

Kafka's formats of keys and values name no principal, and what a client holds has to be known after a restart, too.
Kafka's brokers and tools pass over headers there. Values are JSON.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from broker.common.shared_budget import UNATTRIBUTED, Owner

Headers = tuple[tuple[str, bytes | None], ...]

#: [[principal, address, how many in a row], …]
_OWNERS = "barnabas.clients"
#: [principal, address, 1 for offsets of a group that has or had members]
_COMMITTER = "barnabas.committer"
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
def encode_committer(committer: Committer | None) -> Headers:
    if committer is None:
        return ()
    return ((_COMMITTER, _to_json([*committer.owner, int(committer.of_members)])),)


@lru_cache(_REMEMBERED)
def decode_committer(headers: Headers) -> Committer | None:
    """Return the client of an offset's record; None if the record has no such header, or one that is not understood."""
    try:
        principal, host, of_members = _value(headers, _COMMITTER)
    except _NOT_UNDERSTOOD:
        return None
    return Committer(Owner(str(principal), str(host)), bool(of_members))


def _value(headers: Headers, wanted: str) -> Any:
    return next((json.loads(value) for name, value in headers if name == wanted and value is not None), [])


def _to_json(value: list[Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
