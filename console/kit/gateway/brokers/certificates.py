"""Certificates that the cluster's own authority signs, and when those end that brokers show."""

import http.client
from collections.abc import Mapping, Sequence
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from broker.common.security_limits import CERTIFICATE_ENDS_SOON_DAYS

#: From so long before the end of a certificate on, a person is told.
ENDS_SOON_MS = CERTIFICATE_ENDS_SOON_DAYS * 86_400_000
_ENDS_IN = "barnabas_broker_certificate_ends_in_seconds"
_TIMEOUT_S = 2.0
_BYTES_MAX = 16 * 1024 * 1024


def make_broker_certificate(directory: Path, name: str, hosts: Sequence[str]) -> Path:
    """Return NAME.pem in `directory`, kept while it is good, made anew in its last month. Raises StartupError,
    OSError.
    """
    # Most of the console never needs it, and it takes a while.
    from broker.cli.servers.authority import Authority

    return Authority(directory).sign(name, hosts)[0]


def certificates_end_in_s(metrics_port: int) -> Mapping[str, float] | None:
    """Return listener → seconds, as the broker of this host with that metrics port says; None: it does not answer."""
    connection = http.client.HTTPConnection("127.0.0.1", metrics_port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", f"/metrics?name[]={_ENDS_IN}")
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            return None
        text = answer.read(_BYTES_MAX).decode()
        families = [family for family in text_string_to_metric_families(text) if family.name == _ENDS_IN]
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return {sample.labels["listener"]: sample.value for family in families for sample in family.samples}
