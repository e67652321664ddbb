"""What makes a broker of this host a secured one (`make up SECURE=1`): TLS under an authority of the cluster's own,
SCRAM for everybody who is no member of the cluster, and access lists that refuse what nobody has allowed.
"""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from console.kit.common.file_lock import exclusive
from console.kit.gateway.brokers.certificates import make_broker_certificate

#: As whom the console and the stream jobs that persons add log in, and the first person does.
FIRST_USER = "console"
LISTENER = "SASL_SSL"
_AUTHORITY, _CERTIFICATE = "ca.pem", "broker"


def authority_file() -> Path:
    return settings.TLS_DIR / _AUTHORITY


def make_certificates() -> None:
    """Create the authority and this host's certificate, unless valid ones exist. Raises OSError."""
    hosts = ["localhost", "127.0.0.1", "::1", settings.HOST_NAME]
    with exclusive(settings.TLS_DIR / ".lock"):
        make_broker_certificate(settings.TLS_DIR, _CERTIFICATE, list(dict.fromkeys(hosts)))


def secured_properties(port: int) -> dict[str, str]:
    """Return the properties of a secured broker, which are removed when it is unsecured."""
    return {
        "listeners": f"{LISTENER}://127.0.0.1:{port}",
        "inter.broker.listener.name": LISTENER,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(settings.TLS_DIR / f"{_CERTIFICATE}.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority_file()),
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    }


#: What a broker's file begins with; the operator's afterwards, and of no effect on a broker that is not secured.
FIRST_PROPERTIES = {
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
    "super.users": f"User:{FIRST_USER}",
}


def properties_to_remove(present: Mapping[str, str | None]) -> set[str]:
    """Return which of the present properties we wrote for a secured broker."""
    ours = secured_properties(0)
    if present.get("ssl.keystore.location") != ours["ssl.keystore.location"]:
        return set()
    return {key for key, value in ours.items() if key != "listeners" and present.get(key) == value}
