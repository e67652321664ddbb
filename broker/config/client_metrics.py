"""Subscriptions to metrics of clients (KIP-714): their settings, and which clients they are for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import re2

from broker.common.errors import ApiError, ErrorCode
from broker.common.re2_patterns import compile_re2
from broker.config.definition import ConfigError, Key, parse_int32, parse_list

DEFAULT_INTERVAL_MS = 300_000
_INTERVALS_MS = range(100, 3_600_001)
#: Value of `metrics` that stands for each metric a client has.
ALL_METRICS = "*"
CLIENT_INSTANCE_ID = "client_instance_id"
CLIENT_ID = "client_id"
CLIENT_SOFTWARE_NAME = "client_software_name"
CLIENT_SOFTWARE_VERSION = "client_software_version"
CLIENT_SOURCE_ADDRESS = "client_source_address"
CLIENT_SOURCE_PORT = "client_source_port"
_MATCHED = frozenset(
    {
        CLIENT_INSTANCE_ID,
        CLIENT_ID,
        CLIENT_SOFTWARE_NAME,
        CLIENT_SOFTWARE_VERSION,
        CLIENT_SOURCE_ADDRESS,
        CLIENT_SOURCE_PORT,
    }
)

KEYS: tuple[Key, ...] = (
    Key("interval.ms", parse_int32, DEFAULT_INTERVAL_MS, "Milliseconds between two pushes of a client."),
    Key("match", parse_list, (), "What clients have to be: client_id=REGEX,…; each client if empty."),
    Key("metrics", parse_list, (), "How the names of pushed metrics begin; * for each."),
)
BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}


@dataclass(frozen=True, slots=True)
class MetricsSubscription:
    """Clients that match push these metrics so often. `match` has a compiled pattern for each attribute."""

    metrics: tuple[str, ...]
    interval_ms: int
    match: Mapping[str, Any]

    def matches(self, attributes: Mapping[str, str]) -> bool:
        return all(
            (text := attributes.get(name)) is not None and pattern.fullmatch(text) is not None
            for name, pattern in self.match.items()
        )


def read_subscription(name: str, texts: Mapping[str, str]) -> MetricsSubscription:
    """Return the subscription. Raises ApiError with Kafka's sentences, ConfigError for a value of the wrong type."""
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    for key in texts:
        if key not in BY_NAME:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {key}")
    values = {key.name: key.read(texts[key.name]) if key.name in texts else key.default for key in KEYS}
    interval_ms = values["interval.ms"]
    if interval_ms not in _INTERVALS_MS:
        wrong = f"Invalid value {interval_ms} for interval.ms, interval must be between 100 and 3600000 (1 hour)"
        raise ApiError(ErrorCode.INVALID_REQUEST, wrong)
    return MetricsSubscription(tuple(values["metrics"]), interval_ms, _read_match(values["match"]))


def _read_match(patterns: tuple[str, ...]) -> dict[str, Any]:
    """Compile the patterns by RE2, whose time does not depend on what a client calls itself."""
    match: dict[str, Any] = {}
    for pattern in patterns:
        attribute, separator, expression = pattern.partition("=")
        try:
            if attribute.strip() not in _MATCHED or not separator or not expression.strip() or "=" in expression:
                raise ConfigError(f"Illegal client matching pattern: {pattern}")
            match[attribute.strip()] = compile_re2(expression.strip())
        except re2.error:
            raise ConfigError(f"Illegal client matching pattern: {pattern}") from None
    return match
