"""Kafka Connect's REST as functions: what is asked of whichever worker answers, and why it cannot be known.

What is only read is asked of the next worker when one does not answer; a change is not, once it was sent: nobody knows
whether it was made.
"""

import json
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from console.ecosystem.connectors import answers
from console.ecosystem.connectors.answers import (
    ConnectorView,
    KeyView,
    Listing,
    OffsetView,
    PluginView,
    UnexpectedAnswerError,
    Validation,
    WorkerView,
)
from console.ecosystem.connectors.asking import (
    NoAnswerError,
    NotAskedError,
    WorkerRequest,
    WorkerResponse,
    ask,
    ask_all,
)
from console.ecosystem.connectors.configuration import ConnectSettings
from console.kit.common.current_cluster import bound, current_cluster, here
from console.kit.common.owned_files import FileError
from console.kit.gateway.connection.identity import refuse_of_other, remembered
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, OtherClusterError, RefusedError

NOT_CONFIGURED = "No worker of Kafka Connect is configured (BARNABAS_CONNECT)."
UNKNOWN_OUTCOME = "Whether it was done is not known: look again in a moment."

#: For the few bytes by which a worker says that it is there.
_GREETING_S = 3.0
#: How long what it said of its cluster counts: somebody may move an address.
_KNOWN_S = 10.0

T = TypeVar("T")


class UnknownOutcomeError(GatewayError):
    """The request was sent, but its outcome is unknown."""


class ConnectClient:
    """Thread-safe. Every method raises GatewayError."""

    def __init__(
        self,
        connect: ConnectSettings,
        meant: Callable[[], str] = lambda: "",
        now_s: Callable[[], float] = time.monotonic,
    ):
        """`meant`: the id of the cluster that the workers are to be of; empty: it is not known."""
        self._connect, self._meant, self._now_s = connect, meant, now_s
        self._answered_last = ""
        #: Of each address the cluster it has told, and until when that counts.
        self._cluster_ids: dict[str, tuple[str, float]] = {}

    @property
    def is_configured(self) -> bool:
        return bool(self._connect.addresses)

    @property
    def address(self) -> str:
        """The worker's address for command lines; empty while no worker is configured."""
        return self._addresses()[0] if self.is_configured else ""

    def workers(self) -> dict[str, WorkerView | str]:
        """Return each address's worker or error; all are asked at once."""
        addresses = self._connect.addresses
        questions = [self._question("GET", address, "/") for address in addresses]
        responses = ask_all(questions, self._connect.authority_file, _GREETING_S)
        return {
            address: self._own(address, _worker(answer)) for address, answer in zip(addresses, responses, strict=True)
        }

    def _own(self, address: str, worker: WorkerView | str) -> WorkerView | str:
        """Return the worker, or why it is not of this cluster."""
        if isinstance(worker, WorkerView):
            try:
                refuse_of_other(f"The worker of Kafka Connect at {address}", self._meant(), worker.kafka_cluster_id)
            except OtherClusterError as error:
                return str(error)
            self._remember(address, worker.kafka_cluster_id)
        return worker

    def connectors(self) -> Listing:
        """Return the connectors by two requests: Connect's combined one leaves out those without a status."""
        infos = self._read("/connectors?expand=info", lambda document: document)
        statuses = self._read("/connectors?expand=status", lambda document: document)
        return _honest(lambda: answers.listing(infos, statuses))

    def connector(self, name: str) -> ConnectorView:
        """Return the connector with its present configuration. RefusedError NOT_FOUND if there is none."""
        info = self._read(_path(name), lambda document: document)
        try:
            status = self._read(_path(name, "/status"), lambda document: document)
        except RefusedError as error:
            if error.code != "NOT_FOUND":
                raise
            status = {}
        return _honest(lambda: answers.connector(name, {"info": info, "status": status}))

    def offsets(self, name: str) -> tuple[OffsetView, ...]:
        return self._read(_path(name, "/offsets"), answers.offsets)

    def topics(self, name: str) -> tuple[str, ...]:
        return self._read(_path(name, "/topics"), lambda document: answers.topics(name, document))

    def plugins(self) -> tuple[PluginView, ...]:
        return self._read("/connector-plugins", answers.plugins)

    def declaration(self, plugin: str) -> tuple[KeyView, ...]:
        return self._read(f"/connector-plugins/{quote(plugin, safe='')}/config", answers.keys)

    def validate(self, plugin: str, config: Mapping[str, str]) -> Validation:
        """Validate a configuration. Changes nothing, so it is asked of the next worker too."""
        path = f"/connector-plugins/{quote(plugin.rpartition('.')[2], safe='')}/config/validate"
        return self._read(path, answers.validation, "PUT", config)

    def create(self, name: str, config: Mapping[str, str], initial_state: str = "") -> None:
        """Create a connector, which runs at once unless `initial_state` (PAUSED, STOPPED: KIP-980) is given."""
        query = {"initial_state": initial_state} if initial_state else {}
        self._change("POST", "/connectors", {"name": name, "config": dict(config)} | query)

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        """Replace the configuration: keys that are missing are removed."""
        self._change("PUT", _path(name, "/config"), dict(config))

    def delete(self, name: str) -> None:
        self._change("DELETE", _path(name))

    def pause(self, name: str) -> None:
        self._change("PUT", _path(name, "/pause"))

    def resume(self, name: str) -> None:
        self._change("PUT", _path(name, "/resume"))

    def stop(self, name: str) -> None:
        self._change("PUT", _path(name, "/stop"))

    def restart(self, name: str, *, includes_tasks: bool, only_failed: bool) -> None:
        flags = {"includeTasks": str(includes_tasks).lower(), "onlyFailed": str(only_failed).lower()}
        self._change("POST", f"{_path(name, '/restart')}?{urlencode(flags)}")

    def restart_task(self, name: str, task: int) -> None:
        self._change("POST", _path(name, f"/tasks/{task}/restart"))

    def alter_offsets(self, name: str, wanted: list[OffsetView]) -> str:
        """Alter offsets, and return Connect's message."""
        body = {"offsets": [{"partition": partition.partition, "offset": partition.offset} for partition in wanted]}
        return answers.message(self._change("PATCH", _path(name, "/offsets"), body))

    def reset_offsets(self, name: str) -> str:
        return answers.message(self._change("DELETE", _path(name, "/offsets")))

    def _read(self, path: str, read: Callable[[Any], T], method: str = "GET", body: object = None) -> T:
        problems: list[str] = []
        addresses = self._addresses()
        for address in addresses:
            try:
                answer = self._request(method, address, path, body)
            except (NotAskedError, NoAnswerError) as error:
                problems.append(f"{address}: {error}")
                continue
            if answer.status < 500 or address == addresses[-1]:
                return _checked(answer, read)
            problems.append(f"{address}: {_refusal(answer)}")
        raise _silent(problems)

    def _change(self, method: str, path: str, body: object = None) -> Any:
        problems: list[str] = []
        for address in self._addresses():
            try:
                answer = self._request(method, address, path, body)
            except NotAskedError as error:
                problems.append(f"{address}: {error}")
            except NoAnswerError as error:
                raise UnknownOutcomeError(f"{address}: {error}. {UNKNOWN_OUTCOME}") from None
            else:
                return _checked(answer, lambda document: document)
        raise _silent(problems)

    def _require_own(self, address: str) -> None:
        """Raises OtherClusterError, and NotAskedError of a worker that does not say whose it is."""
        meant = self._meant()
        if not meant:
            return
        cluster, until_s = self._cluster_ids.get(address, ("", 0.0))
        if self._now_s() >= until_s:
            cluster = self._cluster_told(address) or cluster
            if not cluster:
                raise NotAskedError("it does not say which cluster it works for")
            self._remember(address, cluster)
        refuse_of_other(f"The worker of Kafka Connect at {address}", meant, cluster)

    def _remember(self, address: str, cluster: str) -> None:
        if cluster:
            self._cluster_ids[address] = cluster, self._now_s() + _KNOWN_S

    def _cluster_told(self, address: str) -> str:
        """Empty: it tells none now, as when its brokers are away. Raises NotAskedError, RefusedError."""
        try:
            answer = ask(self._question("GET", address, "/"), self._connect.authority_file, _GREETING_S)
        except NoAnswerError:
            return ""
        if answer.status == 401:
            _body(answer)
        worker = _worker(answer)
        return worker.kafka_cluster_id if isinstance(worker, WorkerView) else ""

    def _request(self, method: str, address: str, path: str, body: object) -> WorkerResponse:
        self._require_own(address)
        answer = ask(self._question(method, address, path, body), self._connect.authority_file)
        self._answered_last = address
        return answer

    def _addresses(self) -> list[str]:
        """Return addresses, the last one that answered first: a hanging worker is not waited for each time."""
        if not self._connect.addresses:
            raise RefusedError("NOT_CONFIGURED", NOT_CONFIGURED)
        return sorted(self._connect.addresses, key=lambda address: address != self._answered_last)

    def _question(self, method: str, address: str, path: str, body: object = None) -> WorkerRequest:
        try:
            authentication = self._connect.authentication
        except FileError as error:
            raise RefusedError("NOT_CONFIGURED", str(error)) from None
        content = None if body is None else json.dumps(body).encode()
        return WorkerRequest(method, address + path, content, authentication)


def _silent(problems: list[str]) -> ClusterUnreachableError:
    return ClusterUnreachableError(f"No worker of Kafka Connect answers: {'; '.join(problems)[:1_000]}.")


def _path(name: str, more: str = "") -> str:
    """Return the URL path; dots are escaped, because clients normalize them away."""
    quoted = quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
    return f"/connectors/{quoted}{more}"


def _body(answer: WorkerResponse) -> Any:
    if not 200 <= answer.status < 300:
        raise RefusedError(_CODES.get(answer.status, f"HTTP_{answer.status}"), _refusal(answer))
    return answers.parsed(answer.body) if answer.body.strip() else None


_CODES = {401: "UNAUTHORIZED", 404: "NOT_FOUND", 409: "CONFLICT"}


def _refusal(answer: WorkerResponse) -> str:
    text = answers.error_text(answer.body)
    if answer.status == 401:
        return (
            "Kafka Connect does not let the console in: BARNABAS_CONNECT_AUTHENTICATION_FILE must hold user:password."
        )
    if answer.status == 409:
        return f"{text or 'Its workers are busy.'} Try again in a moment."
    return text or f"Kafka Connect answered with status {answer.status}, and without a reason."


def _checked(answer: WorkerResponse, read: Callable[[Any], T]) -> T:
    return _honest(lambda: read(_body(answer)))


def _honest(read: Callable[[], T]) -> T:
    try:
        return read()
    except UnexpectedAnswerError as error:
        sentence = f"What answers there is not Kafka Connect as it should be: {error}."
        raise RefusedError("UNEXPECTED_ANSWER", sentence) from None


def _worker(answer: WorkerResponse | Exception) -> WorkerView | str:
    if isinstance(answer, Exception):
        return str(answer) if isinstance(answer, NotAskedError | NoAnswerError) else type(answer).__name__
    try:
        return answers.worker(_body(answer))
    except (RefusedError, UnexpectedAnswerError) as error:
        return str(error)


def connect_client() -> ConnectClient:
    """Return the client of the configured workers."""
    return _made(here.CONNECT, current_cluster())


@cache
def _made(connect: ConnectSettings, _cluster: str) -> ConnectClient:
    return ConnectClient(connect, bound(remembered))
