"""The door to what the probe measured: it is a process to rules, and tells of all brokers and of its own topic."""

from django.contrib.auth.models import User

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, require_on
from console.processes.job_users import PROBE


def access_probe(user: User) -> None:
    """PermissionDenied without the right to view the process `probe`."""
    require_on(user, Resource.PROCESS, PROBE, Right.VIEW)


def may_see_probe(reach: Reach) -> bool:
    return Right.VIEW in reach.rights_on(Resource.PROCESS, PROBE)
