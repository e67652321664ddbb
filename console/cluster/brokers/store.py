"""What brokers said of themselves, in the database."""

from collections.abc import Mapping
from dataclasses import asdict

from console.cluster.brokers.budgets import crowded_budgets
from console.cluster.brokers.latency import ApiLatency
from console.cluster.brokers.models import BrokerReport, Directory
from console.cluster.brokers.open_files import OpenFiles
from console.kit.common.kept_statements import kept_values, update_row
from console.kit.gateway.brokers.interface import BudgetUse, LogDirView, NotLoaded, Software, UncleanableLog
from console.state.clusters.models import Broker


def save_log_dirs(log_dirs: Mapping[int, tuple[LogDirView, ...]], at_ms: int) -> None:
    for broker_id, directories in log_dirs.items():
        rows = [asdict(_directory(directory)) for directory in directories]
        _keep(broker_id, log_dirs=rows, log_dirs_at_ms=at_ms)
        update_row(Broker, "broker_id", broker_id, size_bytes=sum(directory.size_bytes for directory in directories))


def save_software(software: Mapping[int, Software]) -> None:
    for broker_id, item in software.items():
        update_row(Broker, "broker_id", broker_id, software=item.name, speaks=item.speaks, api_count=item.api_count)


def save_open_files(open_files: Mapping[int, OpenFiles]) -> None:
    """Store the brokers' open files; brokers not among them are unknown."""
    for broker_id in _numbers(BrokerReport) - open_files.keys():
        update_row(BrokerReport, "broker_id", broker_id, open_files=None, open_files_limit=None)
    for broker_id, files in open_files.items():
        update_row(BrokerReport, "broker_id", broker_id, open_files=files.count, open_files_limit=files.limit)


def save_certificates(certificates: Mapping[int, Mapping[str, int]]) -> None:
    """Store the certificates; for brokers not among them the last value stays: they may be unreachable."""
    for broker_id, ends in certificates.items():
        update_row(BrokerReport, "broker_id", broker_id, certificates=dict(ends))


def save_byte_rates(rates: Mapping[int, float]) -> None:
    """Store the byte rates; brokers not among them are unknown."""
    for broker_id in _numbers(Broker) - rates.keys():
        update_row(Broker, "broker_id", broker_id, bytes_per_second=None)
    for broker_id, rate in rates.items():
        update_row(Broker, "broker_id", broker_id, bytes_per_second=rate)


def save_latencies(broker_id: int, latencies: list[ApiLatency] | None, at_ms: int) -> None:
    """Store the latencies; None if the broker does not report them."""
    rows = [asdict(latency) for latency in latencies or ()]
    _keep(broker_id, requests=rows, is_untold=latencies is None, requests_at_ms=at_ms)


def save_not_loaded(not_loaded: Mapping[int, NotLoaded]) -> None:
    """Store the coordinators not loaded; brokers not among them are unknown."""
    for broker_id in _numbers(BrokerReport) - not_loaded.keys():
        update_row(BrokerReport, "broker_id", broker_id, groups_not_loaded=0, transactions_not_loaded=0)
    for broker_id, item in not_loaded.items():
        _keep(broker_id, groups_not_loaded=item.groups, transactions_not_loaded=item.transactions)


def save_foreign_brokers(foreign_ids: Mapping[int, tuple[int, ...]]) -> None:
    """Store which brokers are foreign; for brokers not among them nothing is known."""
    for broker_id in _numbers(BrokerReport) - foreign_ids.keys():
        update_row(BrokerReport, "broker_id", broker_id, foreign_brokers=[])
    for broker_id, foreign in foreign_ids.items():
        _keep(broker_id, foreign_brokers=sorted(foreign))


def save_uncleanable(uncleanable: Mapping[int, tuple[UncleanableLog, ...]]) -> None:
    """Store uncleanable partitions; a broker that is missing is unknown."""
    for broker_id in _numbers(BrokerReport) - uncleanable.keys():
        update_row(BrokerReport, "broker_id", broker_id, uncleanable=[])
    for broker_id, logs in uncleanable.items():
        _keep(broker_id, uncleanable=[asdict(log) for log in logs])


def save_budget_uses(budget_uses: Mapping[int, tuple[BudgetUse, ...]], at_ms: int) -> None:
    """Keep the bounds of each broker that its clients crowd; none of a broker that is not among them."""
    for broker_id in _numbers(BrokerReport) - budget_uses.keys():
        update_row(BrokerReport, "broker_id", broker_id, crowded_budgets=[])
    for broker_id, uses in budget_uses.items():
        _keep(broker_id, crowded_budgets=[asdict(budget) for budget in crowded_budgets(uses, at_ms)])


def forget_unknown() -> None:
    """Forget reports of brokers that the collector has forgotten."""
    gone = _numbers(BrokerReport) - _numbers(Broker)
    if gone:
        BrokerReport.objects.filter(broker_id__in=gone).delete()


def _numbers(model: type[Broker] | type[BrokerReport]) -> set[int]:
    return {broker_id for (broker_id,) in kept_values(model.objects.values_list, "broker_id")}


def _keep(broker_id: int, **fields: object) -> None:
    """Store with one statement for a broker that has a report already, as nearly every time."""
    if not update_row(BrokerReport, "broker_id", broker_id, **fields):
        BrokerReport.objects.update_or_create(broker_id=broker_id, defaults=fields)


def _directory(view: LogDirView) -> Directory:
    volume = (view.total_bytes, view.usable_bytes)
    strays = (view.stray_count, view.stray_bytes)
    return Directory(view.path, view.error, *volume, view.size_bytes, len(view.replicas), view.is_full, *strays)
