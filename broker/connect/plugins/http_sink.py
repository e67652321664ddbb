"""Records by HTTP: batches as JSON or text to one address, tried again while it is the other end's fault."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit

from broker.common.backoff import Backoff
from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConnectError,
    DataError,
    Importance,
    RecordError,
    RetriableError,
    SinkRecord,
    SinkTask,
    SinkTaskContext,
)
from broker.connect.api.config import OneOf, between
from broker.connect.api.plugin import Props
from broker.connect.plugins.delivered import Delivered
from broker.connect.plugins.http_bodies import are_headers, body_form, headers_of
from broker.connect.plugins.own_props import GroupSink

#: Answers that may be others a little later, and those by which one record is refused. Any other is about the address
#: or the login: the task ends, lest a wrong password makes dead letters of a whole topic.
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_OF_RECORDS = frozenset({400, 409, 413, 422})
BACKOFF_MAX_MS = 60_000
#: What Retry-After may ask for; a longer pause is a wish to be left alone, and looked at by somebody.
RETRY_AFTER_MAX_MS = 600_000


class HttpSinkTask(SinkTask):
    """Delivers at least once: a batch that was refused for now is sent again, except records that were answered."""

    def __init__(self) -> None:
        self._client: Any = None
        self._delivered = Delivered()

    def start(self, props: Props, context: SinkTaskContext) -> None:
        import httpx2

        self._values = HttpSinkConnector.CONFIG.parse(props)
        self._context = context
        self._backoff = Backoff(self._values["retry.backoff.ms"], BACKOFF_MAX_MS)
        self._form = body_form(self._values)
        headers = {"content-type": self._form.content_type} | headers_of("http.headers", self._values["http.headers"])
        if self._values["http.authorization"]:
            headers["authorization"] = self._values["http.authorization"].value
        timeout = self._values["request.timeout.ms"] / 1000
        self._client = httpx2.Client(headers=headers, timeout=timeout, follow_redirects=False, trust_env=False)

    def put(self, records: Sequence[SinkRecord]) -> None:
        left = self._delivered.left(records)
        size = self._values["batch.max.records"]
        for first in range(0, len(left), size):
            self._send(left[first : first + size])
        self._delivered.clear()

    def _send(self, batch: Sequence[SinkRecord]) -> None:
        bodies = []
        for record in batch:
            if record.value is None and self._values["behavior.on.null.values"].lower() == "ignore":
                continue
            try:
                bodies.append((record, self._encoded(record)))
            except DataError as error:
                self._give_up(record, error)
        if bodies:
            self._post(bodies)
        self._delivered.add(batch)
        self._backoff.succeed()

    def _encoded(self, record: SinkRecord) -> bytes:
        """Raises DataError."""
        if record.value is None and self._values["behavior.on.null.values"].lower() == "fail":
            raise DataError("A null value cannot be sent")
        return self._form.encode(record)

    def _post(self, bodies: list[tuple[SinkRecord, bytes]]) -> None:
        """Post the bodies; a refused batch is sent record by record, so that the others arrive."""
        status, retry_after = self._ask(self._form.joined([body for _, body in bodies]))
        if status < 300:
            return
        if status in _AGAIN:
            self._try_again(f"it answers {status}", retry_after)
        refusal = f"{self._values['http.api.url']} answers {status}"
        if status not in _OF_RECORDS:
            raise ConnectError(refusal)
        if len(bodies) == 1:
            self._give_up(bodies[0][0], DataError(refusal))
            return
        for pair in bodies:
            self._post([pair])

    def _ask(self, body: bytes) -> tuple[int, str | None]:
        import httpx2

        try:
            method, url = self._values["request.method"].upper(), self._values["http.api.url"]
            with self._client.stream(method, url, content=body) as answer:  # nobody reads what it says
                return answer.status_code, answer.headers.get("Retry-After")
        except httpx2.HTTPError as error:
            self._try_again(type(error).__name__, None)

    def _try_again(self, reason: str, retry_after: str | None) -> NoReturn:
        backoff_ms = int(self._backoff.fail())
        if self._backoff.failures > self._values["max.retries"]:
            raise ConnectError(f"{self._values['http.api.url']}: {reason}, {self._backoff.failures} times")
        pause = pause_ms(retry_after, time.time) if retry_after else None
        self._context.timeout(backoff_ms if pause is None else pause)
        raise RetriableError(f"{self._values['http.api.url']}: {reason}")

    def _give_up(self, record: SinkRecord, error: Exception) -> None:
        if self._context.errant_record_reporter is None:
            raise RecordError(record.topic, record.partition, record.offset, str(error)) from error
        self._context.errant_record_reporter.report(record, error)

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()


def pause_ms(retry_after: str, now_s: Callable[[], float]) -> int | None:
    """Parse Retry-After in seconds or as a date; None if it is neither."""
    try:
        seconds = (
            float(retry_after) if retry_after.isdigit() else parsedate_to_datetime(retry_after).timestamp() - now_s()
        )
    except (ValueError, TypeError):
        return None
    return max(0, min(int(seconds * 1000), RETRY_AFTER_MAX_MS))


def _is_url(name: str, value: str) -> None:
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one:
        raise ConfigError(name, f"Invalid value for configuration {name}: it must be http:// or https:// and a host")
    if parts.username or parts.password:
        raise ConfigError(name, f"Invalid value for configuration {name}: a login belongs into http.authorization")


_METHOD, _FORMAT = OneOf("POST", "PUT"), OneOf("json", "string")
_NULLS = OneOf("send", "ignore", "fail")


class HttpSinkConnector(GroupSink):
    """Values as JSON or text to an address. Redirects are not followed."""

    task_class = HttpSinkTask
    CONFIG = ConfigDef(
        ConfigKey(
            "http.api.url",
            importance=Importance.HIGH,
            documentation="Address that gets the records.",
            validator=_is_url,
        ),
        ConfigKey(
            "request.method",
            default="POST",
            documentation="Method of requests.",
            validator=_METHOD,
            recommender=_METHOD,
        ),
        ConfigKey(
            "http.headers",
            default="",
            documentation="Further headers of each request, `Name: value`, one a line.",
            validator=are_headers,
        ),
        ConfigKey(
            "request.body.format",
            default="json",
            documentation="json: values as JSON; string: texts as they are, and everything else as JSON.",
            validator=_FORMAT,
            recommender=_FORMAT,
        ),
        ConfigKey(
            "batch.json.as.array",
            ConfigType.BOOLEAN,
            True,
            documentation="Whether a body of JSON is an array; else it is the one value of batch.max.records=1.",
        ),
        ConfigKey("batch.prefix", default="", documentation="With string: what a body begins with."),
        ConfigKey(
            "batch.separator",
            default=",",
            documentation=r"With string: what is between two values; \n is the end of a line.",
        ),
        ConfigKey("batch.suffix", default="", documentation="With string: what a body ends with."),
        ConfigKey(
            "behavior.on.null.values",
            default="send",
            documentation="send: null as JSON; ignore: nothing; fail: it is a failed record, for the dead letters.",
            validator=_NULLS,
            recommender=_NULLS,
        ),
        ConfigKey("http.authorization", ConfigType.PASSWORD, None, documentation="The header Authorization."),
        ConfigKey(
            "batch.max.records",
            ConfigType.INT,
            100,
            documentation="Records of one request.",
            validator=between(1, 10_000),
        ),
        ConfigKey(
            "request.timeout.ms",
            ConfigType.INT,
            10_000,
            documentation="Time for connecting, for sending, for a response.",
            validator=between(100, 60_000),
        ),
        ConfigKey(
            "max.retries", ConfigType.INT, 10, documentation="Attempts before the task fails.", validator=between(0)
        ),
        ConfigKey(
            "retry.backoff.ms",
            ConfigType.INT,
            300,
            documentation="First pause; each is twice the one before.",
            validator=between(1),
        ),
    )

    def contradictions(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if values["batch.json.as.array"] is False and (values["batch.max.records"] or 1) > 1:
            yield "batch.json.as.array", "A body of several JSON values is an array; or set batch.max.records=1"
