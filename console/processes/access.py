"""The one door through which a view gets a process."""

from collections.abc import Callable, Collection, Iterable

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import NOT_EVERYTHING, Right, has_right, reach_of, require_on, require_somewhere
from console.kit.common.hook_point import HookPoint
from console.processes.dependents import wiring_of
from console.processes.log_files import tail_lines
from console.processes.models import ManagedProcess, WithdrawnProcess

NO_RECORDS = "The log of a stream job quotes records: it is for users who may read records of all its topics."
MASKED = "Such a log quotes records, of which parts are hidden from you by rules."
BEYOND = "This concerns processes that your rights do not reach, so it is not yours to do."

#: Whether anything of records is hidden from a reach, in these topics, or without one in any there may be.
HIDES = HookPoint[Callable[[Reach, Collection[str]], bool]]("console.processes.access.HIDES")


def access_processes(user: User) -> QuerySet[ManagedProcess]:
    """Return every process in reach; PermissionDenied without the right to view."""
    require_somewhere(user, Resource.PROCESS, Right.VIEW)
    return ManagedProcess.objects.filter(within(reach_of(user), Resource.PROCESS, "name"))


def access_process(user: User, name: str, right: Right = Right.VIEW) -> ManagedProcess:
    """Return the process called `name`. PermissionDenied without `right`, Http404 if there is none."""
    require_on(user, Resource.PROCESS, name, right)
    process = ManagedProcess.objects.filter(name=name).first()
    if process is not None:
        return process
    if WithdrawnProcess.objects.filter(name=name).exists():
        raise Http404(f"{name} was removed here. Its files stay, and it can be added again.")
    raise Http404(f"There is no process {name}.")


def why_no_log(user: User, process: ManagedProcess) -> str:
    """Return why `user` may not read the log; empty if allowed.

    A log names whatever topics, groups and processes there are. That of a stream job names its own topics, which who
    sees the job may know; but what Spark complains of it quotes, and that is what is in records.
    """
    reach = reach_of(user)
    if process.kind == ManagedProcess.Kind.CONNECT and any(hides(reach, ()) for hides in HIDES):
        return MASKED  # of whatever connectors it has had
    if process.kind != ManagedProcess.Kind.STREAM:
        return NOT_EVERYTHING if reach.is_limited_somewhere else ""
    wiring = wiring_of(process)
    topics = wiring.reads | wiring.writes
    if any(hides(reach, topics) for hides in HIDES):
        return MASKED
    if topics and all(Right.RECORDS in reach.rights_on(Resource.TOPIC, name) for name in topics):
        return ""
    return NO_RECORDS if reach.is_limited(Resource.TOPIC, Right.RECORDS) else ""


def log_context(user: User, process: ManagedProcess) -> dict[str, object]:
    """Return what `processes/log.html` shows the user of a process's log, which is read on the process's host alone."""
    if refusal := why_no_log(user, process):
        return {"log_lines": [], "log_refusal": refusal}
    if process.host != settings.HOST_NAME:
        return {"log_lines": [], "log_elsewhere": True}
    return {"log_lines": tail_lines(process.log_path), "log_elsewhere": False}


def may_operate_all(user: User, names: Iterable[str]) -> bool:
    """Return True if `user` may operate each of these processes, whether it is there already or not."""
    reach = reach_of(user)
    return all(Right.OPERATE in reach.rights_on(Resource.PROCESS, name) for name in names)


def may_still_operate(actor: User, names: Iterable[str]) -> bool:
    """Return whether `actor` still may operate these, for an operation that runs in their name."""
    return actor is not None and may_operate_all(actor, names)


def why_not_all(user: User, names: Iterable[str]) -> str:
    """Return the tooltip of a disabled button for people who may not operate each process; empty if they may."""
    return BEYOND if has_right(user, Right.OPERATE) and not may_operate_all(user, names) else ""


def require_operating_all(user: User, names: Iterable[str]) -> None:
    """Require the right to operate each process, for starting or stopping several. PermissionDenied otherwise."""
    if not may_operate_all(user, names):
        raise PermissionDenied(BEYOND)
