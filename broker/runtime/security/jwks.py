"""Keeps the public keys that bearer tokens are checked with, and checks them (KIP-768).

Keys are read at the start, again after `refresh.ms`, after a failure sooner and sooner less often, and when a token
names a key that is not known: issuers change keys. Never for each login. What was read once counts until something
better is: an issuer that cannot be reached stops nobody whose key is known.
"""

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from ssl import SSLContext
from typing import NamedTuple

from broker.common.backoff import pause_after
from broker.common.clock import Clock
from broker.common.errors import StartupError
from broker.common.logs import logger
from broker.common.security_limits import KEY_SET_ASKED_AGAIN_MS, UNKNOWN_KEY_ID_MS, UNKNOWN_KEY_IDS_MAX
from broker.runtime.periodic import rounds
from broker.runtime.security.jwks_fetch import KeySetLocation, KeySetOutOfReach, fetch, tls_context
from broker.security.bearer_tokens import Bearer, BearerRules, TokenRefused, read_claims, read_header
from broker.security.key_set import KeySet, KeySetUnreadable, PublicKey, checked_payload, read_key_set
from broker.security.sasl.oauthbearer import OAuthBearerServer

_log = logger(__name__)


class JwksSettings(NamedTuple):
    """`sasl.oauthbearer.jwks.endpoint.*`; `ca_file` names the authority of the server's certificate, None: as the
    system.
    """

    place: KeySetLocation
    rules: BearerRules = BearerRules()
    refresh_ms: int = 3_600_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 10_000
    ca_file: str | None = None


class BearerTokens:
    """One for each listener that offers OAUTHBEARER; `start` and `stop` it."""

    def __init__(self, settings: JwksSettings, clock: Clock):
        self._settings = settings
        self._clock = clock
        self._keys: KeySet = {}
        self._unknown: OrderedDict[str, int] = OrderedDict()
        self._failures = 0
        self._asked_ms = -KEY_SET_ASKED_AGAIN_MS
        #: Set when keys shall be read before their time, and by the reading that follows.
        self._is_wanted = asyncio.Event()
        self._next_read: asyncio.Future[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bearer")
        self._context: SSLContext | None = None
        self._task: asyncio.Task[None] | None = None

    def server(self) -> OAuthBearerServer:
        """Return the verifier for one login."""
        return OAuthBearerServer(self.believed)

    async def start(self) -> None:
        """Returns when keys were looked for once. A server may be away then; StartupError for a file without keys."""
        settings = self._settings
        if settings.place.scheme == "https":
            self._context = await asyncio.to_thread(_context, settings.ca_file)
        await self._read()
        if not self._keys and settings.place.scheme == "file":
            raise StartupError(
                f"sasl.oauthbearer.jwks.endpoint.url: {settings.place} has no keys to check tokens with."
            )
        self._task = asyncio.get_running_loop().create_task(rounds(self._read_in_time))

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def believed(self, token: str) -> Bearer:
        """Raises TokenRefused."""
        header = read_header(token)
        key = self._keys.get(header.key_id) or await self._missing_key(header.key_id)
        payload = await asyncio.get_running_loop().run_in_executor(
            self._thread, checked_payload, token, key, header.algorithm
        )
        return read_claims(payload, self._settings.rules, self._clock.now_ms())

    # -- keys

    async def _missing_key(self, key_id: str) -> PublicKey:
        if self._next_read is None and self._may_ask_for(key_id, self._clock.monotonic_ms()):
            self._next_read = asyncio.get_running_loop().create_future()
            self._is_wanted.set()
        if self._next_read is not None:
            await asyncio.shield(self._next_read)
        key = self._keys.get(key_id)
        if key is None:
            raise TokenRefused("no key is known by the id it names")
        return key

    def _may_ask_for(self, key_id: str, now_ms: int) -> bool:
        """Return whether to fetch keys: not for an id that was unknown a moment ago, and not all the time."""
        is_new = now_ms - self._unknown.get(key_id, -UNKNOWN_KEY_ID_MS) >= UNKNOWN_KEY_ID_MS
        if not is_new or now_ms - self._asked_ms < KEY_SET_ASKED_AGAIN_MS:
            return False
        self._asked_ms = now_ms
        self._unknown[key_id] = now_ms
        self._unknown.move_to_end(key_id)
        if len(self._unknown) > UNKNOWN_KEY_IDS_MAX:
            self._unknown.popitem(last=False)
        return True

    async def _read_in_time(self) -> None:
        try:
            async with asyncio.timeout(self._pause_ms() / 1000):
                await self._is_wanted.wait()
        except TimeoutError:
            pass
        self._is_wanted.clear()
        waiting, self._next_read = self._next_read, None
        try:
            await self._read()
        finally:
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    def _pause_ms(self) -> int:
        settings = self._settings
        if not self._failures:
            return settings.refresh_ms
        return int(pause_after(self._failures, settings.retry_backoff_ms, settings.retry_backoff_max_ms))

    async def _read(self) -> None:
        try:
            data = await fetch(self._settings.place, self._context)
            keys = await asyncio.get_running_loop().run_in_executor(self._thread, read_key_set, data)
        except (KeySetOutOfReach, KeySetUnreadable) as error:
            self._failures += 1
            _log.warning("keys of bearer tokens not read", at=str(self._settings.place), reason=str(error))
            return
        if self._failures or keys.keys() != self._keys.keys():
            _log.info("keys of bearer tokens read", at=str(self._settings.place), keys=len(keys))
        self._failures = 0
        self._keys = keys
        self._unknown = OrderedDict((key_id, ms) for key_id, ms in self._unknown.items() if key_id not in keys)


def _context(ca_file: str | None) -> SSLContext:
    try:
        return tls_context(ca_file)
    except OSError as error:
        raise StartupError(f"{ca_file} has no certificates by which a key server could be known: {error}.") from error
