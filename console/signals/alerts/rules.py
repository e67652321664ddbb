"""Rules and channels, as a file says them; what is wrong with it is one sentence that names the place. Pure.

The file is an administrator's, of mode 600: addresses of channels are secrets, and who names one makes the console ask
it. So no page shows one, and only an administrator adds one on a page (`channel_file.py`).
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from console.cluster.charts.measures import CLUSTER, KINDS
from console.signals.alerts.channels import CHANNEL_KINDS, Channel
from console.signals.alerts.page_channels import MADE_ON_PAGE, refusal_on_page
from console.signals.overview.health import HealthLevel

RULES_MAX, CHANNELS_MAX, TEXT_LENGTH_MAX = 200, 50, 2_000
_NAME = re.compile(r"[A-Za-z0-9._-]{1,60}")
_TIME = re.compile(r"(\d{1,6})\s*(s|min|h|d)")
_UNITS_MS = {"s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
SEVERITIES = ("warning", "critical")

_RULE_KEYS = frozenset(
    {
        *(
            "measure",
            "health",
            "objects",
            "above",
            "below",
            "recover",
            "for",
            "clear",
            "severity",
            "channels",
            "repeat",
        ),
        *("escalate_after", "escalate_to"),
    }
)


class AlertRulesError(Exception):
    """One sentence for who wrote the file; no secret is in it."""


@dataclass(frozen=True, slots=True)
class AlertRule:
    """Rule on one measure of all objects whose name fits, or on health where `health` says from which level on."""

    name: str
    channels: tuple[str, ...]
    severity: str = "warning"
    for_ms: int = 0
    clear_ms: int = 0
    #: Told again while it goes on; 0: once.
    repeat_ms: int = 0
    escalate_after_ms: int = 0
    escalate_to: tuple[str, ...] = ()
    health: HealthLevel | None = None
    kind: str = ""
    measure: str = ""
    objects: str = "*"
    threshold: float = 0.0
    is_above: bool = True
    #: What it has to come back to; the threshold itself, unless that would have it come and go.
    recover: float = 0.0

    def fits(self, name: str) -> bool:
        return fnmatchcase(name, self.objects)

    def is_bad(self, value: float, *, was_bad: bool) -> bool:
        limit = self.recover if was_bad else self.threshold
        return value > limit if self.is_above else value < limit


@dataclass(frozen=True, slots=True)
class Ruleset:
    rules: Mapping[str, AlertRule] = field(default_factory=dict)
    channels: Mapping[str, Channel] = field(default_factory=dict)
    #: Where people reach the console, for links; empty: messages have none.
    console: str = ""


def parse_rules(text: str) -> Ruleset:
    """Raises RulesError."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise AlertRulesError(f"It is no TOML: {error}.") from None
    _refuse_unknown(document, {"console", "channels", "rules"}, "")
    channels = {name: _channel(name, item) for name, item in _tables(document, "channels", CHANNELS_MAX).items()}
    rules = {name: parse_rule(name, item, channels) for name, item in _tables(document, "rules", RULES_MAX).items()}
    console = _text(document, "console", "", default="")
    if console and not _is_address(console):
        raise AlertRulesError("console must be the address of the console, https://host/.")
    return Ruleset(rules, channels, console)


def _tables(values: Mapping[str, Any], key: str, most: int) -> dict[str, dict[str, Any]]:
    tables = values.get(key, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise AlertRulesError(f"{key} must be tables: [{key}.a-name].")
    if len(tables) > most:
        raise AlertRulesError(f"There are {len(tables)} {key}; {most} may be.")
    for name in tables:
        if not _NAME.fullmatch(name):
            raise AlertRulesError(f"{key}: {name[:80]!r} must be 1 to 60 letters, digits, '.', '-' and '_'.")
    return tables


def _channel(name: str, values: Mapping[str, Any]) -> Channel:
    where = f"channels.{name}"
    kind = _text(values, "kind", where)
    if kind not in CHANNEL_KINDS:
        raise AlertRulesError(f"{where}: kind must be one of {', '.join(CHANNEL_KINDS)}.")
    wants = CHANNEL_KINDS[kind]
    keys = wants.needs | wants.may_have
    _refuse_unknown(values, keys | {"kind", MADE_ON_PAGE}, where)
    made_on_page = values.get(MADE_ON_PAGE, False)
    if not isinstance(made_on_page, bool):
        raise AlertRulesError(f"{where}: {MADE_ON_PAGE} must be true or false.")
    settings = {key: _text(values, key, where) for key in keys if key in values}
    channel = Channel(name, kind, settings, made_on_page)
    if missing := sorted(wants.needs - settings.keys()):
        raise AlertRulesError(f"{where}: {missing[0]} is missing.")
    if channel.is_mail:
        _check_mail(settings, where)
    else:
        settings.setdefault("url", wants.url)
        if not _is_address(settings["url"]):
            raise AlertRulesError(f"{where}: url must be https://host/…, or http on this machine.")
    if made_on_page and (refusal := refusal_on_page(channel)):
        raise AlertRulesError(f"{where}: {refusal}")
    return channel


def _check_mail(settings: dict[str, str], where: str) -> None:
    settings.setdefault("tls", "starttls")
    host, colon, port = settings["server"].rpartition(":")
    if not host or not colon or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise AlertRulesError(f"{where}: server must be host:port.")
    if settings["tls"] not in ("starttls", "tls", "none"):
        raise AlertRulesError(f"{where}: tls must be starttls, tls or none.")
    if ("user" in settings) != ("password" in settings):
        raise AlertRulesError(f"{where}: user and password are set together or not at all.")
    if "user" in settings and settings["tls"] == "none" and host not in _LOOPBACK:
        raise AlertRulesError(f"{where}: the password would be sent readably; tls must be starttls or tls.")
    if any("@" not in part for part in (*settings["to"].split(","), settings["from"])):
        raise AlertRulesError(f"{where}: to and from must be addresses, name@host, several with commas between.")


_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def _is_address(text: str) -> bool:
    """Return whether the address is https, or on this machine."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    return is_safe and bool(parts.hostname) and parts.username is None and " " not in text


def parse_rule(name: str, values: Mapping[str, Any], channels: Mapping[str, Channel]) -> AlertRule:
    """Raises RulesError."""
    if not _NAME.fullmatch(name):
        raise AlertRulesError(f"rules: {name[:80]!r} must be 1 to 60 letters, digits, '.', '-' and '_'.")
    where = f"rules.{name}"
    _refuse_unknown(values, _RULE_KEYS, where)
    if ("health" in values) == ("measure" in values):
        raise AlertRulesError(f"{where} must have either health or measure.")
    subject = _of_health(values, where) if "health" in values else _of_measure(values, where)
    severity = _text(
        values, "severity", where, default="critical" if subject.get("health") is HealthLevel.CRITICAL else "warning"
    )
    if severity not in SEVERITIES:
        raise AlertRulesError(f"{where}: severity must be one of {', '.join(SEVERITIES)}.")
    escalate_to = _channels(values, "escalate_to", where, channels)
    if bool(escalate_to) != ("escalate_after" in values):
        raise AlertRulesError(f"{where}: escalate_after and escalate_to are set together or not at all.")
    return AlertRule(
        name=name,
        channels=_channels(values, "channels", where, channels),
        severity=severity,
        for_ms=_time(values, "for", where),
        clear_ms=_time(values, "clear", where),
        repeat_ms=_time(values, "repeat", where),
        escalate_after_ms=_time(values, "escalate_after", where),
        escalate_to=escalate_to,
        **subject,
    )


def _of_health(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    if extra := sorted(values.keys() & {"objects", "above", "below", "recover"}):
        raise AlertRulesError(f"{where}: {extra[0]} has no effect together with health.")
    level = _text(values, "health", where)
    if level not in SEVERITIES:
        raise AlertRulesError(f"{where}: health must be one of {', '.join(SEVERITIES)}: from which level on.")
    return {"health": HealthLevel(level)}


def _of_measure(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    kind, _, measure = _text(values, "measure", where).partition(".")
    if measure not in KINDS.get(kind, ()):
        known = ", ".join(f"{kind}.{measure}" for kind, measures in KINDS.items() for measure in measures)
        raise AlertRulesError(f"{where}: measure must be one of {known}.")
    if ("above" in values) == ("below" in values):
        raise AlertRulesError(f"{where} must have either above or below.")
    is_above = "above" in values
    threshold = _number(values, "above" if is_above else "below", where)
    recover = _number(values, "recover", where) if "recover" in values else threshold
    if recover > threshold if is_above else recover < threshold:
        raise AlertRulesError(f"{where}: recover must be on the good side of {threshold:g}.")
    objects = _text(values, "objects", where, default="*")
    if kind == CLUSTER and objects != "*":
        raise AlertRulesError(f"{where}: there is one cluster, so objects has no meaning.")
    return {
        "kind": kind, "measure": measure, "objects": objects,
        "threshold": threshold, "is_above": is_above, "recover": recover,
    }  # fmt: skip


def _channels(values: Mapping[str, Any], key: str, where: str, channels: Mapping[str, Channel]) -> tuple[str, ...]:
    names = values.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise AlertRulesError(f'{where}: {key} must be names in brackets, ["a-name"].')
    if key == "channels" and key not in values:
        raise AlertRulesError(
            f"{where}: channels is missing: name the channels to notify; [] means the alerts page alone."
        )
    for name in names:
        if name not in channels:
            raise AlertRulesError(f"{where}: there is no channel {name[:80]!r}.")
    return tuple(dict.fromkeys(names))


def _time(values: Mapping[str, Any], key: str, where: str) -> int:
    if key not in values:
        return 0
    match = _TIME.fullmatch(_text(values, key, where))
    if match is None:
        raise AlertRulesError(f'{where}: {key} must be a time such as "30 s", "5 min", "4 h" or "1 d".')
    return int(match[1]) * _UNITS_MS[match[2]]


def _number(values: Mapping[str, Any], key: str, where: str) -> float:
    value = values[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
        raise AlertRulesError(f"{where}: {key} must be a number.")
    return float(value)


def _text(values: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = values.get(key, default)
    named = f"{where}: {key}" if where else key
    if value is None:
        raise AlertRulesError(f"{named} is missing.")
    if not isinstance(value, str) or len(value) > TEXT_LENGTH_MAX or not value.isprintable():
        raise AlertRulesError(f"{named} must be one line of text.")
    return value.strip()


def _refuse_unknown(values: Mapping[str, Any], known: set[str] | frozenset[str], where: str) -> None:
    if unknown := sorted(values.keys() - known):
        raise AlertRulesError(
            f"{where + ': ' if where else ''}{unknown[0][:80]} is no setting; there are {', '.join(sorted(known))}."
        )
