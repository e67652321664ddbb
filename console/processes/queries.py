"""Reading managed processes for others."""

from console.processes.models import ManagedProcess, WithdrawnProcess


def removed_brokers() -> set[int]:
    """Brokers whose process an operator removed, or is removing, and did not add again."""
    withdrawn = WithdrawnProcess.objects.filter(name__startswith="broker-").values_list("name", flat=True)
    leaving = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER, is_leaving=True)
    names = [*withdrawn, *leaving.values_list("name", flat=True)]
    return {int(number) for name in names if (number := name.rpartition("-")[2]).isdecimal()}
