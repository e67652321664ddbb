"""TLS of a client, or a server of REST: a context as its properties say, and what a failed handshake means."""

import ssl

from broker.client.security.properties import ClientTlsSettings
from broker.client.security.stores import as_config_errors, own_certificate, trusted_certificates
from broker.keystores.contexts import show, trust

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}

_ASKS = {"NONE": ssl.CERT_NONE, "REQUESTED": ssl.CERT_OPTIONAL, "REQUIRED": ssl.CERT_REQUIRED}


def client_context(settings: ClientTlsSettings) -> ssl.SSLContext:
    """Takes milliseconds: once for many connections. Raises ClientConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.checks_host
    context.minimum_version = _VERSIONS[settings.versions[0]]
    context.maximum_version = _VERSIONS[settings.versions[-1]]
    if settings.truststore is None:
        context.load_default_certs()
    with as_config_errors():
        if settings.truststore is not None:
            trust(context, trusted_certificates(settings.truststore))
        if settings.keystore is not None:
            show(context, own_certificate(settings.keystore))
    return context


def server_context(settings: ClientTlsSettings, asks_for: str) -> ssl.SSLContext:
    """Return the context of a server with that key store. Raises ClientConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[settings.versions[0]]
    context.maximum_version = _VERSIONS[settings.versions[-1]]
    context.verify_mode = _ASKS[asks_for]
    with as_config_errors():
        if settings.truststore is not None:
            trust(context, trusted_certificates(settings.truststore))
        if settings.keystore is not None:
            show(context, own_certificate(settings.keystore))
    return context


def why_untrusted(error: ssl.SSLError) -> str:
    """Return why a handshake failed, and what to do."""
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
