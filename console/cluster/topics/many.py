"""The same change of many topics as one plan: they are deleted, or one setting of each becomes another. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from console.cluster.topics.deletion import DoomedTopic, some_groups
from console.cluster.topics.settings_plan import topic_target, why_safe, with_cautions
from console.kit.common.figures import grouped, size
from console.kit.gateway.commands import shell_command
from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.plan import Line, Plan
from console.kit.plans.setting import DEFAULT, Change, Target, configs_command
from console.processes.topic_users import sentences

DELETE, SET = "delete topics", "change setting of topics"
#: Of one plan, so that a person can read it.
TOPICS_MAX = 200
#: What is done to the topics, as the page is asked for it.
DELETING, DELETING_LATER, SETTING = "delete", "delete-later", "set"
_NAMED, _USES_TOLD = 5, 20


@dataclass(frozen=True, slots=True)
class Kept:
    """A topic with the setting that is to change; `typed`: what to."""

    topic: str
    topic_id: str
    replication_factor: int
    setting: SettingView
    typed: str

    @property
    def change(self) -> Change:
        own = (self.setting.value or "") if self.setting.source == "topic" else None
        return Change(self.setting, own, self.typed)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionOfMany(Plan):
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingOfMany(Plan):
    """The same setting of many topics."""

    setting: str
    #: By topic: what it has of its own now, and shall have; `default` for none.
    now: Mapping[str, str]
    #: By topic; None to take the topic's own value away.
    wanted: Mapping[str, str | None]


def deletion_of_many(topics: Sequence[DoomedTopic], bootstrap_servers: str) -> DeletionOfMany:
    """As the deletion of one: who reads and uses them is confirmed, what is in them is told."""
    topics = sorted(topics, key=lambda each: each.name)
    return DeletionOfMany(
        topics=tuple(each.name for each in topics),
        action=DELETE,
        object_type="topics",
        object_name=counted(len(topics)),
        lines=tuple(Line(each.name, f"{each.partition_count} × {each.replication_factor}", None) for each in topics),
        read=tuple(text for each in topics for text in (each.topic_id, *each.hung_on)),
        touches=tuple(_written_to(topics)),
        losses=tuple(_lost(topics)),
        safe_because="",
        command="\n".join(
            shell_command("kafka-topics", bootstrap_servers, {"delete": True, "topic": each.name}) for each in topics
        ),
        typed_name=f"delete {counted(len(topics))}",
        about=tuple(each.name for each in topics),
        obstacle=_internal(topics),
    )


def setting_of_many(topics: Sequence[Kept], bootstrap_servers: str) -> SettingOfMany:
    """Those that have the value already are left out. `topics` are all of one setting."""
    real = [each for each in sorted(topics, key=lambda each: each.topic) if not each.change.is_empty]
    losses = tuple(dict.fromkeys(loss for each in real for loss in _cautions(each).losses))
    setting = topics[0].setting.name if topics else ""
    return SettingOfMany(
        setting=setting,
        now={each.topic: each.change.old for each in real},
        wanted={each.topic: each.change.new for each in real},
        action=SET,
        object_type="topics",
        object_name=setting,
        lines=tuple(Line(each.topic, each.change.old, each.typed) for each in real),
        read=tuple(f"{each.topic} {each.topic_id}: {each.setting.value}@{each.setting.source}" for each in real),
        touches=tuple(_followed(real)),
        losses=losses,
        safe_because=why_safe([setting]),
        undo="the old value of each topic is kept and can be put back.",
        command="\n".join(_set_command(each, bootstrap_servers) for each in real),
        typed_name=f"change {counted(len(real))}" if losses else "",
        about=tuple(each.topic for each in real),
    )


def counted(count: int) -> str:
    return f"{count} topic{'' if count == 1 else 's'}"


def _lost(topics: Sequence[DoomedTopic]) -> Iterable[str]:
    records, taken = sum(each.record_count for each in topics), sum(each.size_bytes for each in topics)
    yield (
        f"Up to {grouped(records)} records ({size(taken)} on all replicas) in {counted(len(topics))} are lost for "
        "good, and the topics' own settings with them."
    )
    groups = {group for each in topics for group in each.groups}
    hidden = {group for each in topics for group in each.hidden_groups}
    if groups or hidden:
        yield f"Consumer groups lose their place: {some_groups(groups, len(hidden))}."
    used = [
        f"{each.name}: {sentence}"
        for each in topics
        for sentence in sentences(each.uses, ", and is running: stop it first.", ", and is not running now.")
    ]
    yield from used[:_USES_TOLD]
    if len(used) > _USES_TOLD:
        yield f"{len(used) - _USES_TOLD} more use these topics; Dependencies has them."


def _written_to(topics: Sequence[DoomedTopic]) -> Iterable[str]:
    written = [each.name for each in topics if each.records_per_second]
    if written:
        yield (
            f"Somebody is writing to {_some(written)} now. With auto.create.topics.enable the next request creates an "
            "empty topic of that name."
        )


def _internal(topics: Sequence[DoomedTopic]) -> str:
    own = [each.name for each in topics if each.is_internal]
    return f"{_some(own)}: Kafka's own topics are not deleted among others. Leave them out." if own else ""


def _followed(topics: Sequence[Kept]) -> Iterable[str]:
    yield "Every replica of the topics follows the new value at once; no record is touched by the change itself."
    said: dict[str, list[str]] = {}
    for each in topics:
        for sentence in _cautions(each).touches[1:]:
            said.setdefault(sentence, []).append(each.topic)
    for sentence, names in said.items():
        yield f"{_some(names)}: {sentence}"


def _cautions(kept: Kept) -> Target:
    return with_cautions(topic_target(kept.topic), kept.setting.name, kept.typed, kept.replication_factor)


def _set_command(kept: Kept, bootstrap_servers: str) -> str:
    added: Mapping[str, str] = {} if kept.typed == DEFAULT else {kept.setting.name: kept.typed}
    deleted = [kept.setting.name] if kept.typed == DEFAULT else []
    return configs_command(bootstrap_servers, {"topic": kept.topic}, added, deleted)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
