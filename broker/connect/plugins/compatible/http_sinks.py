"""HTTP sinks of Confluent and Aiven in settings of HttpSink."""

import base64
from collections.abc import Mapping

from broker.common.java.numbers import trim
from broker.connect.api import ConfigError
from broker.connect.plugins.compatible.setting import ForeignConnector, ForeignSetting, implied, refused, renamed, same

_OURS = "barnabas.connect.HttpSinkConnector"
_TOKEN = "put the token into http.authorization, or a proxy in front"
_TLS = "the system's certificates are trusted; SSL_CERT_FILE of the worker's environment names others"
_NO_BODY = "a body is the records' values as JSON or text"
_CONFLUENT: dict[str, ForeignSetting] = {
    **same("http.api.url", "request.method", "behavior.on.null.values", "max.retries", "retry.backoff.ms"),
    **same("request.timeout.ms"),
    **same("request.body.format", "batch.json.as.array", "batch.separator", "batch.prefix", "batch.suffix"),
    "batch.max.size": renamed("batch.max.records"),
    **dict.fromkeys(("headers", "header.separator"), implied()),  # by `_confluent`
    "http.request.timeout.ms": renamed("request.timeout.ms"),
    "http.connect.timeout.ms": implied(),
    "auth.type": implied("none", "basic", advice=_TOKEN),
    **dict.fromkeys(("connection.user", "connection.password"), implied()),  # by `_confluent`
    "oauth2.*": refused(_TOKEN),
    "behavior.on.error": implied("fail", advice="use errors.tolerance=all and errors.deadletterqueue.topic.name"),
    "retry.on.status.codes": refused("408, 425, 429 and 500 to 504 are tried again"),
    "regex.*": refused("use a transform"),
    "report.errors.as": implied("error_string", "http_response"),
    "reporter.bootstrap.servers": implied(),
    "reporter.admin.*": implied(),
    "reporter.producer.*": implied(),
    "reporter.error.topic.name": renamed("errors.deadletterqueue.topic.name"),
    "reporter.error.topic.replication.factor": renamed("errors.deadletterqueue.topic.replication.factor"),
    "reporter.error.topic.*": implied(),
    "reporter.result.topic.*": refused("responses are not kept; leave it out"),
    "https.host.verifier.enabled": implied("true", advice="names of hosts are always verified"),
    "https.ssl.*": refused(_TLS),
    "ssl.enabled": implied("false", advice=_TLS),
    "http.proxy.*": refused("a proxy is not supported"),
    "request.body.*": refused(_NO_BODY),
    "sensitive.headers": refused("put a secret header into http.authorization"),
}
_AIVEN: dict[str, ForeignSetting] = {
    **same("max.retries", "retry.backoff.ms", "batch.separator", "batch.prefix", "batch.suffix"),
    "http.url": renamed("http.api.url"),
    "http.authorization.type": implied("none", "static", advice=_TOKEN),
    "http.headers.authorization": renamed("http.authorization"),
    "http.headers.content.type": implied("application/json", advice="bodies are JSON, or text with http.headers"),
    "http.headers.additional": implied(),  # by `_aiven`
    "http.timeout": implied(),  # by `_aiven`
    "batching.enabled": implied("true", "false"),
    "batch.max.size": implied(),
    "batch.buffering.enabled": implied("false"),
    "http.ssl.trust.all.certs": implied("false", advice=_TLS),
    "http.ssl.*": refused(_TLS),
    "http.proxy.*": refused("a proxy is not supported"),
    "oauth2.*": refused(_TOKEN),
    "kafka.retry.backoff.ms": renamed("retry.backoff.ms"),
    "decimal.format": implied("numeric", "base64"),
}


def _confluent(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    derived = _headers(theirs.get("headers", ""), theirs.get("header.separator", "|"), "headers")
    if trim(theirs.get("auth.type", "")).lower() == "basic":
        login = f"{theirs.get('connection.user', '')}:{theirs.get('connection.password', '')}"
        derived["http.authorization"] = _basic(login), "connection.password"
    if "${" in theirs.get("http.api.url", ""):
        raise ConfigError(
            "http.api.url",
            "Invalid value for configuration http.api.url: ${topic} and ${key} are not supported; use a connector for "
            "each address",
        )
    return derived


def _headers(text: str, separator: str, key: str) -> dict[str, tuple[str, str]]:
    """Return http.headers, and http.authorization where that is one of them."""
    headers = [part.partition(":") for part in text.split(separator or "|") if trim(part)]
    logins = [trim(value) for name, _, value in headers if trim(name).lower() == "authorization"]
    others = [f"{trim(name)}: {trim(value)}" for name, _, value in headers if trim(name).lower() != "authorization"]
    return {
        ours: (value, key)
        for ours, value in (("http.headers", "\n".join(others)), ("http.authorization", "".join(logins[:1])))
        if value
    }


def _basic(login: str) -> str:
    return f"Basic {base64.b64encode(login.encode()).decode()}"


def _aiven(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Translate Aiven's settings. Batches are off by default: then a request has one value."""
    is_batching = trim(theirs.get("batching.enabled", "false")).lower() == "true"
    size = theirs.get("batch.max.size", "500") if is_batching else "1"
    derived = {"batch.max.records": (size, "batch.max.size" if is_batching else "batching.enabled")}
    derived |= _headers(theirs.get("http.headers.additional", ""), ",", "http.headers.additional")
    if seconds := trim(theirs.get("http.timeout", "")):
        derived["request.timeout.ms"] = f"{seconds}000", "http.timeout"
    return derived


CONNECTORS = {
    "io.confluent.connect.http.HttpSinkConnector": ForeignConnector(
        _OURS,
        _CONFLUENT,
        {"batch.max.records": "1", "request.body.format": "string", "behavior.on.null.values": "ignore",
         "batch.separator": ",", "retry.backoff.ms": "3000"},
        _confluent,
    ),
    "io.aiven.kafka.connect.http.HttpSinkConnector": ForeignConnector(
        _OURS,
        _AIVEN,
        {"request.body.format": "string", "max.retries": "1", "retry.backoff.ms": "3000", "request.timeout.ms": "30000",
         "batch.separator": r"\n", "batch.suffix": r"\n", "behavior.on.null.values": "fail"},
        _aiven,
    ),
}  # fmt: skip
