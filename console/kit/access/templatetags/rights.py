"""What a row of a list asks about the person it is drawn for."""

from typing import Protocol

from django import template
from django.contrib.auth.models import User

from console.kit.access.reach import Resource
from console.kit.access.rights import CLUSTER, Right, reach_of

register = template.Library()


@register.filter
def is_process_operable_by(name: str, user: User) -> bool:
    """Return whether `name` may be operated by `user`; pushed rows go only to people without limits."""
    return not user or Right.OPERATE in reach_of(user).rights_on(Resource.PROCESS, name)


@register.filter
def sees_process(user: User, name: str) -> bool:
    return Right.VIEW in reach_of(user).rights_on(Resource.PROCESS, name)


class HealthSubject(Protocol):
    """What a reason of health is about: a kind of object, and its name; empty for the cluster as a whole."""

    @property
    def about(self) -> str: ...

    @property
    def name(self) -> str: ...


@register.filter
def is_quiet_changeable_by(row: HealthSubject, user: User) -> bool:
    """Return whether `user` may change the acknowledgement or mute: by operating what the reason is about."""
    reach = reach_of(user)
    if not row.name and reach.is_limited_somewhere:
        return False
    return Right.OPERATE in reach.rights_on(Resource(row.about), row.name or CLUSTER)
