"""Where a person wanted to go before the login: a page of this console, or the first one."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def next_address(request: HttpRequest, wanted: str) -> str:
    """Return `wanted` if it does not lead to another site."""
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else settings.LOGIN_REDIRECT_URL
