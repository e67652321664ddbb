"""Key stores and trust stores: PEM, in a file or in the configuration itself, and PKCS#12; all end as PEM in memory.

A file is taken for what its first bytes say, as Java does: its type JKS, the default, reads PKCS#12. Java's own format
is refused with the command that converts it.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from broker.common.errors import StartupError
from broker.net.tls.settings import TlsSettings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

_JKS = b"\xfe\xed\xfe\xed"
_DER = b"\x30"
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_KEY = re.compile(r"-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----.*?-----END (?:ENCRYPTED )?PRIVATE KEY-----", re.DOTALL)
#: A store of a thousand authorities is far smaller.
_FILE_BYTES_MAX = 16 * 1024 * 1024


class BadStore(StartupError):
    """A store that cannot be used, in one sentence that holds no secret."""


class OwnCertificate(NamedTuple):
    """PEM: the certificate with those above it, and the key, which `password` opens if it is encrypted."""

    chain: str
    key: str
    password: str

    def __repr__(self) -> str:
        return "OwnCertificate([hidden])"


def own_certificate(settings: TlsSettings) -> OwnCertificate:
    """Raises BadStore."""
    if settings.keystore_key or settings.keystore_certificate_chain:
        return _inline(settings)
    path = settings.keystore_location
    data = _read(path, "ssl.keystore.location")
    if data.startswith(_DER):
        return _of_pkcs12(data, settings)
    if settings.keystore_password:
        raise BadStore(
            f"ssl.keystore.password does not belong to {path}, which is PEM: its key is opened by ssl.key.password"
        )
    text = _text(data, path)
    return OwnCertificate(_certificates(text, path), _key(text, path), settings.key_password)


def trusted_certificates(settings: TlsSettings) -> str:
    """PEM. Raises BadStore."""
    if settings.truststore_certificates:
        if settings.truststore_location:
            raise BadStore("ssl.truststore.location and ssl.truststore.certificates are both given: leave out one")
        return _certificates(_lines(settings.truststore_certificates), "ssl.truststore.certificates")
    path = settings.truststore_location
    data = _read(path, "ssl.truststore.location")
    if data.startswith(_DER):
        from cryptography.hazmat.primitives.serialization import Encoding

        found = _open(data, path, settings.truststore_password, "ssl.truststore.password")
        certificates = [each.certificate for each in (found.cert, *found.additional_certs) if each]
        text = "".join(each.public_bytes(Encoding.PEM).decode() for each in certificates)
        return _certificates(text, path)
    if settings.truststore_password:
        raise BadStore(f"ssl.truststore.password does not belong to {path}, which is PEM")
    return _certificates(_text(data, path), path)


def _inline(settings: TlsSettings) -> OwnCertificate:
    if settings.keystore_location:
        raise BadStore("ssl.keystore.location and an inline key or certificate are both given: leave out one")
    if not (settings.keystore_key and settings.keystore_certificate_chain):
        raise BadStore("ssl.keystore.key and ssl.keystore.certificate.chain belong together: give both")
    if settings.keystore_password:
        raise BadStore("ssl.keystore.password does not belong to an inline key, which ssl.key.password opens")
    return OwnCertificate(
        _certificates(_lines(settings.keystore_certificate_chain), "ssl.keystore.certificate.chain"),
        _key(_lines(settings.keystore_key), "ssl.keystore.key"),
        settings.key_password,
    )


def _of_pkcs12(data: bytes, settings: TlsSettings) -> OwnCertificate:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    path = settings.keystore_location
    found = _open(data, path, settings.keystore_password, "ssl.keystore.password")
    if found.key is None or found.cert is None:
        raise BadStore(f"{path} holds no private key with its certificate")
    chain = [found.cert.certificate, *(each.certificate for each in found.additional_certs)]
    key = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return OwnCertificate("".join(each.public_bytes(Encoding.PEM).decode() for each in chain), key.decode(), "")


def _open(data: bytes, path: str, password: str, key: str) -> "PKCS12KeyAndCertificates":
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    try:
        return load_pkcs12(data, password.encode() if password else None)
    except (ValueError, TypeError):
        said = "does not open it" if password else "is not given"
        raise BadStore(f"{path} cannot be read as PKCS#12: {key} {said}, or the file is broken") from None


def _read(path: str, key: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise BadStore(f"{key}={path} cannot be read: {error.strerror}") from None
    if len(data) > _FILE_BYTES_MAX:
        raise BadStore(f"{key}={path} is too large for a store")
    if data.startswith(_JKS):
        raise BadStore(
            f"{key}={path} is in Java's own format, which is not read here; convert it: "
            f"keytool -importkeystore -srckeystore {path} -destkeystore {path}.p12 -deststoretype PKCS12"
        )
    return data


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadStore(f"{path} is neither PEM nor PKCS#12") from None


def _certificates(text: str, where: str) -> str:
    """Those alone: a key may stand between them."""
    found = _CERTIFICATE.findall(text)
    if not found:
        raise BadStore(f"{where} has no certificate in it that is PEM")
    return "".join(f"{each}\n" for each in found)


def _key(text: str, where: str) -> str:
    found = _KEY.search(text)
    if not found:
        raise BadStore(f"{where} has no private key in it that is PEM and PKCS#8 (openssl pkcs8 -topk8 makes it so)")
    return f"{found[0]}\n"


def _lines(inline: str) -> str:
    """In a file of properties line ends are written `\\n`; a text in one line with blanks is Kafka's, too."""
    text = inline.replace("\\n", "\n")
    if "\n" in text.strip():
        return text
    pieces = re.split(r"(-----(?:BEGIN|END) [A-Z ]+-----)|\s+", text)
    return "\n".join(piece for piece in pieces if piece)
