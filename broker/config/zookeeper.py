"""How ZooKeeper is spoken to within TLS, in Kafka's keys: of a broker, and of a command's `--zk-tls-config-file`.

Kafka also wants `zookeeper.clientCnxnSocket`, the name of a Java class, where TLS is wanted; here it is accepted and
`zookeeper.ssl.client.enable` decides.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from broker.config.definition import (
    ConfigError,
    Key,
    Password,
    parse_boolean,
    parse_list,
    parse_password,
    read_values,
    setting,
    take_keys,
    without_effect,
)
from broker.config.tls_versions import TLS_VERSIONS, parse_newest_version, parse_versions

_STORE_TYPES = ("JKS", "PKCS12", "PEM")


class ZooKeeperTlsKeys:
    """Values by attribute, as in `BrokerSettings`."""

    zookeeper_ssl_client_enable = setting(parse_boolean, False, "Whether ZooKeeper is spoken to within TLS.")
    zookeeper_ssl_keystore_type = setting(str, "JKS", "Form of the keystore.", choices=_STORE_TYPES)
    zookeeper_ssl_keystore_location = setting(str, None, "File with the key and certificate shown to ZooKeeper.")
    zookeeper_ssl_keystore_password = setting(parse_password, None, "Opens the keystore, or the private key in it.")
    zookeeper_ssl_truststore_type = setting(str, "JKS", "Form of the truststore.", choices=_STORE_TYPES)
    zookeeper_ssl_truststore_location = setting(str, None, "File with the certificates of trusted authorities.")
    zookeeper_ssl_truststore_password = setting(parse_password, None, "Opens the truststore, if it is PKCS12.")
    zookeeper_ssl_protocol = setting(parse_newest_version, "TLSv1.3", "Newest version of TLS.")
    zookeeper_ssl_enabled_protocols = setting(
        parse_versions, TLS_VERSIONS, "Versions of TLS there may be; old ones are left out."
    )
    zookeeper_ssl_cipher_suites = setting(parse_list, (), "Ciphers there may be; default: those of the TLS library.")
    zookeeper_ssl_endpoint_identification_algorithm = setting(
        str.lower, "https", "Whether the name in ZooKeeper's certificate is checked; empty: no.", choices=("", "https")
    )
    zookeeper_ssl_crl_enable = setting(parse_boolean, False, "Lists of revoked certificates: not there, only false.")
    zookeeper_ssl_ocsp_enable = setting(parse_boolean, False, "Asking for revocation: not there, only false.")


KEYS: tuple[Key, ...] = (
    *take_keys(ZooKeeperTlsKeys),
    without_effect("zookeeper.clientCnxnSocket", str, None),
)


def zookeeper_tls(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the arguments of `TlsSettings`; None for plaintext. Raises ConfigError."""
    for key in ("zookeeper_ssl_crl_enable", "zookeeper_ssl_ocsp_enable"):
        if values[key]:
            raise ConfigError(f"{key.replace('_', '.')}=true cannot be heeded: nothing here asks what was revoked")
    if not values["zookeeper_ssl_client_enable"]:
        return None
    plain_values = {
        key.attribute: _plain(values[key.attribute]) for key in KEYS if key.name.startswith("zookeeper.ssl.")
    }
    options = {name.removeprefix("zookeeper_ssl_"): value for name, value in plain_values.items()}
    for name in ("client_enable", "crl_enable", "ocsp_enable"):
        del options[name]
    if _is_pem(options):  # of a file of PEM the one password there is opens the key
        options |= {"key_password": options["keystore_password"], "keystore_password": ""}
    return MappingProxyType(options)


def read_zookeeper_tls(texts: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Read a file's `zookeeper_tls` keys; other keys are ignored. Raises ConfigError."""
    names = {key.name for key in KEYS}
    return zookeeper_tls(read_values(KEYS, {name: text for name, text in texts.items() if name in names}))


def _is_pem(options: Mapping[str, Any]) -> bool:
    return bool(options["keystore_type"] == "PEM" or options["keystore_location"].endswith(".pem"))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Password) else "" if value is None else value
