"""The stores of a listener, or of connections to other brokers, as their configuration names them, as PEM in memory."""

import re

from broker.keystores import files
from broker.keystores.files import BadStore, OwnCertificate, StoreFile
from broker.net.tls.settings import TlsSettings


def own_certificate(settings: TlsSettings) -> OwnCertificate:
    """Raises BadStore."""
    if settings.keystore_key or settings.keystore_certificate_chain:
        return _inline(settings)
    store = StoreFile(settings.keystore_location, "ssl.keystore.location", settings.keystore_password)
    return files.own_certificate(store, settings.key_password)


def trusted_certificates(settings: TlsSettings) -> str:
    """Return the certificates as PEM. Raises BadStore."""
    if settings.truststore_certificates:
        if settings.truststore_location:
            raise BadStore("ssl.truststore.location and ssl.truststore.certificates are both given: leave out one")
        return files.certificates(_lines(settings.truststore_certificates), "ssl.truststore.certificates")
    return files.authorities(
        StoreFile(settings.truststore_location, "ssl.truststore.location", settings.truststore_password)
    )


def _inline(settings: TlsSettings) -> OwnCertificate:
    if settings.keystore_location:
        raise BadStore("ssl.keystore.location and an inline key or certificate are both given: leave out one")
    if not (settings.keystore_key and settings.keystore_certificate_chain):
        raise BadStore("ssl.keystore.key and ssl.keystore.certificate.chain belong together: give both")
    if settings.keystore_password:
        raise BadStore("ssl.keystore.password does not belong to an inline key, which ssl.key.password opens")
    return OwnCertificate(
        files.certificates(_lines(settings.keystore_certificate_chain), "ssl.keystore.certificate.chain"),
        files.private_key(_lines(settings.keystore_key), "ssl.keystore.key"),
        settings.key_password,
    )


def _lines(inline: str) -> str:
    r"""Return a PEM text with line ends; in properties they are written `\n`; one line with blanks is Kafka's form,
    too.
    """
    text = inline.replace("\\n", "\n")
    if "\n" in text.strip():
        return text
    pieces = re.split(r"(-----(?:BEGIN|END) [A-Z ]+-----)|\s+", text)
    return "\n".join(piece for piece in pieces if piece)
