"""Rows of clients in the database: each look replaces those of the one before."""

from collections.abc import Sequence

from console.kit.common.databases import cluster_atomic
from console.state.client_applications.models import ClientLook, ClientTraffic
from console.state.client_applications.rows import ROWS_MAX, TrafficRow


def ensure_look() -> ClientLook:
    return ClientLook.objects.get_or_create(pk=1)[0]


def keep(rows: Sequence[TrafficRow], at_ms: int, *, is_told: bool, silent: list[int]) -> None:
    left_out = max(0, len(rows) - ROWS_MAX)
    with cluster_atomic():
        ensure_look()
        ClientTraffic.objects.all().delete()
        ClientTraffic.objects.bulk_create(_model(row) for row in rows[:ROWS_MAX])
        ClientLook.objects.update(at_ms=at_ms, is_told=is_told, silent=silent, left_out=left_out, error="")


def save_error(error: str) -> None:
    """Note why nothing new is known; what was known stays, and grows old."""
    ensure_look()
    ClientLook.objects.update(error=error)


def _model(row: TrafficRow) -> ClientTraffic:
    client = row.client
    return ClientTraffic(
        principal=client.principal,
        client_id=client.client_id,
        host=client.host,
        software_name=client.software_name,
        software_version=client.software_version,
        topic=row.topic,
        is_produce=row.is_produce,
        records_per_second=row.records_per_second,
        bytes_per_second=row.bytes_per_second,
        used_at_ms=row.used_at_ms,
        brokers=row.brokers,
    )
