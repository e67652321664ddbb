"""TLS of a broker's listeners and of its connections to other brokers: contexts as configured, and kept fresh."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import chain
from typing import Any

from broker.common.errors import InvariantViolation, StartupError
from broker.common.logs import logger
from broker.common.security_limits import TLS_STORES_LOOKED_AT_EVERY_S
from broker.config.broker import BrokerConfig
from broker.config.definition import Password
from broker.config.listener_settings import ListenerSettings
from broker.keystores.files import BadStore
from broker.net.tls.contexts import client_context
from broker.net.tls.handshakes import Handshakes
from broker.net.tls.keeper import ContextKeeper
from broker.net.tls.principals import Identify
from broker.net.tls.settings import TlsSettings
from broker.net.turns import Turns
from broker.security.principal_rules import PrincipalRules
from broker.security.rights import Rights

_log = logger(__name__)


class ListenersTls:
    """Listeners tls of all listeners of one broker, and of those of others that have the same names."""

    def __init__(self, turns: Turns, listener_of_brokers: str):
        self._turns = turns
        self._listener_of_brokers = listener_of_brokers
        self._of_listeners: dict[str, tuple[ContextKeeper, ContextKeeper]] = {}
        self._looking: asyncio.Task[None] | None = None
        #: Of who is known by a certificate; nobody is served before it is set.
        self.rights_of: Callable[[str, str], Rights] = _nobody_yet

    def of_listener(self, settings: ListenerSettings) -> Handshakes | None:
        """Return a listener's TLS handshakes; None for one without TLS. Raises StartupError."""
        if not settings.protocol.has_tls:
            return None
        listener_settings = tls_settings(settings)
        try:
            keeper = ContextKeeper(settings.name, listener_settings)
            to_others = ContextKeeper(f"{settings.name}, to other brokers", listener_settings, client_context)
            rules = PrincipalRules(listener_settings.principal_mapping_rules)
            identify = Identify(rules, lambda principal, host: self.rights_of(principal, host))
        except (BadStore, ValueError) as error:
            raise StartupError(f"listener {settings.name}: {error}") from None
        self._of_listeners[settings.name] = keeper, to_others
        # A certificate protects the channel of a listener with SASL, and says nothing of who the client is.
        return Handshakes(settings.name, keeper, self._turns, None if settings.protocol.has_sasl else identify)

    def ends_of_certificates(self) -> Iterable[tuple[str, datetime]]:
        """Yield the certificates' expiry by listener, of those with TLS."""
        for listener, (keeper, _) in self._of_listeners.items():
            if keeper.ends is not None:
                yield listener, keeper.ends

    @property
    def of_brokers(self) -> ContextKeeper | None:
        return self.by(self._listener_of_brokers)

    def by(self, listener: str) -> ContextKeeper | None:
        """Return the TLS context for other brokers' listeners of that name; None if these have no TLS."""
        keepers = self._of_listeners.get(listener)
        return keepers[1] if keepers else None

    async def reconfigure(self, config: BrokerConfig) -> None:
        """Reload the stores: others may have been named, or the same files be replaced."""
        for listener in self._of_listeners:
            await self._change(listener, tls_settings(config.of_listener(listener)))

    async def _change(self, listener: str, settings: TlsSettings) -> None:
        for keeper in self._of_listeners[listener]:
            try:
                if settings != keeper.settings:
                    await keeper.change(settings)
                else:
                    await keeper.look()
            except BadStore as error:
                _log.error("new TLS stores are not used, the old ones are kept", listener=listener, reason=str(error))

    def start(self) -> None:
        if self._of_listeners:
            self._looking = asyncio.ensure_future(self._look_again_and_again())

    def stop(self) -> None:
        """Idempotent: a second call does nothing."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(TLS_STORES_LOOKED_AT_EVERY_S)
            for keeper in chain.from_iterable(self._of_listeners.values()):
                await keeper.look()


def _nobody_yet(_principal: str, _host: str) -> Rights:
    raise InvariantViolation("a certificate is shown before rights are known")


def tls_settings(settings: ListenerSettings) -> TlsSettings:
    values = {name.removeprefix("ssl_"): getattr(settings, name) for name in dir(settings) if name.startswith("ssl_")}
    return TlsSettings(**{name: _plain(value) for name, value in values.items()})


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Password) else "" if value is None else value
