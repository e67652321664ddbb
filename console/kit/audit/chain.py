"""The audit's rows as a chain: each carries a seal over itself and the seal before it. Pure.

A seal is an HMAC-SHA256 under a key that lies in a file beside the database, not in it: who can only write to the
database cannot make a seal. The newest seal is kept apart from the rows, twice: in a row, and sealed in a file beside
the key (`sealed_end.py`), so that rows taken off the end are missed even if the row of the end is set back with them.
Who can write those files too is told by seals that were written down elsewhere: the page, every export and the log
(`witness.py`) name them.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

#: What the first row has for the seal before it.
NO_SEAL = ""
#: How rows are sealed today.
VERSION = 4


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A row as the chain sees it. `actor_number` is the account behind `actor_name`; it stays when that is deleted, and
    `account`, which the row points at today, is then None. Rows of version 1 have no number in their seal,
    and only from version 3 on `actor_identity`, as whom a provider of single sign-on knew the account, is in it; from
    version 4 on `cluster`, in which it was done, empty for the first.
    """

    id: int
    at: datetime
    actor_name: str
    action: str
    object_type: str
    object_name: str
    before: Mapping[str, object] | None
    after: Mapping[str, object] | None
    result: str
    detail: str
    previous_seal: str
    seal: str = ""
    version: int = 1
    actor_number: int | None = None
    actor_identity: str = ""
    cluster: str = ""
    account: int | None = None


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """The newest seal and how many rows led to it, as it is kept apart from the rows."""

    seal: str = NO_SEAL
    count: int = 0


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where the chain does not hold. `row_id` is None when it is the end that is missing."""

    row_id: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """`checked` rows fit each other; with no `broken` those are all there ever were."""

    checked: int
    last_seal: str
    broken: Break | None = None


def seal_of(link: ChainLink, key: bytes) -> str:
    """Return 64 hexadecimal digits. The same row gives the same seal whichever database it was read from."""
    sealed: list[object] = [
        link.previous_seal,
        link.at.astimezone(UTC).isoformat(timespec="microseconds"),
        link.actor_name,
        link.action,
        link.object_type,
        link.object_name,
        link.before,
        link.after,
        link.result,
        link.detail,
    ]
    if link.version != 1:
        sealed += [link.version, link.actor_number]
    if link.version > 2:
        sealed.append(link.actor_identity)
    if link.version > 3:
        sealed.append(link.cluster)
    return mac_of(sealed, key)


def mac_of(values: Sequence[object], key: bytes) -> str:
    """Return a MAC; lists of different lengths or kinds never have the same one."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def verify(links: Iterable[ChainLink], key: bytes, *ends: ChainEnd) -> ChainVerdict:
    """Follow `links`, oldest first, to the first that does not fit.

    `ends` are the end as it is kept apart from the rows, in one place or several; one place may be some rows behind
    another. Rows after it that fit were written since it was read.
    """
    seal, checked = NO_SEAL, 0
    not_met = set(ends)
    for link in links:
        sentence = _fault(link, seal, key)
        if sentence:
            return ChainVerdict(checked, seal, Break(link.id, sentence))
        seal, checked = link.seal, checked + 1
        not_met.discard(ChainEnd(seal, checked))
    missing = max((end.count for end in ends), default=0) - checked
    if missing > 0:
        sentence = f"The end was cut off: {missing} row{' is' if missing == 1 else 's are'} missing."
        return ChainVerdict(checked, seal, Break(None, sentence))
    if not_met and checked:
        return ChainVerdict(
            checked,
            seal,
            Break(None, "The row that was the end is not there: rows at the end were cut off or replaced."),
        )
    return ChainVerdict(checked, seal)


def _fault(link: ChainLink, previous_seal: str, key: bytes) -> str:
    """Return what is wrong with `link`, given the seal before it; empty if it fits."""
    if not hmac.compare_digest(seal_of(link, key), link.seal):
        return f"Row {link.id} is not as it was written."
    if link.version < 3 and link.actor_identity:
        return f"Row {link.id} names its account's owner, which was not sealed yet when it was written."
    if link.version < 4 and link.cluster:
        return f"Row {link.id} names a cluster, which was not sealed yet when it was written."
    if link.version != 1 and link.account not in (None, link.actor_number):
        return f"Row {link.id} points at another account than whose it is."
    if link.previous_seal != previous_seal:
        return f"Before row {link.id} a row is missing, was added or was moved."
    return ""
