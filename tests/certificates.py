"""A small certificate authority for tests: certificates of servers and clients, good ones and such as must be refused.

Keys are P-256, made in a tenth of a millisecond. Nothing is written unless a test asks for files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

LOCAL = ("localhost", "127.0.0.1", "::1")
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Credential:
    """A certificate with its key, and who has signed it."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    issuer: x509.Certificate

    @property
    def chain_pem(self) -> str:
        """The certificate, then its issuer's."""
        return pem(self.certificate) + pem(self.issuer)

    def key_pem(self, password: str = "") -> str:
        """PKCS#8, encrypted if there is a password."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(password)).decode()

    def pem(self, password: str = "") -> str:
        """What Kafka reads from a key store of type PEM: the key, then its chain."""
        return self.key_pem(password) + self.chain_pem

    def pkcs12(self, password: str) -> bytes:
        return pkcs12.serialize_key_and_certificates(
            b"test", self.key, self.certificate, [self.issuer], _encryption(password)
        )

    def write(self, directory: Path, name: str, password: str = "") -> tuple[str, str]:
        """`name`.crt with the chain and `name`.key, for clients that want paths: those of both."""
        chain, key = directory / f"{name}.crt", directory / f"{name}.key"
        chain.write_text(self.chain_pem)
        key.write_text(self.key_pem(password))
        key.chmod(0o600)
        return str(chain), str(key)


class Authority:
    """Signs what it is asked for; its own certificate is valid for years around now."""

    def __init__(self, common_name: str = "Barnabas tests"):
        self.key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])
        self.certificate = (
            _builder(name, name, self.key, -365 * DAY, 3650 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), critical=False)
            .sign(self.key, SHA256())
        )

    @property
    def pem(self) -> str:
        return pem(self.certificate)

    def write(self, directory: Path, name: str = "ca") -> str:
        """`name`.crt, for clients that want a path."""
        path = directory / f"{name}.crt"
        path.write_text(self.pem)
        return str(path)

    def pkcs12_trust(self, password: str) -> bytes:
        """A trust store: this certificate, no key."""
        return pkcs12.serialize_key_and_certificates(None, None, None, [self.certificate], _encryption(password))

    def server(
        self, *names: str, common_name: str = "broker", begins: timedelta = -DAY, ends: timedelta = 365 * DAY
    ) -> Credential:
        """For the hosts and addresses `names`, this machine's if none; valid from and until so long after now."""
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])
        return self._sign(subject, names or LOCAL, begins, ends)

    def client(
        self, name: str | x509.Name = "alice", *, begins: timedelta = -DAY, ends: timedelta = 365 * DAY
    ) -> Credential:
        """`name` is a DN as RFC 4514 writes it ("CN=alice,O=Acme"), a common name alone, or made of attributes."""
        if isinstance(name, str):
            name = x509.Name.from_rfc4514_string(name if "=" in name else f"CN={name}")
        return self._sign(name, (), begins, ends)

    def _sign(self, subject: x509.Name, names: Sequence[str], begins: timedelta, ends: timedelta) -> Credential:
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if names else [])]
        builder = (
            _builder(subject, self.certificate.subject, key, begins, ends)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if names:
            names_of_host = x509.SubjectAlternativeName([_general_name(name) for name in names])
            builder = builder.add_extension(names_of_host, critical=False)
        return Credential(builder.sign(self.key, SHA256()), key, self.certificate)


def pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def inline(text: str) -> str:
    """As a value in a file of properties: one line."""
    return text.strip().replace("\n", "\\n")


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, begins: timedelta, ends: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
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


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _encryption(password: str) -> KeySerializationEncryption:
    return BestAvailableEncryption(password.encode()) if password else NoEncryption()
