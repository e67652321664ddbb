"""The settings a topic is created with: as lines of a form, from another topic, or from a template. Pure."""

from collections.abc import Iterable, Mapping, Sequence
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
    return next((template for template in TEMPLATES if template.name == name), None)


class SettingsError(ValueError):
    """The lines that are wrong; `sentences` has one for each, in their order."""

    def __init__(self, sentences: Sequence[str]):
        super().__init__(" ".join(sentences))
        self.sentences = list(sentences)


def parse_settings(text: str) -> dict[str, str]:
    """`name=value`, one on a line; an amount may have a unit. Raises SettingsError with every line that is wrong."""
    settings: dict[str, str] = {}
    wrong: list[str] = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        try:
            name, value = _parse_line(line)
            if name in settings:
                raise ValueError(f"{name} is there twice.")
            settings[name] = value
        except ValueError as error:
            wrong.append(str(error))
    if len(settings) > SETTINGS_MAX:
        wrong.append(f"At most {SETTINGS_MAX} settings.")
    if wrong:
        raise SettingsError(wrong[:SETTINGS_MAX])
    return settings


def _parse_line(line: str) -> tuple[str, str]:
    """Return the name and the value that Kafka is given. Raises ValueError."""
    name, equals, value = (part.strip() for part in line.partition("="))
    if not equals or not name or not value or len(value) > VALUE_LENGTH_MAX:
        raise ValueError(f"{line[:60]}: a setting is name=value, one on a line.")
    plain = plain_value(name, value)
    if refusal := topic_value_refusal(name, plain):
        raise ValueError(f"{name}: {refusal}")
    return name, plain


def lines_of(configs: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in sorted(configs.items()))


def own_of(settings: Iterable[SettingView]) -> dict[str, str]:
    """What a topic says itself, but for throttles: those name its own replicas."""
    own = (setting for setting in settings if setting.source == "topic" and setting.name not in REPLICA_KEYS)
    return {view.name: view.value for view in own if view.value is not None}
