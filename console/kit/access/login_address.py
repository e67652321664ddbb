"""Where a request comes from: what failed logins are counted by."""

from django.http import HttpRequest

from console.kit.access.models import ADDRESS_LENGTH_MAX


def address_of(request: HttpRequest) -> str:
    return request.META.get("REMOTE_ADDR", "")[:ADDRESS_LENGTH_MAX]
