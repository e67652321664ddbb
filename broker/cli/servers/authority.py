"""A certificate authority of the cluster's own: one directory with what it has signed.

    ca.pem, ca.key        the authority; who trusts ca.pem trusts all it signs, so ca.key is for nobody else
    NAME.pem              a key and its chain, as `ssl.keystore.location` with `ssl.keystore.type=PEM` wants it

Keys are P-256 and unencrypted in files of mode 600: a password beside them would protect nothing.
"""

import contextlib
import os
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from broker.common.errors import StartupError

AUTHORITY_DAYS, CERTIFICATE_DAYS = 3_650, 398
#: A certificate that ends sooner is made anew when it is asked for.
RENEWED_BEFORE = timedelta(days=30)
#: Clocks of other hosts may be behind.
_BEGINS_BEFORE = timedelta(hours=1)


class Authority:
    """The certificate authority, made with its directory when there is none yet. Raises StartupError for files that are
    not its own, OSError.
    """

    def __init__(self, directory: Path):
        self._directory = directory
        self.path = directory / "ca.pem"
        key_path = directory / "ca.key"
        if not self.path.exists():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_authority(self.path, key_path)
        try:
            self._certificate = x509.load_pem_x509_certificate(self.path.read_bytes())
            key = load_pem_private_key(key_path.read_bytes(), None)
        except (ValueError, TypeError) as error:
            raise StartupError(f"{directory} holds no certificate authority of ours: {error}") from error
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != self._certificate.public_key():
            raise StartupError(f"{key_path} is not the key of {self.path}")
        self._key = key

    def sign(self, name: str, hosts: Sequence[str] = (), *, is_renewed: bool = False) -> tuple[Path, bool]:
        """Return the file of `name` (a common name), and whether it was made now: it is when there is none, when it
        ends soon, names other hosts, is of another authority, or `is_renewed`.

        With `hosts` (names, addresses) a server's and a client's certificate, else a client's.
        """
        path = self._directory / f"{name}.pem"
        if not is_renewed and self._is_sound(path, hosts):
            return path, False
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(name, hosts, key)
        _write_secret(path, _key_pem(key) + _pem(certificate) + _pem(self._certificate))
        return path, True

    def _is_sound(self, path: Path, hosts: Sequence[str]) -> bool:
        try:
            known = x509.load_pem_x509_certificate(path.read_bytes())
            known.verify_directly_issued_by(self._certificate)
        except (OSError, ValueError, TypeError, InvalidSignature):
            return False
        is_lasting = known.not_valid_after_utc - datetime.now(UTC) > RENEWED_BEFORE
        return is_lasting and _hosts(known) == set(map(_general_name, hosts))

    def _signed(self, name: str, hosts: Sequence[str], key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if hosts else [])]
        builder = (
            _begun(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]), CERTIFICATE_DAYS, key)
            .issuer_name(self._certificate.subject)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName(map(_general_name, hosts)), critical=False)
        return builder.sign(self._key, SHA256())


def _make_authority(path: Path, key_path: Path) -> None:
    """Make the authority; its certificate is written last, so that it exists only with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"Barnabas {secrets.token_hex(4)}")])
    certificate = (
        _begun(name, AUTHORITY_DAYS, key)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
    _write_secret(key_path, _key_pem(key))
    _write(path, _pem(certificate), 0o644)


def _begun(subject: x509.Name, days: int, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEGINS_BEFORE)
        .not_valid_after(now + timedelta(days=days))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _hosts(certificate: x509.Certificate) -> set[x509.GeneralName]:
    try:
        return set(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return set()


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write_secret(path: Path, content: bytes) -> None:
    _write(path, content, 0o600)


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write the file whole or not at all: a broker may be reading the one it replaces."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
