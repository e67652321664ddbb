"""Key stores and trust stores: PEM, in a file or in the configuration itself, and PKCS#12; all end as PEM in memory.

A file is taken for what its first bytes say, as Java does: its type JKS, the default, reads PKCS#12. Java's own format
is refused with the command that converts it.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from broker.common.errors import StartupError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

_JKS = b"\xfe\xed\xfe\xed"
_DER = b"\x30"
#: Up to the next line of dashes, so that a file of beginnings without ends is read once.
_BODY = "[^-]*+(?:-(?!----)[^-]*+)*+"
_CERTIFICATE = re.compile(f"-----BEGIN CERTIFICATE-----{_BODY}-----END CERTIFICATE-----")
_KEY = re.compile(rf"-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----{_BODY}-----END \1-----")
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


class StoreFile(NamedTuple):
    """`name` is that of the configuration, `ssl.keystore.location`; its password's ends in `.password`."""

    path: str
    name: str
    password: str

    @property
    def password_name(self) -> str:
        return self.name.removesuffix("location") + "password"

    def __repr__(self) -> str:
        return f"StoreFile({self.path})"


def own_certificate(store: StoreFile, key_password: str, key_path: str = "") -> OwnCertificate:
    """Read a certificate and its key, in the same file or in one of its own (librdkafka). Raises BadStore."""
    data = read(store.path, store.name)
    if is_pkcs12(data):
        return _of_pkcs12(data, store)
    if store.password:
        raise BadStore(
            f"{store.password_name} does not belong to {store.path}, which is PEM: its key is opened by "
            "ssl.key.password"
        )
    chain = _text(data, store.path)
    key = _text(read(key_path, "ssl.key.location"), key_path) if key_path else chain
    return OwnCertificate(certificates(chain, store.path), private_key(key, key_path or store.path), key_password)


def authorities(store: StoreFile) -> str:
    """Return the trusted certificates as PEM. Reads the file; raises BadStore."""
    data = read(store.path, store.name)
    if is_pkcs12(data):
        from cryptography.hazmat.primitives.serialization import Encoding

        pkcs12 = _open(data, store)
        trusted = [cert.certificate for cert in (pkcs12.cert, *pkcs12.additional_certs) if cert]
        return certificates(
            "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in trusted), store.path
        )
    if store.password:
        raise BadStore(f"{store.password_name} does not belong to {store.path}, which is PEM")
    return certificates(_text(data, store.path), store.path)


def certificates(text: str, where: str) -> str:
    """Return the certificates without keys between them. Raises BadStore if there is none."""
    blocks = _CERTIFICATE.findall(text)
    if not blocks:
        raise BadStore(f"{where} has no certificate in it that is PEM")
    return "".join(f"{value}\n" for value in blocks)


def private_key(text: str, where: str) -> str:
    match = _KEY.search(text)
    if not match:
        raise BadStore(f"{where} has no private key in it that is PEM")
    return f"{match[0]}\n"


def is_pkcs12(data: bytes) -> bool:
    return data.startswith(_DER)


def read(path: str, name: str) -> bytes:
    """Read the file. Raises BadStore, also if it is too large or in Java's own format."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise BadStore(f"{name}={path} cannot be read: {error.strerror}") from None
    if len(data) > _FILE_BYTES_MAX:
        raise BadStore(f"{name}={path} is too large for a store")
    if data.startswith(_JKS):
        raise BadStore(
            f"{name}={path} is in Java's own format, which is not read here; convert it: "
            f"keytool -importkeystore -srckeystore {path} -destkeystore {path}.p12 -deststoretype PKCS12"
        )
    return data


def _of_pkcs12(data: bytes, store: StoreFile) -> OwnCertificate:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pkcs12 = _open(data, store)
    if pkcs12.key is None or pkcs12.cert is None:
        raise BadStore(f"{store.path} holds no private key with its certificate")
    chain = [pkcs12.cert.certificate, *(cert.certificate for cert in pkcs12.additional_certs)]
    key = pkcs12.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return OwnCertificate(
        "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in chain), key.decode(), ""
    )


def _open(data: bytes, store: StoreFile) -> "PKCS12KeyAndCertificates":
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    try:
        return load_pkcs12(data, store.password.encode() if store.password else None)
    except (ValueError, TypeError):
        reason = "does not open it" if store.password else "is not given"
        raise BadStore(
            f"{store.path} cannot be read as PKCS#12: {store.password_name} {reason}, or the file is broken"
        ) from None


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadStore(f"{path} is neither PEM nor PKCS#12") from None
