"""The door to Kafka's users: users, quotas and rules beside them name topics and groups, whatever those are."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from console.cluster.credentials.models import ScramUser
from console.kit.access.rights import NOT_ALL_NAMES, Right, require, sees_all_names


def access_credentials(user: User, right: Right) -> None:
    """PermissionDenied without `right` on the cluster, and for who may not see every name."""
    require(user, right)
    if not sees_all_names(user):
        raise PermissionDenied(NOT_ALL_NAMES)


def access_scram_user(user: User, number: int, right: Right) -> ScramUser:
    """Return the last known user, after checking the right."""
    access_credentials(user, right)
    scram_user = ScramUser.objects.filter(pk=number).first()
    if scram_user is None:
        raise Http404("There is no such user any more.")
    return scram_user
