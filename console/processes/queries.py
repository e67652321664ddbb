"""Reading managed processes for others."""

from django.db.models import QuerySet

from console.kit.common.kept_statements import kept_rows
from console.processes.models import ManagedProcess, WithdrawnProcess


def removed_brokers() -> set[int]:
    """Return brokers whose process an operator removed, or is removing, and did not add again."""
    withdrawn = WithdrawnProcess.objects.filter(name__startswith="broker-").values_list("name", flat=True)
    leaving = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER, is_leaving=True)
    names = [*withdrawn, *leaving.values_list("name", flat=True)]
    return {int(number) for name in names if (number := name.rpartition("-")[2]).isdecimal()}


def running_brokers(host: str) -> list[ManagedProcess]:
    """Return the brokers of `host` that have a process."""
    return kept_rows(_running_brokers, host)


def _running_brokers(host: str) -> QuerySet[ManagedProcess]:
    return ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER, host=host, pid__isnull=False)
