"""The settings a topic is created with: as lines of a form, from another topic, or from a template. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from console.kit.gateway.errors import RefusedError
from console.kit.gateway.moves.interface import REPLICA_KEYS
from console.kit.gateway.retention.interface import SettingView
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
    Template("buffer", "a day of records, for consumers that keep up", {"retention.ms": "86400000"}),
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
    """The lines that are wrong; `sentences` has one for each, in their order. `settings` are those of the others."""

    def __init__(self, sentences: Sequence[str], settings: Mapping[str, str]):
        super().__init__(" ".join(sentences))
        self.sentences = list(sentences)
        self.settings = dict(settings)


def parse_settings(text: str) -> dict[str, str]:
    """Parse `name=value`, one on a line; an amount may have a unit. Raises SettingsError with every line that is
    wrong.
    """
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
        raise SettingsError(wrong[:SETTINGS_MAX], dict(islice(settings.items(), SETTINGS_MAX)))
    return settings


def _parse_line(line: str) -> tuple[str, str]:
    """Return the name and the value that Kafka is given. Raises ValueError."""
    name, equals, value = (part.strip() for part in line.partition("="))
    if not equals or not name or not value or len(value) > VALUE_LENGTH_MAX:
        raise ValueError(f"{line[:60]}: a setting is name=value, one on a line.")
    return name, plain_value(name, value)


def refused_settings(settings: Mapping[str, str], check: Callable[[Mapping[str, str]], None]) -> list[str]:
    """Return a sentence for each of the settings that the cluster does not take.

    `check` raises RefusedError for a topic that the cluster would not create; other reasons than its settings are told
    with the plan. Settings that are refused only together have one sentence.
    """
    together = _refusal_of(settings, check)
    if not together:
        return []
    alone = {name: _refusal_of({name: value}, check) for name, value in settings.items()}
    return [f"{name}: {refusal}" for name, refusal in alone.items() if refusal] or [together]


def _refusal_of(settings: Mapping[str, str], check: Callable[[Mapping[str, str]], None]) -> str:
    try:
        check(settings)
    except RefusedError as error:
        if error.code == "INVALID_CONFIG":
            return f"{str(error).rstrip('.')}."
    return ""


def lines_of(configs: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in sorted(configs.items()))


def own_of(settings: Iterable[SettingView]) -> dict[str, str]:
    """Return the topic's own settings without throttles, which name its replicas."""
    own = (setting for setting in settings if setting.source == "topic" and setting.name not in REPLICA_KEYS)
    return {view.name: view.value for view in own if view.value is not None}
