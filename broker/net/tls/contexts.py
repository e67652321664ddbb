"""What OpenSSL needs to know to serve a listener, or to be a client of one.

A context is made once, whole, and never changed: of a live one the chain, the key and the trusted certificates cannot
be changed together, and no certificate can be taken away. One listener has one: a context that is exchanged within a
handshake, by the name a client asks for, does not bring its demand for a certificate along.
"""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from broker.net.tls.ciphers import check_and_translate
from broker.net.tls.settings import VERSIONS, TlsSettings
from broker.net.tls.stores import BadStore, OwnCertificate, own_certificate, trusted_certificates


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
            raise BadStore(f"ssl.client.auth={settings.client_auth} needs ssl.truststore.location: whom to believe?")
    if settings.has_trusted_certificates:
        _trust(context, settings)
    _own(context, own_certificate(settings))
    return context


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Its own certificate is shown to who asks for one. Without a trust store the system's certificates count."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.endpoint_identification_algorithm.lower() == "https"
    _restrict(context, settings)
    if settings.has_trusted_certificates:
        _trust(context, settings)
    else:
        context.load_default_certs()
    if settings.has_own_certificate:
        _own(context, own_certificate(settings))
    return context


def _restrict(context: ssl.SSLContext, settings: TlsSettings) -> None:
    newest = VERSIONS.index(settings.protocol)
    allowed = [each for each in VERSIONS[: newest + 1] if each in settings.enabled_protocols]
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


def _trust(context: ssl.SSLContext, settings: TlsSettings) -> None:
    try:
        context.load_verify_locations(cadata=trusted_certificates(settings))
    except ssl.SSLError as error:
        raise BadStore(f"the truststore has a certificate that cannot be read: {error.reason}") from None


def _own(context: ssl.SSLContext, own: OwnCertificate) -> None:
    with _as_file(own.chain) as chain, _as_file(own.key) as key:
        try:
            # Without a function OpenSSL would ask on the terminal.
            context.load_cert_chain(chain, key, lambda: own.password)
        except ssl.SSLError as error:
            raise BadStore(_why(error, own)) from None


def _why(error: ssl.SSLError, own: OwnCertificate) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the private key of the keystore belongs to another certificate"
    if "ENCRYPTED" in own.key:
        said = "does not open the private key" if own.password else "is not given, and the private key needs it"
        return f"ssl.key.password {said}"
    return f"the keystore has a key or a certificate that cannot be read: {error.reason or 'it is no PEM'}"


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A path at which OpenSSL finds the text: in memory where the system can, else of mode 600 and gone at once."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tls", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            yield file.name
