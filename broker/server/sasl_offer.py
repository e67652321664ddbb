"""What each listener takes for a login: its mechanisms, out of its settings and of what the broker knows of users.

Members of the cluster are taken on every listener, whatever its mechanisms: by the cluster's secret, as one user of
SCRAM-SHA-256.
"""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from broker.common.errors import StartupError
from broker.config.listener_settings import ListenerSettings
from broker.runtime.security.credentials import UserCredentials
from broker.security.membership import CLIENT_ID, CLUSTER_USER, NONCE_BYTES, ClusterMembership
from broker.security.sasl.jaas import MODULES, LoginModule, parse_jaas, plain_users
from broker.security.sasl.phases import ListenerOffer
from broker.security.sasl.plain import PLAIN, PlainServer, PlainUsers
from broker.security.sasl.scram_server import ScramServer, unknown_user_accounts
from broker.security.sasl.server import Accounts, SaslServer, ScramAccount
from broker.security.scram import HASHES, MECHANISM
from broker.server.sasl_login import LoginSettings

Maker = Callable[[], SaslServer]
#: `(mechanism, token id)` → whom a delegation token stands for.
TokenAccounts = Callable[[str, str], ScramAccount | None]
#: Of a mechanism that is not built in: what serves one login on a listener with these settings. Raises StartupError.
MakerFor = Callable[[ListenerSettings], Maker]


def _no_tokens(_mechanism: str, _token_id: str) -> None:
    return None


class Provers(NamedTuple):
    """The parts of a broker that authenticate clients."""

    membership: ClusterMembership
    is_our_address: Callable[[str], bool]
    credentials: UserCredentials
    tokens: TokenAccounts = _no_tokens
    #: By mechanism.
    others: Mapping[str, MakerFor] = MappingProxyType({})


def login_settings(settings: ListenerSettings, provers: Provers) -> LoginSettings:
    """Return the listener's login settings. Raises StartupError with one sentence if they are unusable."""
    return LoginSettings(
        offer=offer_of(settings, provers),
        is_required=settings.protocol.has_sasl,
        frame_bytes_max=settings.sasl_server_max_receive_size,
        failure_delay_ms=settings.connection_failed_authentication_delay_ms,
    )


def offer_of(settings: ListenerSettings, provers: Provers) -> ListenerOffer:
    """Raises StartupError."""
    enabled = settings.sasl_enabled_mechanisms if settings.protocol.has_sasl else ()
    mechanisms = {mechanism: _maker(mechanism, settings, provers) for mechanism in enabled}
    if MECHANISM not in mechanisms:
        mechanisms[MECHANISM] = _scram(MECHANISM, provers, _members_only(provers))
    reauth_ms = {mechanism: settings.of_mechanism(mechanism).connections_max_reauth_ms for mechanism in enabled}
    is_open = not settings.protocol.has_sasl
    return ListenerOffer(
        mechanisms,
        tuple(enabled) or (MECHANISM,),
        reauth_ms,
        lambda mechanism, client_id: mechanism == MECHANISM and (is_open or client_id == CLIENT_ID),
    )


def _maker(mechanism: str, settings: ListenerSettings, provers: Provers) -> Maker:
    module = _login_module(mechanism, settings)
    if mechanism == PLAIN:
        return _plain(settings, module)
    if mechanism in HASHES:
        return _scram(mechanism, provers, _everybody(mechanism, provers))
    if mechanism in provers.others:
        return provers.others[mechanism](settings)
    served = ", ".join((PLAIN, *HASHES, *provers.others))
    raise StartupError(
        f"listener {settings.name}: sasl.enabled.mechanisms names {mechanism}, which is not served; there are {served}"
    )


def _login_module(mechanism: str, settings: ListenerSettings) -> LoginModule | None:
    jaas_config = settings.of_mechanism(mechanism).sasl_jaas_config
    if jaas_config is None:
        return None
    key = _jaas_key(mechanism, settings)
    try:
        module = parse_jaas(jaas_config.value)
    except ValueError as error:
        raise StartupError(f"{key} {error}") from None
    if mechanism not in MODULES[module.name]:
        raise StartupError(f"{key} names {module.name}, which is not for {mechanism}")
    return module


def _jaas_key(mechanism: str, settings: ListenerSettings) -> str:
    return f"listener.name.{settings.name.lower()}.{mechanism.lower()}.sasl.jaas.config"


def _plain(settings: ListenerSettings, module: LoginModule | None) -> Maker:
    if module is None:
        raise StartupError(
            f'{_jaas_key(PLAIN, settings)} must name the users that may log in: user_<name>="<password>"'
        )
    passwords = plain_users(module)
    if CLUSTER_USER in passwords:
        raise StartupError(f"{_jaas_key(PLAIN, settings)}: the user {CLUSTER_USER} is the cluster's own")
    users = PlainUsers(passwords, os.urandom(32))
    return lambda: PlainServer(users)


def _scram(mechanism: str, provers: Provers, accounts: Accounts) -> Maker:
    strangers = unknown_user_accounts(provers.membership.seed_of_strangers, provers.credentials.likeness)
    return lambda: ScramServer(mechanism, accounts, strangers, os.urandom(NONCE_BYTES).hex())


def _members_only(provers: Provers) -> Accounts:
    return provers.membership.accounts_at(provers.is_our_address)


def _everybody(mechanism: str, provers: Provers) -> Accounts:
    members = _members_only(provers)

    def account(user: str, extensions: Mapping[str, str]) -> ScramAccount | None:
        if user == CLUSTER_USER:
            return members(user, extensions) if mechanism == MECHANISM else None
        if extensions.get("tokenauth", "").lower() == "true":
            return provers.tokens(mechanism, user)
        return provers.credentials.account(mechanism, user)

    return account
