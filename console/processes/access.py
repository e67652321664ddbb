"""The one door through which a view gets a process."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from console.access.filters import within
from console.access.reach import Resource
from console.access.rights import Right, reach_of, require_on, require_somewhere
from console.processes.models import ManagedProcess


def access_processes(user) -> QuerySet[ManagedProcess]:
    """Every process in reach; PermissionDenied without the right to view."""
    require_somewhere(user, Resource.PROCESS, Right.VIEW)
    return ManagedProcess.objects.filter(within(reach_of(user), Resource.PROCESS, "name"))


def access_process(user, name: str, right: Right = Right.VIEW) -> ManagedProcess:
    """The process called `name`. PermissionDenied without `right`, Http404 if there is none."""
    require_on(user, Resource.PROCESS, name, right)
    return get_object_or_404(ManagedProcess, name=name)
