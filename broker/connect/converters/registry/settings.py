"""The settings that converters of every format share, under Confluent's names."""

import ipaddress
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, DataError, Importance, Password
from broker.connect.api.config import between, not_empty
from broker.connect.api.plugin import Props
from broker.connect.plugins.paths import is_allowed_path

_TRUST = "schema.registry.ssl.truststore.location"
_LOGIN = "basic.auth.user.info"
_STRATEGIES = "io.confluent.kafka.serializers.subject."

#: Of a topic, whether it is the key, and the name of the schema if it has one.
SubjectName = Callable[[str, bool, str | None], str]


def _topic_name(topic: str, is_key: bool, record: str | None) -> str:
    return f"{topic}-{'key' if is_key else 'value'}"


def _record_name(topic: str, is_key: bool, record: str | None) -> str:
    if record is None:
        raise DataError(f"A schema without a name has no subject by RecordNameStrategy, in topic {topic}")
    return record


def _topic_record_name(topic: str, is_key: bool, record: str | None) -> str:
    return f"{topic}-{_record_name(topic, is_key, record)}"


_BY_STRATEGY: dict[str, SubjectName] = {
    "TopicNameStrategy": _topic_name,
    "RecordNameStrategy": _record_name,
    "TopicRecordNameStrategy": _topic_record_name,
}


def _is_strategy(name: str, value: str) -> None:
    if value.removeprefix(_STRATEGIES) not in _BY_STRATEGY:
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: one of {', '.join(_BY_STRATEGY)}")


def _are_urls(name: str, values: list[str]) -> None:
    """Validate URLs; the error never quotes the value, which may hold a password."""
    not_empty(name, values)
    for value in values:
        try:
            parts = urlsplit(value)
            is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_one = False
        if not is_one:
            raise ConfigError(name, f"Invalid value for configuration {name}: http:// or https:// and a host, each")
        if parts.username is not None or parts.password is not None:
            raise ConfigError(name, f"Invalid value for configuration {name}: a login belongs into {_LOGIN}")


def _is_login(name: str, value: Password) -> None:
    if ":" not in value.value:
        raise ConfigError(name, f"Invalid value for configuration {name}: it must be user:password")


_M, _L = Importance.MEDIUM, Importance.LOW
KEEPS_NULLS = ConfigKey(
    "ignore.default.for.nullables",
    ConfigType.BOOLEAN,
    False,
    _M,
    "Whether a null of a field that may be null is written as null, and not as the field's default.",
)


def scrubs_names(format_name: str) -> ConfigKey:
    """Return the key of a format that does not take every name."""
    documentation = f"Whether names are written with `_` for what {format_name} does not take; else they are refused."
    return ConfigKey("scrub.invalid.names", ConfigType.BOOLEAN, False, _M, documentation)


_STRATEGY_HELP = "How subjects are named: TopicNameStrategy, RecordNameStrategy or TopicRecordNameStrategy."
CONFIG = ConfigDef(
    ConfigKey(
        "schema.registry.url",
        ConfigType.LIST,
        importance=Importance.HIGH,
        documentation="Addresses of the registry, comma separated; if one does not answer, the next is tried.",
        validator=_are_urls,
    ),
    ConfigKey("auto.register.schemas", ConfigType.BOOLEAN, True, _M, "Whether schemas that are new are registered."),
    ConfigKey(
        "use.latest.version",
        ConfigType.BOOLEAN,
        False,
        _L,
        "Whether values are written by the subject's latest schema; only if auto.register.schemas is false.",
    ),
    ConfigKey("latest.cache.ttl.sec", ConfigType.INT, 60, _L, "How long the latest is taken for it.", between(0)),
    ConfigKey("normalize.schemas", ConfigType.BOOLEAN, False, _L, "Whether the registry normalises what it is sent."),
    ConfigKey("schemas.cache.config", ConfigType.INT, 1000, _L, "How many schemas are kept.", between(1, 100_000)),
    ConfigKey(_LOGIN, ConfigType.PASSWORD, None, _M, "user:password of the registry.", _is_login),
    ConfigKey(_TRUST, ConfigType.STRING, None, _M, "Certificate authorities of its certificate, as PEM.",
              is_allowed_path),
    ConfigKey("max.retries", ConfigType.INT, 3, _L, "Of a request that was not answered.", between(0, 100)),
    ConfigKey("retries.wait.ms", ConfigType.INT, 1000, _L, "Before the first; then twice.", between(1, 60_000)),
    ConfigKey("retries.max.wait.ms", ConfigType.INT, 20_000, _L, "The longest.", between(1, 600_000)),
    ConfigKey("key.subject.name.strategy", default="TopicNameStrategy", importance=_M,
              documentation=_STRATEGY_HELP, validator=_is_strategy),
    ConfigKey("value.subject.name.strategy", default="TopicNameStrategy", importance=_M,
              documentation=_STRATEGY_HELP, validator=_is_strategy),
)  # fmt: skip


@dataclass(frozen=True)
class ConverterSettings:
    urls: tuple[str, ...]
    registers: bool
    uses_latest: bool
    latest_ttl_s: int
    normalizes: bool
    cache_size: int
    login: Password | None
    tls: ssl.SSLContext | None
    retries: int
    wait_ms: int
    wait_max_ms: int
    subject: SubjectName


def read_settings(definition: ConfigDef, props: Props, is_key: bool) -> tuple[ConverterSettings, dict[str, Any]]:
    """Read the settings; also return all parsed values, for a format's own keys.

    Raises ConfigError, never with a secret.
    """
    parsed = definition.parse(props)
    urls = tuple(value.rstrip("/") for value in parsed["schema.registry.url"])
    if parsed[_LOGIN] is not None and not all(map(_keeps_secrets, urls)):
        raise ConfigError(_LOGIN, f"{_LOGIN} is sent by https, or to this machine: not to every schema.registry.url")
    strategy = parsed[f"{'key' if is_key else 'value'}.subject.name.strategy"].removeprefix(_STRATEGIES)
    settings = ConverterSettings(
        urls, parsed["auto.register.schemas"], parsed["use.latest.version"], parsed["latest.cache.ttl.sec"],
        parsed["normalize.schemas"], parsed["schemas.cache.config"], parsed[_LOGIN], _tls(urls, parsed[_TRUST]),
        parsed["max.retries"], parsed["retries.wait.ms"], parsed["retries.max.wait.ms"], _BY_STRATEGY[strategy],
    )  # fmt: skip
    return settings, parsed


def _keeps_secrets(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _tls(urls: tuple[str, ...], trusted: str | None) -> ssl.SSLContext | None:
    if not any(url.startswith("https:") for url in urls):
        return None
    try:
        return ssl.create_default_context(cafile=trusted or None)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(_TRUST, f"Invalid value {trusted} for configuration {_TRUST}: {error}") from None
