"""Who may look at healing, and decide: it is about whatever topics there are."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from console.automation.healing.models import Proposal
from console.kit.access.rights import NOT_ALL_NAMES, Right, require, require_all_topics, sees_all_names


def access_healing(user: User, right: Right = Right.VIEW) -> None:
    """PermissionDenied without `right` on everything."""
    require(user, right)
    if not sees_all_names(user):
        raise PermissionDenied(NOT_ALL_NAMES)
    if right is not Right.VIEW:
        require_all_topics(user, Right.OPERATE)


def access_proposal(user: User, number: int, right: Right = Right.VIEW) -> Proposal:
    access_healing(user, right)
    proposal = Proposal.objects.filter(pk=number).first()
    if proposal is None:
        raise Http404("There is no such proposal, or it is not kept any more.")
    return proposal
