"""What can be said for each listener by itself: how TLS and SASL are done there, and how many may come.

`listener.name.<name in small letters>.<key>` counts before `<key>`, for one SASL mechanism
`listener.name.<name>.<mechanism in small letters>.<key>` before both (KIP-103, KIP-226).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from broker.common.limits import CONNECTIONS_MAX
from broker.common.security_protocol import SecurityProtocol
from broker.config.definition import (
    Key,
    parse_boolean,
    parse_int,
    parse_int32,
    parse_list,
    parse_password,
    setting,
    take_keys,
)
from broker.config.tls_versions import TLS_VERSIONS, parse_newest_version, parse_versions

_STORE_TYPES = ("JKS", "PKCS12", "PEM")


class ListenerKeys:
    """Values by attribute, as in `BrokerSettings`."""

    ssl_keystore_type = setting(str, "JKS", "Form of the keystore.", choices=_STORE_TYPES)
    ssl_keystore_location = setting(str, None, "File with the listener's private key and certificate.")
    ssl_keystore_password = setting(parse_password, None, "Opens the keystore, if it is PKCS12.")
    ssl_keystore_key = setting(parse_password, None, "The private key itself, as PEM, instead of a file.")
    ssl_keystore_certificate_chain = setting(parse_password, None, "The certificate and those above it, as PEM.")
    ssl_key_password = setting(parse_password, None, "Opens the private key.")
    ssl_truststore_type = setting(str, "JKS", "Form of the truststore.", choices=_STORE_TYPES)
    ssl_truststore_location = setting(str, None, "File with the certificates of trusted authorities.")
    ssl_truststore_password = setting(parse_password, None, "Opens the truststore, if it is PKCS12.")
    ssl_truststore_certificates = setting(parse_password, None, "The certificates themselves, as PEM.")
    ssl_client_auth = setting(
        str,
        "none",
        "Whether clients show a certificate; a SASL_SSL listener heeds it with its prefix only (KIP-684).",
        choices=("none", "requested", "required"),
    )
    ssl_protocol = setting(parse_newest_version, "TLSv1.3", "Newest version of TLS.")
    ssl_enabled_protocols = setting(
        parse_versions, TLS_VERSIONS, "Versions of TLS there may be; old ones are left out."
    )
    ssl_cipher_suites = setting(parse_list, (), "Ciphers there may be; default: those of the TLS library.")
    ssl_endpoint_identification_algorithm = setting(
        str, "https", "Whether brokers check the name in each other's certificates; empty: no.", choices=("", "https")
    )
    ssl_principal_mapping_rules = setting(str, "DEFAULT", "How a certificate's name becomes a user's (KIP-371).")
    ssl_allow_dn_changes = setting(parse_boolean, False, "May a new certificate have another name (KIP-978).")
    ssl_allow_san_changes = setting(parse_boolean, False, "May a new certificate lack an alternative name (KIP-978).")
    sasl_enabled_mechanisms = setting(parse_list, ("GSSAPI",), "SASL mechanisms that clients may use, comma separated.")
    sasl_jaas_config = setting(
        parse_password,
        None,
        "Login module of one mechanism; only as listener.name.<listener>.<mechanism>.sasl.jaas.config.",
    )
    sasl_server_max_receive_size = setting(
        parse_int32, 524_288, "Largest request before a login is complete.", at_least=1
    )
    sasl_oauthbearer_jwks_endpoint_url = setting(str, None, "Where the keys of tokens are, a file or a URL.")
    sasl_oauthbearer_jwks_endpoint_refresh_ms = setting(parse_int, 3_600_000, "How often they are read.", at_least=1)
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms = setting(
        parse_int, 100, "Pause before they are read again.", at_least=1
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms = setting(parse_int, 10_000, "Longest such pause.", at_least=1)
    sasl_oauthbearer_expected_audience = setting(
        parse_list, (), "Accepted audiences of a token (aud); one of them must match."
    )
    sasl_oauthbearer_expected_issuer = setting(str, None, "Whose a token must be.")
    sasl_oauthbearer_clock_skew_seconds = setting(parse_int32, 30, "By how much clocks may differ.", at_least=0)
    sasl_oauthbearer_scope_claim_name = setting(str, "scope", "Claim of a token that has its scope.")
    sasl_oauthbearer_sub_claim_name = setting(str, "sub", "Claim of a token that has its user.")
    sasl_server_callback_handler_class = setting(
        str,
        None,
        "Kafka's OAuthBearerUnsecuredValidatorCallbackHandler by its full name: unsigned tokens are accepted.",
    )
    connections_max_reauth_ms = setting(parse_int, 0, "Age at which a login must be renewed; 0: never (KIP-368).")
    connection_failed_authentication_delay_ms = setting(
        parse_int32, 100, "How long a refused login waits for its answer.", at_least=0
    )
    max_connections = setting(
        parse_int32, CONNECTIONS_MAX, "Connections at a time, of the broker or a listener.", at_least=0
    )
    max_connection_creation_rate = setting(
        parse_int32, 2**31 - 1, "New connections per second, of the broker or a listener (KIP-612).", at_least=0
    )


KEYS: tuple[Key, ...] = tuple(take_keys(ListenerKeys))
BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}

_PREFIX = "listener.name."
#: Say nothing unless they stand behind a listener and a mechanism.
OF_MECHANISM_ONLY = frozenset({"sasl.jaas.config", "sasl.server.callback.handler.class"})
#: May be said for a mechanism, besides all that begins with `sasl.`.
_OF_MECHANISM = frozenset({"connections.max.reauth.ms"})


class Prefixed(NamedTuple):
    """A key said for one listener, in small letters, and perhaps for one mechanism."""

    listener: str
    mechanism: str
    key: Key

    @property
    def has_effect(self) -> bool:
        return bool(self.mechanism) or self.key.name not in OF_MECHANISM_ONLY


def prefixed(name: str) -> Prefixed | None:
    """Return the listener and the key of a full name; None if no setting has that name."""
    listener, _, rest = name.removeprefix(_PREFIX).partition(".")
    if not name.startswith(_PREFIX) or listener != listener.lower():
        return None
    if rest in BY_NAME:
        return Prefixed(listener, "", BY_NAME[rest])
    mechanism, _, rest = rest.partition(".")
    if rest in BY_NAME and (rest in _OF_MECHANISM or rest.startswith("sasl.")) and mechanism == mechanism.lower():
        return Prefixed(listener, mechanism, BY_NAME[rest])
    return None


def prefixed_key(name: str) -> Key | None:
    """Return the prefixed setting as a key without a default."""
    parsed = prefixed(name)
    return replace(parsed.key, name=name, default=None, has_effect=parsed.has_effect) if parsed else None


class ListenerSettings(ListenerKeys):
    """What counts for one listener, or for one mechanism of it, when it was asked; does not change."""

    def __init__(self, name: str, protocol: SecurityProtocol, values: Mapping[str, Any], own: Mapping[str, Any]):
        """`values` by attribute; `own` what is said with a prefix, by full name."""
        self.name = name
        self.protocol = protocol
        self._values = values
        self._own = own
        vars(self).update(values)

    def of_mechanism(self, mechanism: str) -> "ListenerSettings":
        values = {**self._values, **_said_for(self.name, mechanism, self._own)}
        return ListenerSettings(self.name, self.protocol, values, self._own)


def settings_of_listener(
    listener: str, protocol: SecurityProtocol, values: Mapping[str, Any], own: Mapping[str, Any]
) -> ListenerSettings:
    """Return a listener's settings. `values` are the broker's by attribute, `own` those with the listener's prefix, by
    full name.
    """
    of_all = {key.attribute: values[key.attribute] for key in KEYS}
    only_own = OF_MECHANISM_ONLY | ({"ssl.client.auth"} if protocol is SecurityProtocol.SASL_SSL else set())
    of_all |= {BY_NAME[name].attribute: BY_NAME[name].default for name in only_own}
    return ListenerSettings(listener, protocol, {**of_all, **_said_for(listener, "", own)}, own)


def _said_for(listener: str, mechanism: str, own: Mapping[str, Any]) -> dict[str, Any]:
    wanted = (listener.lower(), mechanism.lower())
    parsed = ((prefixed(name), value) for name, value in own.items())
    return {item.key.attribute: value for item, value in parsed if item and item.has_effect and item[:2] == wanted}
