"""The door to the pages of access lists: rules name topics and groups, so nothing of that kind may be hidden."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from console.kit.access.rights import NOT_ALL_NAMES, Right, require, sees_all_names


def require_acls(user: User, right: Right = Right.VIEW) -> None:
    """Raises PermissionDenied."""
    require(user, right)
    if not sees_all_names(user):
        raise PermissionDenied(NOT_ALL_NAMES)
