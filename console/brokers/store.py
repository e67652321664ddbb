"""What brokers said of themselves, in the database."""

from collections.abc import Mapping
from dataclasses import asdict

from console.brokers.latency import ApiLatency
from console.brokers.models import BrokerReport, Directory
from console.brokers.open_files import OpenFiles
from console.clusters.models import Broker
from console.gateway.broker_views import LogDirView, NotLoaded, Software


def keep_log_dirs(found: Mapping[int, tuple[LogDirView, ...]], at_ms: int) -> None:
    for broker_id, directories in found.items():
        rows = [asdict(_directory(each)) for each in directories]
        _keep(broker_id, log_dirs=rows, log_dirs_at_ms=at_ms)
        Broker.objects.filter(broker_id=broker_id).update(size_bytes=sum(each.size_bytes for each in directories))


def keep_software(found: Mapping[int, Software]) -> None:
    for broker_id, each in found.items():
        Broker.objects.filter(broker_id=broker_id).update(
            software=each.name, speaks=each.speaks, api_count=each.api_count
        )


def keep_open_files(found: Mapping[int, OpenFiles]) -> None:
    """Of a broker that is not among them nobody knows."""
    BrokerReport.objects.exclude(broker_id__in=list(found)).update(open_files=None, open_files_limit=None)
    for broker_id, files in found.items():
        BrokerReport.objects.filter(broker_id=broker_id).update(open_files=files.count, open_files_limit=files.limit)


def keep_certificates(found: Mapping[int, Mapping[str, int]]) -> None:
    """Of a broker that is not among them what it last said counts: it may be one that nobody can connect to."""
    for broker_id, ends in found.items():
        BrokerReport.objects.filter(broker_id=broker_id).update(certificates=dict(ends))


def keep_byte_rates(rates: Mapping[int, float]) -> None:
    """Of a broker that is not among them nobody knows."""
    Broker.objects.exclude(broker_id__in=list(rates)).update(bytes_per_second=None)
    for broker_id, rate in rates.items():
        Broker.objects.filter(broker_id=broker_id).update(bytes_per_second=rate)


def keep_latencies(broker_id: int, latencies: list[ApiLatency] | None, at_ms: int) -> None:
    """None: the broker does not tell."""
    rows = [asdict(each) for each in latencies or ()]
    _keep(broker_id, requests=rows, is_untold=latencies is None, requests_at_ms=at_ms)


def keep_not_loaded(found: Mapping[int, NotLoaded]) -> None:
    """Of a broker that is not among them nobody knows."""
    nothing = {"groups_not_loaded": 0, "transactions_not_loaded": 0}
    BrokerReport.objects.exclude(broker_id__in=list(found)).exclude(**nothing).update(**nothing)
    for broker_id, each in found.items():
        _keep(broker_id, groups_not_loaded=each.groups, transactions_not_loaded=each.transactions)


def forget_unknown() -> None:
    """Reports of brokers that the collector has forgotten."""
    BrokerReport.objects.exclude(broker_id__in=Broker.objects.values("broker_id")).delete()


def _keep(broker_id: int, **fields: object) -> None:
    """One statement for a broker that has a report already, as nearly every time."""
    if not BrokerReport.objects.filter(broker_id=broker_id).update(**fields):
        BrokerReport.objects.update_or_create(broker_id=broker_id, defaults=fields)


def _directory(view: LogDirView) -> Directory:
    return Directory(view.path, view.error, view.total_bytes, view.usable_bytes, view.size_bytes, len(view.replicas))
