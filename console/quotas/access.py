"""The door to quotas: they name users and client ids, and with them topics and groups, whatever those are."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from console.access.rights import NOT_ALL_NAMES, Right, require, sees_all_names


def access_quotas(user: User, right: Right) -> None:
    """PermissionDenied without `right` on the cluster, and for who may not see every name."""
    require(user, right)
    if not sees_all_names(user):
        raise PermissionDenied(NOT_ALL_NAMES)
