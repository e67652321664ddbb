"""What OpenSSL needs to know to serve a listener, or to be a client of one.

A context is made once, whole, and never changed: of a live one the chain, the key and the trusted certificates cannot
be changed together, and no certificate can be taken away. One listener has one: a context that is exchanged within a
handshake, by the name a client asks for, does not bring its demand for a certificate along.
"""

import ssl
from typing import Protocol

from broker.keystores.contexts import show, trust
from broker.keystores.files import BadStore
from broker.net.tls.ciphers import check_and_translate
from broker.net.tls.settings import VERSIONS, TlsSettings
from broker.net.tls.stores import own_certificate, trusted_certificates


class Contexts(Protocol):
    """`current` counts for the next connection, and may change at any time."""

    @property
    def current(self) -> ssl.SSLContext: ...


_NUMBERS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_DEMANDS = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


def server_context(settings: TlsSettings) -> ssl.SSLContext:
    """Takes milliseconds and reads files. Raises BadStore."""
    if not settings.has_own_certificate:
        raise BadStore("a listener with TLS needs a certificate: set ssl.keystore.location")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _restrict(context, settings)
    context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    demand = context.verify_mode = _DEMANDS[settings.client_auth]
    if demand is not ssl.CERT_NONE:
        # Who comes back with a ticket shows no certificate: an identity would outlive what proved it.
        context.num_tickets = 0
        context.options |= ssl.OP_NO_TICKET
        if not settings.has_trusted_certificates:
            raise BadStore(
                f"ssl.client.auth={settings.client_auth} needs ssl.truststore.location: the authorities of "
                f"client certificates."
            )
    if settings.has_trusted_certificates:
        trust(context, trusted_certificates(settings))
    _show_own(context, settings)
    return context


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Return a client context that shows its certificate on request.

    Without a trust store the system's certificates apply.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.endpoint_identification_algorithm.lower() == "https"
    _restrict(context, settings)
    if settings.has_trusted_certificates:
        trust(context, trusted_certificates(settings))
    else:
        context.load_default_certs()
    if settings.has_own_certificate:
        _show_own(context, settings)
    return context


def _show_own(context: ssl.SSLContext, settings: TlsSettings) -> None:
    """Raises BadStore, which names the file."""
    try:
        show(context, own_certificate(settings))
    except BadStore as error:
        if not settings.keystore_location:
            raise
        raise BadStore(f"ssl.keystore.location={settings.keystore_location}: {error}") from None


def _restrict(context: ssl.SSLContext, settings: TlsSettings) -> None:
    newest = VERSIONS.index(settings.protocol)
    allowed = [version for version in VERSIONS[: newest + 1] if version in settings.enabled_protocols]
    try:
        allowed, ciphers = check_and_translate(settings.cipher_suites, allowed)
        if ciphers:
            context.set_ciphers(ciphers)
    except (ValueError, ssl.SSLError) as error:
        raise BadStore(f"ssl.cipher.suites cannot be heeded: {error}") from None
    if not allowed:
        raise BadStore("ssl.enabled.protocols and ssl.protocol leave no version of TLS")
    context.minimum_version, context.maximum_version = _NUMBERS[allowed[0]], _NUMBERS[allowed[-1]]
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
