"""The audit's rows as a chain: each carries a seal over itself and the seal before it. Pure.

A seal is an HMAC-SHA256 under a key that lies in a file beside the database, not in it: who can only write to the
database cannot make a seal. The newest seal is kept apart from the rows, so that rows taken off the end are missed.
An old copy of the whole database, put back with its own end, is in itself true; only a seal written down elsewhere
(the page and every export name it) tells that it is old.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

#: What the first row has for the seal before it.
NO_SEAL = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A row as the chain sees it. The account behind `actor_name` is not sealed: it may be deleted, the name stays."""

    id: int
    at: datetime
    actor_name: str
    action: str
    object_type: str
    object_name: str
    before: dict | None
    after: dict | None
    result: str
    detail: str
    previous_seal: str
    seal: str = ""


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where the chain does not hold. `row_id` is None when it is the end that is missing."""

    row_id: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """`checked` rows fit each other; with no `broken` those are all there ever were."""

    checked: int
    last_seal: str
    broken: Break | None = None


def seal_of(link: Link, key: bytes) -> str:
    """64 hexadecimal digits. The same row gives the same seal whichever database it was read from."""
    sealed = [
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
    text = json.dumps(sealed, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def verify(links: Iterable[Link], key: bytes, last_seal: str, count: int) -> Verdict:
    """Follow `links`, oldest first, to the first that does not fit.

    `last_seal` and `count` are the end as it is kept apart from the rows. Rows after it that fit were written since it
    was read.
    """
    seal, checked = NO_SEAL, 0
    is_end_met = False
    for link in links:
        sentence = _fault(link, seal, key)
        if sentence:
            return Verdict(checked, seal, Break(link.id, sentence))
        seal, checked = link.seal, checked + 1
        is_end_met = is_end_met or (checked == count and seal == last_seal)
    if checked < count:
        missing = count - checked
        sentence = f"{missing} row{'' if missing == 1 else 's'} at the end {'is' if missing == 1 else 'are'} missing."
        return Verdict(checked, seal, Break(None, sentence))
    if not is_end_met and checked:
        return Verdict(checked, seal, Break(None, "The end of the chain is not the one that was kept."))
    return Verdict(checked, seal)


def _fault(link: Link, previous_seal: str, key: bytes) -> str:
    """What is wrong with `link` where `previous_seal` is the seal before it; nothing if it fits."""
    if not hmac.compare_digest(seal_of(link, key), link.seal):
        return f"Row {link.id} is not as it was written."
    if link.previous_seal != previous_seal:
        return f"Before row {link.id} something is missing, was put in or stands elsewhere."
    return ""
