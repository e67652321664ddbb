"""The settings a topic is created with: as lines of a form, from another topic, or from a template. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.kit.gateway.moves.interface import REPLICA_KEYS
from console.kit.gateway.retention.interface import SettingView
from console.kit.gateway.topics.setting_rules import topic_value_refusal
from console.kit.plans.setting import plain_value

#: More than a topic's table has.
SETTINGS_MAX = 40
VALUE_LENGTH_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Template:
    name: str
    words: str
    configs: Mapping[str, str]


#: What people make topics for, and what they set for it.
TEMPLATES = (
    Template("events", "as it comes: Kafka's own defaults", {}),
    Template("table", "the newest value of each key is kept, older ones go", {"cleanup.policy": "compact"}),
    Template("archive", "nothing is ever deleted", {"retention.ms": "-1", "retention.bytes": "-1"}),
    Template("buffer", "a day of records, for who reads them at once", {"retention.ms": "86400000"}),
    Template(
        "ledger",
        "no acknowledged record is lost with one broker, and none by an unclean election",
        {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"},
    ),
    Template("large records", "records of up to 10 MB", {"max.message.bytes": "10485760"}),
)


def template_named(name: str) -> Template | None:
    return next((each for each in TEMPLATES if each.name == name), None)


def parse_settings(text: str) -> dict[str, str]:
    """`name=value`, one on a line; an amount may have a unit. Raises ValueError with the line that is wrong."""
    found: dict[str, str] = {}
    for line in filter(None, (each.strip() for each in text.splitlines())):
        name, equals, value = (each.strip() for each in line.partition("="))
        if not equals or not name or not value or len(value) > VALUE_LENGTH_MAX:
            raise ValueError(f"{line[:60]}: a setting is name=value, one on a line.")
        if name in found:
            raise ValueError(f"{name} is there twice.")
        found[name] = plain_value(name, value)
        if refusal := topic_value_refusal(name, found[name]):
            raise ValueError(f"{name}: {refusal}")
    if len(found) > SETTINGS_MAX:
        raise ValueError(f"At most {SETTINGS_MAX} settings.")
    return found


def lines_of(configs: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in sorted(configs.items()))


def own_of(settings: Iterable[SettingView]) -> dict[str, str]:
    """What a topic says itself, but for throttles: those name its own replicas."""
    own = (each for each in settings if each.source == "topic" and each.name not in REPLICA_KEYS)
    return {each.name: each.value for each in own if each.value is not None}
