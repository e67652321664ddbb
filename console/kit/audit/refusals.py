"""Who was refused what, for the audit. Counting it must never be why the answer fails: it is the answer."""

import logging

from django.contrib.auth.models import AnonymousUser, User
from django.db import DatabaseError
from django.http import HttpRequest

from console.kit.access.login_address import address_of
from console.kit.access.rights import place_of
from console.kit.audit.tally import count_event

logger = logging.getLogger(__name__)
REFUSED = "be refused"


def count_refusal(request: HttpRequest) -> None:
    """Count a refused request by the object, or by the kind of page."""
    route = request.resolver_match.route if request.resolver_match else "unknown"
    resource, name = place_of(request.user)
    object_type = str(resource)
    if name is None or not request.user.is_authenticated:
        object_type, name = "page", f"/{route}"
    count_quietly(request.user, REFUSED, object_type, name, address_of(request))


def count_quietly(
    actor: User | AnonymousUser, action: str, object_type: str, object_name: str, place: str = ""
) -> None:
    try:
        count_event(actor, action, object_type, object_name, place)
    except DatabaseError:
        logger.exception("%s was not counted: %s %s", action, object_type, object_name)
