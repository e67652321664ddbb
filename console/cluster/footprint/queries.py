"""What the page of the console's own requests is drawn from."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from console.cluster.brokers.models import BrokerReport
from console.cluster.footprint.rows import BrokerRows, broker_rows, process_rows
from console.cluster.footprint.store import reports_of_processes
from console.cluster.records.read_ledger import LEDGER, limits_now
from console.kit.access.rights import Right, has_right
from console.state.clusters.models import Broker

#: People whose reading is listed one by one.
READERS_SHOWN = 20
#: Bytes per second below which nobody is called a reader.
_READS = 1.0


@dataclass(frozen=True, slots=True)
class TopicReader:
    name: str
    rate: float
    share: float | None


def brokers_asked() -> list[BrokerRows]:
    return broker_rows(reports_of_processes(), _addresses(), _per_second())


def footprint_facts(person: User) -> dict[str, object]:
    usage = reports_of_processes()
    brokers = broker_rows(usage, _addresses(), _per_second())
    return {"processes": process_rows(usage), "brokers": brokers, "reached": reached(brokers), **reading_facts(person)}


def reached(brokers: list[BrokerRows]) -> list[BrokerRows]:
    """Return the brokers where requests recently had to wait for their turn."""
    return [broker for broker in brokers if broker.slots.waited or broker.slots.refused]


def reading_facts(person: User) -> dict[str, object]:
    """Return who reads how much; only administrators see others by name."""
    total, rates = LEDGER.rates()
    limits = limits_now()
    reading = {name: rate for name, rate in rates.items() if rate >= _READS}
    shown = reading
    if not has_right(person, Right.ADMINISTER):
        shown = {name: rate for name, rate in reading.items() if name == str(person.pk)}
    names = _names(list(shown)[:READERS_SHOWN])
    limit = limits.per_person
    return {
        "read_limits": limits,
        "read_rate": total if total >= _READS else 0.0,
        "read_share": min(100.0, 100 * total / limits.total) if limits.total else None,
        "readers": [
            TopicReader(names[name], rate, 100 * rate / limit if limit else None)
            for name, rate in shown.items()
            if name in names
        ],
        "other_reader_count": len(reading) - len(names),
    }


def _names(keys: list[str]) -> dict[str, str]:
    """Return names of accounts that still exist."""
    users = User.objects.filter(pk__in=[int(key) for key in keys if key.isdigit()])
    return {str(key): name for key, name in users.values_list("pk", "username")}


def _addresses() -> dict[str, int]:
    return {f"{host}:{port}": broker for broker, host, port in Broker.objects.values_list("broker_id", "host", "port")}


def _per_second() -> dict[int, float]:
    """Return requests per second to each broker that reports them."""
    by_broker = BrokerReport.objects.filter(is_untold=False).values_list("broker_id", "requests")
    return {broker: sum(request.get("per_second") or 0.0 for request in requests) for broker, requests in by_broker}
