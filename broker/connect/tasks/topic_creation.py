"""With how many partitions a source's topics are made, by the connector's rules (KIP-158). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from broker.common.bounded_patterns import BoundedPattern
from broker.connect.api import ConfigError
from broker.connect.transforms.patterns import java_regex

_PREFIX = "topic.creation."
_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class NewTopicRule:
    """-1: as many as the brokers' default says."""

    partitions: int
    replicas: int
    config: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TopicRules:
    """Groups in their order; the last is `default`, which takes every topic."""

    groups: tuple[tuple[list[BoundedPattern], list[BoundedPattern], NewTopicRule], ...]
    default: NewTopicRule

    def rule_of(self, topic: str) -> NewTopicRule:
        """Raises TooManyWays."""
        for include, exclude, rule in self.groups:
            if any(pattern.fullmatch(topic) for pattern in include) and not any(
                pattern.fullmatch(topic) for pattern in exclude
            ):
                return rule
        return self.default


def read_topic_rules(props: Mapping[str, Any]) -> TopicRules | None:
    """Read the rules; None if the connector has none and brokers create topics. Raises ConfigError."""
    if not any(key.startswith(_PREFIX) for key in props):
        return None
    default = _rule(_DEFAULT, _group(_DEFAULT, props), None)
    groups = []
    for name in _listed(props.get(f"{_PREFIX}groups")):
        if name == _DEFAULT:
            continue
        own = _group(name, props)
        include, exclude = (_patterns(name, what, own) for what in ("include", "exclude"))
        if not include:
            raise ConfigError(
                f"{_PREFIX}{name}.include", f"Missing required configuration {_PREFIX}{name}.include: which topics"
            )
        groups.append((include, exclude, _rule(name, own, default)))
    return TopicRules(tuple(groups), default)


def _group(name: str, props: Mapping[str, Any]) -> dict[str, str]:
    prefix = f"{_PREFIX}{name}."
    return {key.removeprefix(prefix): str(value) for key, value in props.items() if key.startswith(prefix)}


def _rule(name: str, own: Mapping[str, str], default: NewTopicRule | None) -> NewTopicRule:
    partitions = _count(name, "partitions", own, default.partitions if default else None)
    replicas = _count(name, "replication.factor", own, default.replicas if default else None)
    taken = ("partitions", "replication.factor", "include", "exclude")
    return NewTopicRule(partitions, replicas, {key: value for key, value in own.items() if key not in taken})


def _count(name: str, what: str, own: Mapping[str, str], default: int | None) -> int:
    key = f"{_PREFIX}{name}.{what}"
    if what not in own:
        if default is None:
            raise ConfigError(key, f'Missing required configuration "{key}" which has no default value.')
        return default
    try:
        count = int(own[what])
    except ValueError:
        count = 0
    if count < 1 and count != -1:
        raise ConfigError(key, f"Invalid value {own[what]} for configuration {key}: at least 1, or -1 for the brokers'")
    return count


def _patterns(name: str, what: str, own: Mapping[str, str]) -> list[BoundedPattern]:
    return [java_regex(f"{_PREFIX}{name}.{what}", item) for item in _listed(own.get(what))]


def _listed(text: Any) -> list[str]:
    return [part.strip() for part in str(text or "").split(",") if part.strip()]
