"""The door to changes that wait: one's own, and of others those whose objects one may see."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import CLUSTER, REFUSALS, Right, reach_of
from console.shell.changes.models import ABOUT_MAX, ProposedChange

_RESOURCES = {
    "topic": Resource.TOPIC,
    "consumer group": Resource.GROUP,
    "process": Resource.PROCESS,
    "connector": Resource.PROCESS,
    "stream": Resource.PROCESS,
}


def require_changes(user: User) -> None:
    """PermissionDenied for who may change nothing anywhere."""
    if Right.OPERATE not in reach_of(user).rights_anywhere:
        raise PermissionDenied(REFUSALS[Right.OPERATE])


def access_change(user: User, number: int) -> ProposedChange:
    """Return the change; PermissionDenied before Http404, so that numbers do not leak."""
    require_changes(user)
    change = ProposedChange.objects.filter(pk=number).first()
    if change is None or not may_see(user, change):
        raise Http404("There is no such change.")
    return change


def may_see(user: User, change: ProposedChange) -> bool:
    reach = reach_of(user)
    if change.actor_id == user.pk or not reach.is_limited_somewhere:
        return True
    resource = _RESOURCES.get(change.object_type)
    return resource is not None and len(change.about) < ABOUT_MAX and _reaches(reach, resource, change)


def may_consent(user: User, change: ProposedChange) -> bool:
    """Return whether the person may approve the change, by its names; the page itself is checked on approval."""
    if change.needs_person and change.actor_id == user.pk:
        return False
    reach, resource = reach_of(user), _RESOURCES.get(change.object_type)
    if resource is None:
        return Right.OPERATE in reach.rights_on(Resource.CLUSTER, CLUSTER) and may_see(user, change)
    return _reaches(reach, resource, change, Right.OPERATE) and may_see(user, change)


def _reaches(reach: Reach, resource: Resource, change: ProposedChange, right: Right = Right.VIEW) -> bool:
    return all(right in reach.rights_on(resource, str(name)) for name in change.about)
