"""When the certificates end that the brokers on this host show, as their metrics say.

A broker whose certificate has ended takes no client and no other broker. Brokers elsewhere tell it by their metrics
(`barnabas_broker_certificate_ends_in_seconds`) and in their logs.
"""

from collections.abc import Mapping

from django.conf import settings

from console.kit.common.clock import now_ms
from console.kit.gateway.brokers.certificates import ENDS_SOON_MS, certificates_end_in_s
from console.processes.queries import running_brokers


def certificates_here() -> dict[int, Mapping[str, int]]:
    """Return by broker: listener → its certificate's expiry in ms since the epoch.

    Brokers that do not answer are missing.
    """
    rows = running_brokers(settings.HOST_NAME)
    ports = {row.spec.get("broker_id"): row.spec.get("metrics_port") for row in rows}
    at_ms = now_ms()
    ends_in_s = {broker_id: certificates_end_in_s(port) for broker_id, port in ports.items() if port}
    return {
        broker_id: {listener: at_ms + round(left_s * 1_000) for listener, left_s in ends.items()}
        for broker_id, ends in ends_in_s.items()
        if broker_id is not None and ends is not None
    }


def ends_soon(ends_at_ms: int, at_ms: int) -> bool:
    return ends_at_ms - at_ms < ENDS_SOON_MS
