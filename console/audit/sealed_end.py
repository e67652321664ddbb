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
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from console.audit.chain import End, mac_of
from console.common.file_lock import exclusive

logger = logging.getLogger(__name__)


class ForgedEndError(Exception):
    """What lies in the file was not written by who has the key."""


def read_end(key: bytes) -> End | None:
    """None if there is none yet. Raises ForgedEndError."""
    try:
        text = _path().read_text()
    except FileNotFoundError:
        return None
    try:
        count, seal, at, mac = (json.loads(text)[name] for name in ("count", "seal", "at", "mac"))
        is_ours = hmac.compare_digest(str(mac), mac_of(["end", count, seal, at], key))
    except (ValueError, TypeError, KeyError) as error:
        raise ForgedEndError(f"{_path()} cannot be read.") from error
    if not is_ours:
        raise ForgedEndError(f"{_path()} is not as it was written.")
    return End(seal, count)


def move_end(end: End, key: bytes, previous_seal: str, is_in_chain: Callable[[str], bool]) -> None:
    """Keep `end`, which follows the row of `previous_seal`, unless a later one is kept or it does not follow the kept
    one. `is_in_chain` says whether there is a row of this seal."""
    with exclusive(_path().with_name(f".{_path().name}.lock")):
        try:
            kept = read_end(key)
        except ForgedEndError as error:
            logger.error("the end of the audit is left as it is found: %s", error)
            return
        if kept is not None and kept.count >= end.count:
            return
        if kept is not None and kept.seal != previous_seal and not is_in_chain(kept.seal):
            logger.error("the audit was cut off: row %s that was its end is missing", kept.count)
            return
        _write(end, key)


def _write(end: End, key: bytes) -> None:
    """Whole or not at all, also when the power fails."""
    at = timezone.now().isoformat()
    mac = mac_of(["end", end.count, end.seal, at], key)
    text = json.dumps({"count": end.count, "seal": end.seal, "at": at, "mac": mac})
    draft = _path().with_name(f".{_path().name}.draft")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(_path())


def _path() -> Path:
    return Path(settings.AUDIT_END_FILE)
