"""What a broker has for logins by tokens: its own (delegation tokens) and those of others (bearer tokens)."""

from collections.abc import Callable

from broker.common.clock import Clock
from broker.config.broker import BrokerConfig
from broker.runtime.security.delegation_tokens import DelegationTokens, TokenSettings
from broker.runtime.security.token_accounts import TokenAccounts
from broker.security.delegation_tokens import Lifetimes
from broker.server.bearer_listeners import BearerListeners
from broker.zookeeper.session import ZooKeeperSession


class Tokens:
    def __init__(
        self, config: BrokerConfig, session: ZooKeeperSession, clock: Clock, is_controller: Callable[[], bool]
    ):
        self.delegation = DelegationTokens(session, _settings(config), clock, is_controller)
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


def _settings(config: BrokerConfig) -> TokenSettings:
    lifetimes = Lifetimes(config.delegation_token_max_lifetime_ms, config.delegation_token_expiry_time_ms)
    return TokenSettings(config.delegation_token_secret, lifetimes, config.delegation_token_expiry_check_interval_ms)
