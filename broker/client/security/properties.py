"""Security in the words of Kafka's client properties, and of librdkafka's where those differ. No file is opened here.

Names that nobody knows are passed over, as Kafka's clients do; what would make a connection less safe than its
properties say is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from broker.client.security.errors import ClientConfigError
from broker.client.security.secret import Secret
from broker.security.sasl.jaas import LoginModule, parse_login_module

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SCRAM_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = ("PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER")
TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")

_STORE_TYPES = ("JKS", "PKCS12", "PEM")
_MODULE_OF = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
}
#: All that is read here.
HEEDED = frozenset(
    {
        "security.protocol", "ssl.cipher.suites", "ssl.crl.location", "enable.ssl.certificate.verification",
        "ssl.endpoint.identification.algorithm", "ssl.enabled.protocols", "ssl.truststore.type",
        "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.certificates", "ssl.ca.pem",
        "ssl.ca.location", "ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.password", "ssl.key.password",
        "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.certificate.pem", "ssl.key.pem",
        "ssl.certificate.location", "ssl.key.location", "sasl.mechanism", "sasl.mechanisms", "sasl.jaas.config",
        "sasl.username", "sasl.password", "sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret", "sasl.oauthbearer.scope", "sasl.oauthbearer.method",
    }
)  # fmt: skip
_PREFIXES = ("security.", "ssl.", "sasl.", "enable.ssl.", "enable.sasl.", "https.")
#: By the end of a name; the JAAS text holds a password, an inline key store the private key.
_SECRET_ENDINGS = (
    "password",
    "sasl.jaas.config",
    "ssl.keystore.key",
    "ssl.key.pem",
    "client.secret",
    "sasl.oauthbearer.config",
)


@dataclass(frozen=True)
class TrustStore:
    """Certificates of trusted authorities: a file, or PEM text."""

    type: str
    location: str = ""
    certificates: str = ""
    password: Secret | None = None


@dataclass(frozen=True)
class KeyStore:
    """The client's own certificate and key: one file, two files (PEM), or PEM text."""

    type: str
    location: str = ""
    key_location: str = ""
    chain: str = field(default="", repr=False)
    key: Secret | None = None
    password: Secret | None = None
    key_password: Secret | None = None


@dataclass(frozen=True)
class ClientTlsSettings:
    """TLS settings; without a trust store the system's certificates count."""

    truststore: TrustStore | None = None
    keystore: KeyStore | None = None
    checks_host: bool = True
    versions: tuple[str, ...] = TLS_VERSIONS


@dataclass(frozen=True)
class BearerSettings:
    """Where a token comes from: a file (`file:` URL), or an endpoint that gives one for a client's credentials."""

    url: str
    client_id: str = ""
    client_secret: Secret | None = None
    scope: str = ""
    extensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SaslSettings:
    mechanism: str
    username: str = ""
    password: Secret | None = None
    #: The user is the id of a delegation token, the password its HMAC (KIP-48).
    is_delegation_token: bool = False
    bearer: BearerSettings | None = None


@dataclass(frozen=True)
class ClientSecurity:
    """What `security.protocol` and all that belongs to it say."""

    protocol: str = "PLAINTEXT"
    tls: ClientTlsSettings | None = None
    sasl: SaslSettings | None = None


PLAINTEXT = ClientSecurity()


def is_of_security(name: str) -> bool:
    """Return whether a property of that name is meant for what is made here."""
    return name.startswith(_PREFIXES)


def is_secret(name: str) -> bool:
    """Return whether the value of a property of that name is for nobody's eyes."""
    return name.endswith(_SECRET_ENDINGS)


def read_security(properties: Mapping[str, str]) -> ClientSecurity:
    """Raises ClientConfigError with one sentence."""
    settings = {name: properties[name].strip() for name in HEEDED & properties.keys()}
    protocol = settings.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise ClientConfigError(f"security.protocol={protocol} must be one of {', '.join(PROTOCOLS)}")
    return ClientSecurity(
        protocol,
        _read_tls(settings) if protocol.endswith("SSL") else None,
        _read_sasl(settings) if protocol.startswith("SASL") else None,
    )


def _read_tls(settings: Mapping[str, str]) -> ClientTlsSettings:
    for name in ("ssl.cipher.suites", "ssl.crl.location"):
        if settings.get(name):
            raise ClientConfigError(f"{name} is not heeded here; leave it out to connect without it")
    if settings.get("enable.ssl.certificate.verification", "true").lower() != "true":
        raise ClientConfigError(
            "enable.ssl.certificate.verification=false would trust any certificate; name the brokers' CA in "
            "ssl.truststore.location instead"
        )
    return ClientTlsSettings(
        _read_truststore(settings), _read_keystore(settings), _checks_host(settings), _versions(settings)
    )


def _checks_host(settings: Mapping[str, str]) -> bool:
    algorithm = settings.get("ssl.endpoint.identification.algorithm", "https")
    if algorithm.lower() not in ("https", "", "none"):
        raise ClientConfigError(f"ssl.endpoint.identification.algorithm={algorithm} must be https, or empty for none")
    return algorithm.lower() == "https"


def _versions(settings: Mapping[str, str]) -> tuple[str, ...]:
    text = settings.get("ssl.enabled.protocols")
    if not text:
        return TLS_VERSIONS
    named = {part.strip() for part in text.split(",")}
    known = tuple(version for version in TLS_VERSIONS if version in named)
    if not known:
        raise ClientConfigError(
            f"ssl.enabled.protocols={text} has neither TLSv1.2 nor TLSv1.3; older ones are not safe"
        )
    return known


def _read_truststore(settings: Mapping[str, str]) -> TrustStore | None:
    prefix = "ssl.truststore."
    location = settings.get(prefix + "location", "")
    kind = _store_type(settings, prefix)
    if certificates := settings.get(prefix + "certificates") or settings.get("ssl.ca.pem", ""):
        _refuse_both(location, prefix + "location", prefix + "certificates")
        return TrustStore("PEM", certificates=_pem_lines(certificates))
    if location:
        return TrustStore(kind, location, password=_secret(settings, prefix + "password"))
    if authority := settings.get("ssl.ca.location", ""):
        return TrustStore("PEM", authority)
    return None


def _read_keystore(settings: Mapping[str, str]) -> KeyStore | None:
    prefix = "ssl.keystore."
    location = settings.get(prefix + "location", "")
    kind = _store_type(settings, prefix)
    key_password = _secret(settings, "ssl.key.password")
    if chain := settings.get(prefix + "certificate.chain") or settings.get("ssl.certificate.pem", ""):
        _refuse_both(location, prefix + "location", prefix + "certificate.chain")
        key = settings.get(prefix + "key") or settings.get("ssl.key.pem", "")
        if not key:
            raise ClientConfigError("ssl.keystore.certificate.chain is of no use without ssl.keystore.key")
        return KeyStore("PEM", chain=_pem_lines(chain), key=Secret(_pem_lines(key)), key_password=key_password)
    if location:
        password = _secret(settings, prefix + "password")
        if kind == "PEM" and password:
            raise ClientConfigError("ssl.keystore.password has no meaning for a PEM file; its key has ssl.key.password")
        return KeyStore(kind, location, password=password, key_password=key_password)
    return _of_two_files(settings, key_password)


def _of_two_files(settings: Mapping[str, str], key_password: Secret | None) -> KeyStore | None:
    chain, key = settings.get("ssl.certificate.location", ""), settings.get("ssl.key.location", "")
    if not chain and not key:
        return None
    if not chain or not key:
        raise ClientConfigError("ssl.certificate.location and ssl.key.location belong together; one of them is missing")
    return KeyStore("PEM", chain, key_location=key, key_password=key_password)


def _store_type(settings: Mapping[str, str], prefix: str) -> str:
    kind = settings.get(prefix + "type", "JKS").upper()
    if kind not in _STORE_TYPES:
        raise ClientConfigError(f"{prefix}type={kind} must be PEM or PKCS12")
    return kind


def _refuse_both(location: str, name: str, inline: str) -> None:
    if location:
        raise ClientConfigError(f"{name} and {inline} exclude each other")


def _pem_lines(text: str) -> str:
    r"""Return a PEM text on one line; its line ends are written as \n."""
    return text.replace("\\n", "\n")


def _secret(settings: Mapping[str, str], name: str) -> Secret | None:
    return Secret(settings[name]) if settings.get(name) else None


def _read_sasl(settings: Mapping[str, str]) -> SaslSettings:
    mechanism = (settings.get("sasl.mechanism") or settings.get("sasl.mechanisms") or "GSSAPI").upper()
    if mechanism not in MECHANISMS:
        spoken = ", ".join(MECHANISMS)
        default = ", which is Kafka's default," if mechanism == "GSSAPI" else ""
        raise ClientConfigError(f"sasl.mechanism={mechanism}{default} is not spoken here; set it to one of {spoken}")
    module = _login_module(settings["sasl.jaas.config"]) if settings.get("sasl.jaas.config") else None
    if module is not None and module.name != _MODULE_OF[mechanism]:
        raise ClientConfigError(
            f"sasl.jaas.config names {module.name}; with sasl.mechanism={mechanism} it is {_MODULE_OF[mechanism]}"
        )
    if mechanism == "OAUTHBEARER":
        return SaslSettings(mechanism, bearer=_read_bearer(settings, module.options if module else {}))
    return _read_password(settings, mechanism, module)


def _login_module(text: str) -> LoginModule:
    """Return the module under its class's own name, without the package. Raises ClientConfigError."""
    try:
        module = parse_login_module(text)
    except ValueError as error:
        raise ClientConfigError(f"sasl.jaas.config cannot be read: it {error}") from None
    return module._replace(name=module.name.rpartition(".")[2])


def _read_password(settings: Mapping[str, str], mechanism: str, module: LoginModule | None) -> SaslSettings:
    options = (
        module.options if module else {name: settings.get(f"sasl.{name}", "") for name in ("username", "password")}
    )
    username, password = options.get("username", ""), options.get("password", "")
    if not username or not password:
        where = "sasl.jaas.config" if module else "sasl.jaas.config, or sasl.username and sasl.password,"
        raise ClientConfigError(f'{where} must name username="…" and password="…" for sasl.mechanism={mechanism}')
    if "\0" in username + password:
        raise ClientConfigError("a user's name and password have no NUL in them")
    is_token = options.get("tokenauth", "false").lower() == "true"
    return SaslSettings(mechanism, username, Secret(password), is_token and mechanism in SCRAM_MECHANISMS)


def _read_bearer(settings: Mapping[str, str], options: Mapping[str, str]) -> BearerSettings:
    url = settings.get("sasl.oauthbearer.token.endpoint.url", "")
    if not url.startswith(("file://", "https://", "http://")):
        raise ClientConfigError(
            "sasl.oauthbearer.token.endpoint.url must say where tokens come from: file:///path, or https://… with "
            "clientId and clientSecret in sasl.jaas.config"
        )
    if "@" in url.split("/", 3)[2]:
        raise ClientConfigError(
            "sasl.oauthbearer.token.endpoint.url has a password in it; write it in sasl.jaas.config"
        )
    client_id = options.get("clientId") or settings.get("sasl.oauthbearer.client.id", "")
    client_secret = options.get("clientSecret") or settings.get("sasl.oauthbearer.client.secret", "")
    if not url.startswith("file://") and not (client_id and client_secret):
        raise ClientConfigError('sasl.jaas.config must name clientId="…" and clientSecret="…" for OAUTHBEARER')
    scope = options.get("scope") or settings.get("sasl.oauthbearer.scope", "")
    prefix = "extension_"
    extensions = {name.removeprefix(prefix): text for name, text in options.items() if name.startswith(prefix)}
    secret = Secret(client_secret) if client_secret else None
    return BearerSettings(url, client_id, secret, scope, tuple(sorted(extensions.items())))
