"""Access to a broker: authentication, authorization and quotas."""

from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter_ns

from prometheus_client import CollectorRegistry

from broker.common.clock import Clock
from broker.common.logs import log_to_own_file
from broker.config.broker import BrokerConfig
from broker.config.listener_settings import ListenerSettings
from broker.net.connection import Connection
from broker.net.listener import Listener
from broker.runtime.config_changes import Apply
from broker.runtime.security import authorizer_log, credentials
from broker.runtime.security.authorizer import Authorizer, unlimited_rights
from broker.runtime.security.credentials import UserCredentials
from broker.runtime.security.delegation_tokens import DelegationTokens, TokenSettings
from broker.runtime.security.quotas import Quotas
from broker.runtime.security.token_accounts import TokenAccounts
from broker.security.delegation_tokens import Lifetimes
from broker.security.sasl import oauthbearer
from broker.security.session import ANONYMOUS, Session
from broker.server.addresses import BrokerAddresses
from broker.server.bearer_listeners import BearerListeners
from broker.server.exit_stack import LoggingExitStack
from broker.server.prerequisites import Ground
from broker.server.sasl_login import ConnectionBounds, ListenerLogins, end_login
from broker.server.sasl_offer import Provers, login_settings
from broker.server.security_metrics import AuthorizerMetrics, CertificateMetrics, LoginMetrics, QuotaMetrics, has_names
from broker.server.waiting_room import WaitingRoom
from broker.zookeeper.entity_configs import EntityConfigs
from broker.zookeeper.session import ZooKeeperSession


class Security:
    """Equips every listener, also those that are opened while the broker runs."""

    def __init__(self, ground: Ground, addresses: BrokerAddresses, is_controller: Callable[[], bool]):
        config, session, clock, listeners = ground.config, ground.session, ground.clock, ground.listeners
        self._config = config
        self._clock = clock
        self.quotas = Quotas(EntityConfigs(session), config, perf_counter_ns)
        self.credentials = UserCredentials(ground.store)
        self.tokens = Tokens(config, session, clock, is_controller)
        self.authorizer = _authorizer(config, session, clock)
        self.rights_of = self.authorizer.rights_of if self.authorizer else unlimited_rights
        self._waiting_room = WaitingRoom(clock)
        self._tls = listeners.tls
        self._provers = Provers(
            ground.membership,
            addresses.is_ours,
            self.credentials,
            self.tokens.accounts.find,
            {oauthbearer.MECHANISM: self.tokens.bearer.maker_for},
        )
        self._bounds = ConnectionBounds(config.socket_request_max_bytes, listeners.memory)
        listeners.quotas.address_rates = self.quotas
        listeners.tls.rights_of = self.rights_of
        listeners.equip(self._equip)

    def _equip(self, listener: Listener, settings: ListenerSettings) -> None:
        """Raises StartupError."""
        listener.new_session = self._new_session
        logins = login_settings(settings, self._provers)
        listener.login = ListenerLogins(logins, self._waiting_room, self._bounds, self.rights_of, self._clock)

    def _new_session(self, host: str, listener: str) -> Session:
        """Return a session of an anonymous user."""
        return Session(host, listener, ANONYMOUS, self.rights_of(ANONYMOUS, host))

    @property
    def keepers(self) -> Iterable[tuple[str, Apply]]:
        """The security listeners by entity type, see `ConfigKeepers`."""
        return (*self.quotas.keepers, (credentials.ENTITY, self.credentials.apply))

    async def start(self, exits: LoggingExitStack) -> None:
        """Start after `keepers` receive changes, and before clients are served.

        Raises StartupError, errors of ZooKeeper.
        """
        await self.quotas.load()
        await self.credentials.load()
        if self.authorizer:
            if self._config.authorizer_log:
                exits.add(log_to_own_file(authorizer_log.LOGGER, Path(self._config.authorizer_log)))
            exits.add(self.authorizer.stop)
            await self.authorizer.start()
        exits.add(self.tokens.stop)
        await self.tokens.start()

    def on_closed(self, connection: Connection) -> None:
        end_login(connection)

    def register_metrics(self, registry: CollectorRegistry) -> None:
        registry.register(QuotaMetrics(self.quotas))
        registry.register(LoginMetrics(self._waiting_room))
        registry.register(CertificateMetrics(self._tls, self._clock))
        if self.authorizer:
            registry.register(AuthorizerMetrics(self.authorizer.log, has_names=has_names(self._config)))


def _authorizer(config: BrokerConfig, session: ZooKeeperSession, clock: Clock) -> Authorizer | None:
    if not config.authorizer_class_name:
        return None
    principals, allows_if_none = config.super_users.principals, config.allow_everyone_if_no_acl_found
    return Authorizer(session, principals, clock, allows_if_none=allows_if_none)


class Tokens:
    """Logins by tokens: the cluster's own (delegation tokens) and those of others (bearer tokens)."""

    def __init__(
        self, config: BrokerConfig, session: ZooKeeperSession, clock: Clock, is_controller: Callable[[], bool]
    ):
        self.delegation = DelegationTokens(session, _token_settings(config), clock, is_controller)
        self.accounts = TokenAccounts(self.delegation)
        self.bearer = BearerListeners(clock)

    async def start(self) -> None:
        """Raises StartupError, and the errors of ZooKeeper."""
        self.accounts.start()
        await self.delegation.start()
        await self.bearer.start()

    def stop(self) -> None:
        self.bearer.stop()
        self.accounts.stop()
        self.delegation.stop()


def _token_settings(config: BrokerConfig) -> TokenSettings:
    lifetimes = Lifetimes(config.delegation_token_max_lifetime_ms, config.delegation_token_expiry_time_ms)
    return TokenSettings(config.delegation_token_secret, lifetimes, config.delegation_token_expiry_check_interval_ms)
