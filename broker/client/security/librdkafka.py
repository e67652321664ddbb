"""The same security in librdkafka's words, for confluent-kafka. What it cannot do is one clear error, never left out.

The settings hold secrets: they are for a client's constructor, and for nothing that is printed. Stores are handed over
as PEM text, so that librdkafka trusts and shows exactly what our own connections do.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from broker.client.security.bearer import TokenSource
from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import (
    TLS_VERSIONS,
    BearerSettings,
    ClientSecurity,
    ClientTlsSettings,
    SaslSettings,
)
from broker.client.security.stores import own_certificate, trusted_certificates

if TYPE_CHECKING:
    from ssl import SSLContext


def librdkafka_settings(security: ClientSecurity) -> dict[str, Any]:
    """Return the settings; none for PLAINTEXT, which is librdkafka's default, too. Raises ClientConfigError."""
    if security.protocol == "PLAINTEXT":
        return {}
    settings: dict[str, Any] = {"security.protocol": security.protocol}
    if security.tls is not None:
        settings |= _tls(security.tls)
    if security.sasl is not None:
        settings |= _sasl(security.sasl, security.tls)
    return settings


def _tls(tls: ClientTlsSettings) -> dict[str, str]:
    if tls.versions != TLS_VERSIONS:
        raise ClientConfigError(
            f"ssl.enabled.protocols={','.join(tls.versions)} is not possible with librdkafka; leave it out: TLSv1.3 is "
            "spoken with every broker that has it, and nothing before TLSv1.2"
        )
    settings = {"ssl.endpoint.identification.algorithm": "https" if tls.checks_host else "none"}
    if tls.truststore is not None:
        settings["ssl.ca.pem"] = trusted_certificates(tls.truststore)
    if tls.keystore is not None:
        own = own_certificate(tls.keystore)
        settings |= {"ssl.certificate.pem": own.chain, "ssl.key.pem": own.key}
        if own.password:
            settings["ssl.key.password"] = own.password
    return settings


def _sasl(sasl: SaslSettings, tls: ClientTlsSettings | None) -> dict[str, Any]:
    if sasl.is_delegation_token:
        raise ClientConfigError(
            "tokenauth=true: librdkafka, which this client is made of, cannot log in by a delegation token"
        )
    if sasl.bearer is not None:
        return {"sasl.mechanism": sasl.mechanism, "oauth_cb": _token_callback(sasl.bearer, tls)}
    password = sasl.password.reveal() if sasl.password else ""
    return {"sasl.mechanism": sasl.mechanism, "sasl.username": sasl.username, "sasl.password": password}


def _token_callback(bearer: BearerSettings, tls: ClientTlsSettings | None) -> Callable[[str], tuple[Any, ...]]:
    """Return the callback by which librdkafka gets a token, and the next one before it expires."""

    def context() -> "SSLContext | None":
        from broker.client.security.tls import client_context

        return client_context(tls) if tls else None

    source = TokenSource(bearer, context)

    def tell(_config: str) -> tuple[Any, ...]:
        token = source.token()
        return token.text.reveal(), token.expires_at_s, token.principal, dict(bearer.extensions)

    return tell
