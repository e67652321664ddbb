"""The door to quotas: they name users and client ids, and with them topics and groups, whatever those are."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from console.kit.access.rights import NOT_ALL_NAMES, REFUSALS, Right, has_right, require, sees_all_names
from console.kit.gateway.quotas.interface import QuotaEntity


def access_quotas(user: User, right: Right) -> None:
    """PermissionDenied without `right` on the cluster, and for who may not see every name."""
    require(user, right)
    if not sees_all_names(user):
        raise PermissionDenied(NOT_ALL_NAMES)


def refusal_to_change(user: User, entity: QuotaEntity) -> str:
    """Return why `user` may not change quotas of `entity`, empty if so: those of addresses can lock clients out."""
    right = Right.OPERATE if entity.ip is None else Right.ADMINISTER
    return "" if has_right(user, right) else REFUSALS[right]
