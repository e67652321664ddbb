"""The end of the audit's chain, sealed in a file beside the key: who writes the database alone cannot set it back.

It is written when a row has been committed, so it may be some rows behind (a process that died in between) and is never
ahead: a chain that ends before it was cut off. Rows appended to a chain that does not hold it leave it as it is.
Several processes append: the file's own lock is taken after the database has let go of its own, never the two at once.
"""

import hmac
import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from console.kit.audit.chain import NO_SEAL, ChainEnd, mac_of
from console.kit.common.file_lock import exclusive

logger = logging.getLogger(__name__)


class ForgedEndError(Exception):
    """The file's seal was not made with the key."""


@dataclass(frozen=True, slots=True)
class SealedEnd:
    """`begun_behind`: the seal of the row before the first that this file was written for; empty: it has always been
    there. It stays in the file, so that a file which was taken away and made anew is told for good."""

    end: ChainEnd
    begun_behind: str = NO_SEAL


def read_end(key: bytes) -> SealedEnd | None:
    """Read the sealed end; None if there is none. Raises ForgedEndError."""
    try:
        text = _path().read_text()
    except FileNotFoundError:
        return None
    try:
        kept = json.loads(text)
        count, seal, at, mac = (kept[name] for name in ("count", "seal", "at", "mac"))
        begun_behind = str(kept.get("begun_behind", NO_SEAL))
        is_ours = hmac.compare_digest(str(mac), mac_of(_sealed(ChainEnd(seal, count), at, begun_behind), key))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ForgedEndError(f"{_path()} cannot be read.") from error
    if not is_ours:
        raise ForgedEndError(f"{_path()} is not as it was written.")
    return SealedEnd(ChainEnd(seal, count), begun_behind)


def missing_end(sealed: SealedEnd | None) -> str:
    """Return why truncation of the audit cannot be ruled out; `sealed`: the end that is there now."""
    if sealed is None:
        return (
            f"{_path()} is missing, the sealed end of the audit: rows may have been cut off with it. Compare the "
            "newest seal with those in web.log and worker.log, and restore the file from a backup."
        )
    return (
        f"{_path()} was missing for a time: rows behind the seal {sealed.begun_behind} may have been cut off. Compare "
        "that seal with those in web.log and worker.log."
    )


def _sealed(end: ChainEnd, at: object, begun_behind: str) -> list[object]:
    """Return the values that the file's seal covers, with `begun_behind` only where the file has it."""
    return ["end", end.count, end.seal, at, *([begun_behind] if begun_behind else [])]


def move_end(
    end: ChainEnd, key: bytes, previous_seal: str, is_in_chain: Callable[[str], bool], is_new: Callable[[], bool]
) -> None:
    """Keep `end`, which follows the row of `previous_seal`, unless a later one is kept or it does not follow the kept
    one. `is_in_chain` says whether there is a row of this seal; `is_new` whether the first row is of just now, so that
    the process that wrote it may not have come to write this file yet."""
    with exclusive(_path().with_name(f".{_path().name}.lock")):
        try:
            kept = read_end(key)
        except ForgedEndError as error:
            logger.error("the end of the audit is left as it is found: %s", error)
            return
        if kept is not None and kept.end.count >= end.count:
            return
        if kept is not None and kept.end.seal != previous_seal and not is_in_chain(kept.end.seal):
            logger.error("the audit was cut off: row %s that was its end is missing", kept.end.count)
            return
        begun_behind = NO_SEAL if kept is None else kept.begun_behind
        if kept is None and previous_seal and not is_new():
            logger.error("the sealed end of the audit was missing: rows may have been cut off with it")
            begun_behind = previous_seal
        _write(SealedEnd(end, begun_behind), key)


def _write(sealed: SealedEnd, key: bytes) -> None:
    """Write whole or not at all, also when the power fails."""
    at, end = timezone.now().isoformat(), sealed.end
    kept = {"count": end.count, "seal": end.seal, "at": at, "mac": mac_of(_sealed(end, at, sealed.begun_behind), key)}
    text = json.dumps(kept | ({"begun_behind": sealed.begun_behind} if sealed.begun_behind else {}))
    draft = _path().with_name(f".{_path().name}.draft")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(_path())


def _path() -> Path:
    return Path(settings.AUDIT_END_FILE)
