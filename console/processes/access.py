"""The one door through which a view gets a process."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from console.access.rights import Right, require
from console.processes.models import ManagedProcess


def access_processes(user) -> QuerySet[ManagedProcess]:
    """Every process; PermissionDenied without the right to view."""
    require(user, Right.VIEW)
    return ManagedProcess.objects.all()


def access_process(user, name: str, right: Right = Right.VIEW) -> ManagedProcess:
    """The process called `name`. PermissionDenied without `right`, Http404 if there is none."""
    require(user, right)
    return get_object_or_404(ManagedProcess, name=name)
