"""A client configuration as a form says it, in the words of Kafka's client properties."""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.client.security.connecting import secured
from broker.client.security.errors import ClientConfigError
from broker.client.security.librdkafka import librdkafka_settings
from broker.client.security.properties import PROTOCOLS, SCRAM_MECHANISMS, ClientSecurity, read_security
from broker.config.properties import parse_properties, properties_text
from console.kit.gateway.errors import UNUSABLE, ClientRefusedError

MECHANISMS = ("PLAIN", *SCRAM_MECHANISMS)
__all__ = ["MECHANISMS", "PROTOCOLS", "ClientLogin", "properties_of", "security_of"]
_MODULES = {"PLAIN": "plain.PlainLoginModule"} | dict.fromkeys(SCRAM_MECHANISMS, "scram.ScramLoginModule")


@dataclass(frozen=True, repr=False)
class ClientLogin:
    """How one comes in: PEM texts of the authorities, and of the console's own certificate and key."""

    protocol: str = "PLAINTEXT"
    mechanism: str = "SCRAM-SHA-256"
    username: str = ""
    password: str = ""
    authorities: str = ""
    certificate: str = ""
    key: str = ""


def properties_of(login: ClientLogin) -> str:
    """Return the text of a client properties file, which holds secrets; empty for a connection in plain text."""
    return properties_text({name: value.replace("\r", "") for name, value in _pairs(login).items()})


def security_of(text: str) -> ClientSecurity:
    """Return a client's security settings from the text, tested as far as possible without a broker.

    Raises ClientRefusedError.
    """
    try:
        security = read_security(parse_properties(text))
        librdkafka_settings(security)
        if security.tls is not None:
            secured(security)
    except ClientConfigError as error:
        raise ClientRefusedError(f"{UNUSABLE} {error}.") from None
    return security


def _pairs(login: ClientLogin) -> Mapping[str, str]:
    if login.protocol == "PLAINTEXT":
        return {}
    properties = {"security.protocol": login.protocol}
    if login.protocol.startswith("SASL"):
        named = f"username={_quoted(login.username)} password={_quoted(login.password)}"
        module = f"org.apache.kafka.common.security.{_MODULES[login.mechanism]} required {named};"
        properties |= {"sasl.mechanism": login.mechanism, "sasl.jaas.config": module}
    if login.protocol.endswith("SSL"):
        if login.authorities:
            properties |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": login.authorities}
        if login.certificate:
            properties |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.certificate.chain": login.certificate,
                "ssl.keystore.key": login.key,
            }
    return properties


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
