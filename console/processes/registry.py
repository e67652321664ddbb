"""The managed processes: adding, changing and removing a row of any kind, and the rows of the embedded setup.

How to have a process managed, whatever its kind:

    process = add_process("stream", "clicks-by-page", {"directory": "/…/streams/clicks", "properties": {"job": …}})
    do_start(actor, process)                    # console/processes/actions.py: the wish, audited
    change_process(process, new_spec)           # files and arguments; takes effect at its next start
    do_remove(actor, process)                   # stop it if it runs, then forget it; its files stay

The fields of a spec stand in `console/processes/kinds/<kind>.py`, which checks them and raises SpecError with one
sentence for a person. From then on it is a row like all others: started, watched, started again after a death with a
back-off, shown with its four truths, its log bounded. Callers that change something for a person audit it themselves
(`console/kit/plans`).
"""

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Q

from console.kit.common.databases import cluster_atomic
from console.processes.embedded import CONNECT, COUNTER, MIRROR, REGISTRY, SECOND, embedded_processes
from console.processes.job_users import DEMO_JOB, PROBE
from console.processes.kinds import kind_named
from console.processes.kinds.spec import Spec, SpecError
from console.processes.models import ManagedProcess, WithdrawnProcess
from console.processes.setup import Setup
from console.processes.states import Desired, Observed, Request

#: Of one kind, in order of start.
POSITIONS_PER_KIND = 10_000


#: Under this name one process copied what connectors copy today.
OLD_SOURCES = "demo"
#: Rows of processes that are to be forgotten now.
HAS_LEFT = Q(
    is_leaving=True,
    request=Request.NONE,
    observed__in=[Observed.STOPPED, Observed.EXITED, Observed.FAILED],
    pid__isnull=True,
)


class NameTakenError(SpecError):
    """There is a process of this name already."""


def add_process(
    kind: str,
    name: str,
    spec: Spec,
    *,
    host: str = "",
    desired: Desired = Desired.STOPPED,
    is_from_setup: bool = False,
) -> ManagedProcess:
    """Make the row of a process and write its configuration files; it is started by `do_start`, or at the next `up` if
    `desired` is running. `name` is letters, digits, `-` and `_`. Without `host` it runs on this one.

    Raises SpecError if the spec is wrong, NameTakenError if the name is.
    """
    row = ManagedProcess(name=name, kind=kind, host=host or settings.HOST_NAME, desired=desired.value)
    row.is_from_setup = is_from_setup
    _apply(row, spec)
    try:
        with cluster_atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise NameTakenError(f"There is a process called {name} already.") from None
    WithdrawnProcess.objects.filter(name=name).delete()
    return row


def change_process(process: ManagedProcess, spec: Spec) -> None:
    """Give `process` another spec; one that runs goes on as it is until its next start. Raises SpecError."""
    _apply(process, spec)
    process.save(update_fields=["spec", "ports", "position"])


def forget_process(process: ManagedProcess) -> bool:
    """Remove the row of a process that was to go and has; its files stay. The setup does not make it again.

    False if that is not so any more: somebody wants it again. Then nothing is done.
    """
    with cluster_atomic():
        row = ManagedProcess.objects.select_for_update().filter(HAS_LEFT, pk=process.pk).first()
        if row is None:
            return False
        WithdrawnProcess.objects.get_or_create(name=row.name)
        row.delete()
    return True


def _apply(row: ManagedProcess, spec: Spec) -> None:
    """Apply a spec; files are written before the row: a row never means a missing file."""
    row.spec = spec
    row.ports = row.launch.ports
    kind = kind_named(row.kind)
    row.spec = kind.check(spec)
    kind.write_files(row.spec)
    row.position = kind.ORDER * POSITIONS_PER_KIND + row.spec.get("broker_id", 0)


def register(setup: Setup) -> list[ManagedProcess]:
    """Write files and rows of `setup`; all rows of this host in order of start. A new process is meant to run.

    Rows of the setup that it does not name any more are removed once they do not run; their data stays on disk. Rows an
    operator added stay.
    """
    wanted = embedded_processes(setup, settings.DATA_DIR)
    withdrawn = set(WithdrawnProcess.objects.values_list("name", flat=True))
    for kind, name, spec in wanted:
        if name not in withdrawn:
            _register(kind, name, spec)
    left_out = ManagedProcess.objects.filter(is_from_setup=True).exclude(name__in=[name for _, name, _ in wanted])
    left_out.filter(pid__isnull=True).delete()
    left_out.filter(name__in=(OLD_SOURCES, CONNECT, REGISTRY, DEMO_JOB, PROBE, MIRROR, SECOND, COUNTER)).update(
        desired=Desired.STOPPED, request=Request.STOP
    )
    return processes_of_host()


def processes_of_host() -> list[ManagedProcess]:
    """Return the processes in the order of start."""
    return list(ManagedProcess.objects.filter(host=settings.HOST_NAME))


def _register(kind: str, name: str, spec: Spec) -> None:
    row = ManagedProcess.objects.filter(name=name).first()
    if row is None:
        add_process(kind, name, spec, desired=Desired.RUNNING, is_from_setup=True)
        return
    row.kind, row.host = kind, settings.HOST_NAME
    row.save(update_fields=["kind", "host"])
    change_process(row, spec)
