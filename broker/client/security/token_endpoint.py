"""A token for a client's credentials, by HTTP (RFC 6749 section 4.4). Imported only by who has such credentials."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from ssl import SSLContext
from typing import Any, NoReturn

from broker.client.security.errors import ClientConfigError, without_query
from broker.client.security.properties import BearerSettings

_TIMEOUT_S = 10.0
_ANSWER_BYTES_MAX = 1024 * 1024


def ask_for_token(settings: BearerSettings, context: SSLContext | None) -> dict[str, Any]:
    """Request a token.

    `context` is for an https endpoint; None: the system's certificates. Raises ClientConfigError.
    """
    form = {"grant_type": "client_credentials"} | ({"scope": settings.scope} if settings.scope else {})
    request = urllib.request.Request(settings.url, urllib.parse.urlencode(form).encode())
    request.add_header("Authorization", f"Basic {_basic(settings)}")
    request.add_header("Accept", "application/json")
    handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
    if context is not None:
        handlers.append(urllib.request.HTTPSHandler(context=context))
    return _answer(urllib.request.build_opener(*handlers), request, without_query(settings.url))


def _answer(opener: urllib.request.OpenerDirector, request: urllib.request.Request, where: str) -> dict[str, Any]:
    try:
        with opener.open(request, timeout=_TIMEOUT_S) as response:
            document = json.loads(response.read(_ANSWER_BYTES_MAX))
    except urllib.error.HTTPError as error:
        raise ClientConfigError(f"{where} gives no token: HTTP {error.code} {error.reason}") from None
    except (OSError, ValueError, HTTPException) as error:
        raise ClientConfigError(f"{where} gives no token: {getattr(error, 'reason', error)}") from None
    if not isinstance(document, dict):
        raise ClientConfigError(f"{where} gives no token: its answer is no JSON object")
    return document


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The client's credentials are for the endpoint that was named."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> NoReturn:
        raise urllib.error.HTTPError(req.full_url, code, "it redirects to another address", headers, fp)


def _basic(settings: BearerSettings) -> str:
    """Name and secret are encoded first, as RFC 6749 section 2.3.1 wants it."""
    secret = settings.client_secret.reveal() if settings.client_secret else ""
    pair = f"{urllib.parse.quote_plus(settings.client_id)}:{urllib.parse.quote_plus(secret)}"
    return base64.b64encode(pair.encode()).decode()
