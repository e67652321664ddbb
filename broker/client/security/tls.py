"""TLS of a client: a context as its properties say, and what a failed handshake means, in a sentence."""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import TlsSettings
from broker.client.security.stores import Identity, identity, trusted_certificates

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Takes milliseconds: once for many connections. Raises ClientConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.checks_host
    context.minimum_version = _VERSIONS[settings.versions[0]]
    context.maximum_version = _VERSIONS[settings.versions[-1]]
    if settings.truststore is None:
        context.load_default_certs()
    else:
        _trust(context, trusted_certificates(settings.truststore))
    if settings.keystore is not None:
        _identify(context, identity(settings.keystore))
    return context


def why_untrusted(error: ssl.SSLError) -> str:
    """What a handshake failed of, and what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in (62, 64):  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
            return "its certificate is for another host; connect by a name that is in it"
        return f"its certificate is not trusted ({error.verify_message}); name its CA in ssl.truststore.location"
    reason = error.reason or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return "it does not speak TLS on that port; see security.protocol"
    if "CERTIFICATE" in reason and ("ALERT" in reason or reason.endswith("REQUIRED")):
        return f"it does not take our certificate ({_spoken(reason)}); see ssl.keystore.location"
    return f"no TLS with it ({_spoken(reason)})"


def _spoken(reason: str) -> str:
    return reason.lower().replace("_", " ")


def _trust(context: ssl.SSLContext, certificates: str) -> None:
    try:
        context.load_verify_locations(cadata=certificates)
    except ssl.SSLError as error:
        raise ClientConfigError(f"the trust store has a certificate that cannot be read: {error.reason}") from None


def _identify(context: ssl.SSLContext, own: Identity) -> None:
    with _as_file(own.chain) as chain, _as_file(own.key.reveal()) as key:
        try:
            # Without a function OpenSSL would ask on the terminal.
            context.load_cert_chain(chain, key, lambda: own.password.reveal() if own.password else "")
        except ssl.SSLError as error:
            raise ClientConfigError(_why_no_identity(error, own)) from None


def _why_no_identity(error: ssl.SSLError, own: Identity) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the private key of the key store belongs to another certificate"
    if "ENCRYPTED" in own.key.reveal():
        said = "does not open the private key" if own.password else "is missing: the private key has one"
        return f"ssl.key.password {said}"
    return f"the key store has a key or a certificate that cannot be read: {error.reason or 'no PEM'}"


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A path under which OpenSSL finds the text: in memory where the system can, else readable by nobody else."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("barnabas", os.MFD_CLOEXEC)
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
