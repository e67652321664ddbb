"""Trust and key stores as PEM, whatever they are written in: PEM, PKCS#12 (which Java writes by default), not JKS.

A file is taken for what its first bytes say. Java does as much: its type JKS reads PKCS#12.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import KeyStore, TrustStore
from broker.client.security.secret import Secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

_JKS_MAGIC = b"\xfe\xed\xfe\xed"
_DER_SEQUENCE = b"\x30"
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
#: A store of a thousand authorities is far smaller.
_FILE_BYTES_MAX = 16 * 1024 * 1024


class Identity(NamedTuple):
    """A certificate with those above it, and its key, both PEM; `password` if the key is encrypted."""

    chain: str
    key: Secret
    password: Secret | None


def trusted_certificates(store: TrustStore) -> str:
    """PEM. Raises ClientConfigError."""
    if store.certificates:
        return _checked_pem(store.certificates, "ssl.truststore.certificates")
    data = _read(store.location, "ssl.truststore.location", store.type)
    if not _is_pkcs12(data):
        return _checked_pem(_text(data, store.location), store.location)
    from cryptography.hazmat.primitives.serialization import Encoding

    found = _open_pkcs12(data, store.location, store.password, "ssl.truststore.password")
    certificates = [each.certificate for each in (found.cert, *found.additional_certs) if each is not None]
    if not certificates:
        raise ClientConfigError(f"{store.location} has no certificate in it")
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in certificates)


def identity(store: KeyStore) -> Identity:
    """Raises ClientConfigError."""
    if store.chain and store.key:
        return Identity(_checked_pem(store.chain, "ssl.keystore.certificate.chain"), store.key, store.key_password)
    data = _read(store.location, "ssl.keystore.location", store.type)
    if _is_pkcs12(data):
        return _of_pkcs12(data, store)
    chain = _text(data, store.location)
    key = (
        _text(_read(store.key_location, "ssl.key.location", "PEM"), store.key_location) if store.key_location else chain
    )
    if "PRIVATE KEY-----" not in key:
        raise ClientConfigError(f"{store.key_location or store.location} has no private key in it")
    return Identity(_checked_pem(chain, store.location), Secret(key), store.key_password)


def _of_pkcs12(data: bytes, store: KeyStore) -> Identity:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    found = _open_pkcs12(data, store.location, store.password, "ssl.keystore.password")
    if found.key is None or found.cert is None:
        raise ClientConfigError(f"{store.location} has no private key with its certificate in it")
    chain = [found.cert.certificate, *(each.certificate for each in found.additional_certs)]
    key = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Identity("".join(each.public_bytes(Encoding.PEM).decode() for each in chain), Secret(key.decode()), None)


def _open_pkcs12(data: bytes, path: str, password: Secret | None, name: str) -> "PKCS12KeyAndCertificates":
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    try:
        return load_pkcs12(data, password.reveal().encode() if password else None)
    except ValueError:
        said = f"does not open {path}" if password else f"is missing: {path} has one"
        raise ClientConfigError(f"{name} {said}, or that is no PKCS#12 file") from None


def _read(path: str, name: str, kind: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise ClientConfigError(f"{name}={path} cannot be read: {error.strerror}") from None
    if len(data) > _FILE_BYTES_MAX:
        raise ClientConfigError(f"{name}={path} is too large for a store")
    if data.startswith(_JKS_MAGIC):
        raise ClientConfigError(
            f"{name}={path} is in Java's own format; keytool -importkeystore -deststoretype PKCS12 makes one for here"
        )
    if kind == "PEM" and _is_pkcs12(data):
        raise ClientConfigError(f"{name}={path} is no PEM file; its type is PKCS12")
    return data


def _is_pkcs12(data: bytes) -> bool:
    return data.startswith(_DER_SEQUENCE)


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ClientConfigError(f"{path} is neither PEM nor PKCS#12") from None


def _checked_pem(text: str, where: str) -> str:
    """The certificates alone: a key may stand between them."""
    found = _CERTIFICATE.findall(text)
    if not found:
        raise ClientConfigError(f"{where} has no certificate in PEM in it")
    return "".join(f"{each}\n" for each in found)
