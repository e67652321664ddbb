"""Client of the console's HTTP API; its token goes to that console only."""

import json
import ssl
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from ipaddress import ip_address
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

from broker.common.errors import StartupError

_TIMEOUT_S = 60.0
_ANSWER_BYTES_MAX = 64 * 1024 * 1024


class ConsoleRefused(Exception):
    """The console's own words, or why it was not reached."""


class _StayHere(HTTPRedirectHandler):
    """An address that leads elsewhere is not followed: the token would go along."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        return None


class ApiClient:
    """Raises StartupError for a URL the token must not be sent to in plain text."""

    def __init__(self, url: str, token: str, ca_file: str | None = None, timeout_s: float = _TIMEOUT_S):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise StartupError(f"{url} is no address of a console, as https://console.example/")
        if parts.scheme == "http" and not _is_here(parts.hostname):
            raise StartupError(f"{url} would send the token in plain text: use https")
        if not token.isascii() or not token.isprintable() or not token:
            raise StartupError("the file of the token holds none")
        self._base = f"{url.rstrip('/')}/api/v1/"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._opener, self._timeout_s = _opener(ca_file), timeout_s

    def get(self, path: str, query: Mapping[str, Any]) -> Any:
        """Raises Refused, as all of these."""
        return self._ask(Request(self._address(path, query), headers=self._headers))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        headers = self._headers | {"Content-Type": "application/json"}
        return self._ask(Request(self._address(path, {}), json.dumps(body).encode(), headers))

    def lines(self, path: str) -> Iterator[str]:
        """Yield the lines of a streamed response as they arrive."""
        with self._open(Request(self._address(path, {}), headers=self._headers)) as answer:
            try:
                for line in answer:
                    yield line.decode("utf-8", "replace").rstrip("\n")
            except (OSError, HTTPException) as error:
                raise ConsoleRefused(f"the console has gone: {error}") from None

    def _address(self, path: str, query: Mapping[str, Any]) -> str:
        query_string = f"?{urlencode(query, doseq=True)}" if query else ""
        return self._base + quote(path.strip("/"), safe="/") + query_string

    def _ask(self, request: Request) -> Any:
        with self._open(request) as answer:
            try:
                text = answer.read(_ANSWER_BYTES_MAX + 1)
                if len(text) > _ANSWER_BYTES_MAX:
                    raise ConsoleRefused("the answer is too long: take fewer rows")
                return json.loads(text)
            except (OSError, HTTPException, ValueError) as error:
                raise ConsoleRefused(f"the answer cannot be read: {error}") from None

    def _open(self, request: Request) -> Any:
        try:
            return self._opener.open(request, timeout=self._timeout_s)
        except HTTPError as error:
            raise ConsoleRefused(_detail_of(error)) from None
        except (URLError, OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise ConsoleRefused(f"{self._base} does not answer: {reason}") from None


def _opener(ca_file: str | None) -> OpenerDirector:
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise StartupError(f"{ca_file} cannot be used: {error}") from None
    return build_opener(_StayHere, HTTPSHandler(context=context))


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _detail_of(error: HTTPError) -> str:
    try:
        document = json.loads(error.read(1024 * 1024))
        return str(document["detail"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"
