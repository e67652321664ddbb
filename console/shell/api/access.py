"""Who asks the API: a program with a token, as the person it belongs to, for what the token opens."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone

from console.kit.access.api_tokens import token_of
from console.kit.access.clusters import may_look
from console.kit.access.login_address import address_of
from console.kit.access.models import ApiToken
from console.kit.audit.refusals import count_quietly
from console.kit.common.user_request import UserRequest
from console.shell.web.fresh_pages import await_look

#: Longer than any there is.
_LENGTH_MAX = 200


class TokenRequest(UserRequest):
    """A request that a token has admitted, for annotations only."""

    auth: ApiToken


class NoToken(Exception):
    """Nobody asks, or with a token that opens nothing any more."""

    def __str__(self) -> str:
        return "This needs a token that is valid: Authorization: Bearer barnabas_…"


def admitted(request: HttpRequest, scope: str = "") -> ApiToken:
    """Return the token, whose person is `request.user` from here on; cookies count for nothing.

    Raises NoToken, and PermissionDenied where it does not open `scope`; without one any token does.
    """
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    request.user = AnonymousUser()
    if kind.lower() != "bearer" or not 0 < len(secret) <= _LENGTH_MAX:
        raise NoToken
    token = token_of(secret.strip(), timezone.now())
    if token is None:
        count_quietly(AnonymousUser(), "fail to use a token", "token", "no such token", address_of(request))
        raise NoToken
    request.user = token.user
    if settings.CLUSTERS and not may_look(token.user):
        raise PermissionDenied("There is no such cluster, or this token does not open it.")
    if scope and scope not in token.scopes:
        raise PermissionDenied(f"The token {token.name} does not open this: it needs the scope {scope}.")
    await_look()
    return token
