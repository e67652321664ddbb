"""What is said of TLS for one listener, or for connections to other brokers. The names are those of Kafka's keys."""

from dataclasses import dataclass, field

VERSIONS = ("TLSv1.2", "TLSv1.3")


@dataclass(frozen=True)
class TlsSettings:
    """Empty is not set. What is inline, and passwords, are shown nowhere."""

    keystore_location: str = ""
    keystore_type: str = "JKS"
    keystore_password: str = field(default="", repr=False)
    keystore_key: str = field(default="", repr=False)
    keystore_certificate_chain: str = field(default="", repr=False)
    key_password: str = field(default="", repr=False)
    truststore_location: str = ""
    truststore_type: str = "JKS"
    truststore_password: str = field(default="", repr=False)
    truststore_certificates: str = field(default="", repr=False)
    client_auth: str = "none"
    protocol: str = "TLSv1.3"
    enabled_protocols: tuple[str, ...] = VERSIONS
    cipher_suites: tuple[str, ...] = ()
    endpoint_identification_algorithm: str = "https"
    principal_mapping_rules: str = "DEFAULT"
    allow_dn_changes: bool = False
    allow_san_changes: bool = False

    @property
    def has_own_certificate(self) -> bool:
        return bool(self.keystore_location or self.keystore_key or self.keystore_certificate_chain)

    @property
    def has_trusted_certificates(self) -> bool:
        return bool(self.truststore_location or self.truststore_certificates)

    @property
    def files(self) -> tuple[str, ...]:
        """The files to watch for changes."""
        return tuple(path for path in (self.keystore_location, self.truststore_location) if path)
