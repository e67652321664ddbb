"""The registry over Confluent's REST interface: every call bounded in time and bytes, and none while it is away."""

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

import httpx2

from console.cluster.schemas.configuration import PREFIX, RegistryAddress
from console.kit.common.bounded_http import client_options
from console.kit.common.current_cluster import bound, current_cluster, here
from console.kit.common.foreign_json import parse_foreign_json
from console.kit.common.outbound import AddressRefusedError, refusal_of
from console.kit.common.owned_files import FileError
from console.kit.gateway.connection.identity import refuse_of_other, remembered
from console.kit.gateway.errors import GatewayError, RefusedError

#: The names of 10,000 subjects at their longest are 3 MB.
ANSWER_BYTES_MAX = 8 * 1024 * 1024
#: One that did not answer is not asked by everybody who comes meanwhile.
AWAY_KEPT_S = 5.0
#: How long what it said of its cluster counts: somebody may move an address.
KNOWN_S = 10.0
_MESSAGE_LENGTH_MAX = 4_000
_KIND = "application/vnd.schemaregistry.v1+json"


class RegistryAwayError(GatewayError):
    """There is no registry, or none that answers; nothing is known of what was asked."""


class RegistryClient:
    """Any number of threads ask it at one time."""

    def __init__(
        self,
        address: RegistryAddress,
        transport: httpx2.BaseTransport | None = None,
        now_s: Callable[[], float] = time.monotonic,
        meant: Callable[[], str] = lambda: "",
    ):
        """`meant`: the id of the cluster that the registry is to be of; empty: it is not known."""
        self._address, self._now_s, self._meant = address, now_s, meant
        try:
            options: dict[str, Any] = dict(client_options(address.authority_file, ANSWER_BYTES_MAX, refusal_of))
        except (OSError, ssl.SSLError) as error:
            raise RegistryAwayError(f"{address.authority_file} cannot be used: {error}") from error
        self._client = httpx2.Client(**options | ({"transport": transport} if transport else {}))
        self._lock = threading.Lock()
        self._away_until_s, self._why_away = 0.0, ""
        #: The cluster that it has told, and until when that counts.
        self._cluster_id, self._cluster_id_until_s = "", 0.0

    def ask(self, method: str, *parts: str, query: Mapping[str, str] | None = None, body: object = None) -> Any:
        """Send a request, and return the response's JSON. `parts` of the path are quoted here.

        Raises RefusedError, whose code is Confluent's error_code, RegistryAwayError and OtherClusterError.
        """
        self._require_meant()
        return self._read(self._answer(method, *parts, query=query, body=body))

    def list_if_served(self, *parts: str) -> list[Any]:
        """Return the list at a path that not every kind of registry serves; empty where it does not.

        Raises RegistryAwayError and OtherClusterError.
        """
        self._require_meant()
        answer = self._answer("GET", *parts)
        try:
            document = parse_foreign_json(answer.content) if answer.status_code == 200 else None
        except (ValueError, RecursionError):
            document = None
        return document if isinstance(document, list) else []

    def _require_meant(self) -> None:
        """Raises RegistryAwayError while it is known not to answer, OtherClusterError."""
        with self._lock:
            if self._now_s() < self._away_until_s:
                raise RegistryAwayError(self._why_away)
        if meant := self._meant():
            refuse_of_other(f"The schema registry at {self._address.url}", meant, self._cluster())

    def _cluster(self) -> str:
        """Empty: it tells none, as not every kind does."""
        with self._lock:
            if self._now_s() < self._cluster_id_until_s:
                return self._cluster_id
        cluster_id = _cluster_in(self._answer("GET", "v1", "metadata", "id"))
        with self._lock:
            self._cluster_id, self._cluster_id_until_s = cluster_id, self._now_s() + KNOWN_S
        return cluster_id

    def _answer(
        self, method: str, *parts: str, query: Mapping[str, str] | None = None, body: object = None
    ) -> httpx2.Response:
        try:
            login = self._address.login
            request = self._client.build_request(
                method,
                f"{self._address.url}/{'/'.join(quoted(part) for part in parts)}",
                params=query,
                json=body,
                headers={"Accept": f"{_KIND}, application/json"} | ({} if body is None else {"Content-Type": _KIND}),
            )
            return self._client.send(request, auth=login or httpx2.USE_CLIENT_DEFAULT)
        except (httpx2.HTTPError, httpx2.InvalidURL, FileError, AddressRefusedError) as error:
            raise self._away(f"{type(error).__name__} {error!s:.200}".strip()) from error

    def _read(self, answer: httpx2.Response) -> Any:
        try:
            document = parse_foreign_json(answer.content)
        except (ValueError, RecursionError):
            document = None
        if answer.status_code == 200 and document is not None:
            return document
        fields = document if isinstance(document, dict) else {}
        message = str(fields.get("message") or "")[:_MESSAGE_LENGTH_MAX]
        if answer.status_code in (401, 403):
            message = f"The schema registry does not let the console in: {message or answer.status_code}. " + (
                f"Look at {PREFIX}USER and {PREFIX}PASSWORD_FILE."
            )
        elif not message:
            raise self._away(f"it answers with status {answer.status_code}, and nothing that can be read")
        raise RefusedError(str(fields.get("error_code") or answer.status_code)[:20], message)

    def _away(self, reason: str) -> RegistryAwayError:
        sentence = (
            f"The schema registry at {self._address.url} does not answer ({reason}). See that it runs, and that "
            f"{PREFIX}URL names it; the console tries again in a few seconds."
        )
        with self._lock:
            self._away_until_s, self._why_away = self._now_s() + AWAY_KEPT_S, sentence
        return RegistryAwayError(sentence)


def _cluster_in(answer: httpx2.Response) -> str:
    """Return the cluster id of `{"scope": {"clusters": {"kafka-cluster": …}}}`, as Confluent's registry tells it."""
    try:
        document = parse_foreign_json(answer.content) if answer.status_code == 200 else None
    except (ValueError, RecursionError):
        return ""
    for name in ("scope", "clusters", "kafka-cluster"):
        document = document.get(name) if isinstance(document, dict) else None
    return document if isinstance(document, str) else ""


def quoted(part: str) -> str:
    """Quote a path segment; `.` and `..` would be normalized away otherwise."""
    return quote(part, safe="") if part.strip(".") else part.replace(".", "%2E")


def registry_client() -> RegistryClient:
    """Return the client of the configured registry. Raises RegistryAwayError without one."""
    wanted = here.SCHEMA_REGISTRY
    if wanted is None:
        raise RegistryAwayError(f"No schema registry is configured: set {PREFIX}URL and start the console again.")
    return _made(wanted, current_cluster()) if isinstance(wanted, RegistryAddress) else wanted


@cache
def _made(address: RegistryAddress, _cluster: str) -> RegistryClient:
    return RegistryClient(address, meant=bound(remembered))
