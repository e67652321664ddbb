"""The context of one listener while its stores change on disk (KIP-226, KIP-978).

New ones are looked for by size and time of the files, and count for who connects from then on; who is connected stays.
What cannot be used changes nothing: a line in the log says why, once for each state of the files. A certificate that
speaks for somebody else is refused unless `ssl.allow.dn.changes` or `ssl.allow.san.changes` say that it may. One
that has ended, or ends soon, is told of in the log once a day.
"""

import asyncio
import os
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from broker.common.logs import logger
from broker.common.security_limits import CERTIFICATE_WARNED_OF_EVERY_S
from broker.keystores.files import BadStore
from broker.net.tls.certificates import Claims, changes_refused, claims_of, why_not_for_long, why_not_valid
from broker.net.tls.contexts import server_context
from broker.net.tls.settings import TlsSettings
from broker.net.tls.stores import own_certificate

_log = logger(__name__)
_WARNED_OF_EVERY = timedelta(seconds=CERTIFICATE_WARNED_OF_EVERY_S)
_Stamps = tuple[tuple[int, int, int] | None, ...]


class _LoadedContext(NamedTuple):
    context: ssl.SSLContext
    claims: Claims | None
    stamps: _Stamps


def _now() -> datetime:
    return datetime.now(UTC)


class ContextKeeper:
    """Made with the stores as they are at the start, which BadStore refuses. `make` makes a context, of a server or a
    client.
    """

    def __init__(
        self,
        name: str,
        settings: TlsSettings,
        make: Callable[[TlsSettings], ssl.SSLContext] = server_context,
        now: Callable[[], datetime] = _now,
    ):
        self._name = name
        self.settings = settings
        self._make = make
        self._now = now
        self._current = self._made(settings)
        self._looked_at = self._current.stamps
        self._warned_at: datetime | None = None
        self._warn()

    @property
    def current(self) -> ssl.SSLContext:
        return self._current.context

    @property
    def ends(self) -> datetime | None:
        """When the certificate in use expires; None without one."""
        claims = self._current.claims
        return claims.ends if claims else None

    async def look(self) -> bool:
        """Return whether new stores count now: their files have changed, and they can be used. Asks the file system
        only.
        """
        self._warn()
        stamps = _stamps(self.settings)
        if stamps == self._looked_at:
            return False
        try:
            await self.change(self.settings)
        except BadStore as error:
            self._looked_at = stamps
            _log.error("new TLS stores are not used, the old ones are kept", listener=self._name, reason=str(error))
            return False
        return True

    async def change(self, settings: TlsSettings) -> None:
        """Use these stores from now on. Raises BadStore, which changes nothing."""
        made = await asyncio.to_thread(self._checked, settings)
        self.settings, self._current, self._looked_at = settings, made, made.stamps
        _log.info("TLS stores read", listener=self._name)

    def _warn(self) -> None:
        claims, now = self._current.claims, self._now()
        if claims is None or (self._warned_at and now - self._warned_at < _WARNED_OF_EVERY):
            return
        if why := why_not_valid(claims, now) or why_not_for_long(claims, now):
            self._warned_at = now
            _log.warning("TLS certificate", listener=self._name, reason=why)

    def _checked(self, settings: TlsSettings) -> _LoadedContext:
        made = self._made(settings)
        before, after = self._current.claims, made.claims
        if (before is None) != (after is None):
            raise BadStore("a keystore can neither come nor go while a broker runs")
        if before and after:
            if why := why_not_valid(after, self._now()):
                raise BadStore(why)
            if why := changes_refused(before, after, settings.allow_dn_changes, settings.allow_san_changes):
                raise BadStore(why)
        return made

    def _made(self, settings: TlsSettings) -> _LoadedContext:
        # Before the files are read: what changes meanwhile is seen at the next look.
        stamps = _stamps(settings)
        claims = claims_of(own_certificate(settings).chain) if settings.has_own_certificate else None
        return _LoadedContext(self._make(settings), claims, stamps)


def _stamps(settings: TlsSettings) -> _Stamps:
    return tuple(_stamp(path) for path in settings.files)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
