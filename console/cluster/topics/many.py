"""The same change of many topics as one plan: they are deleted, or one setting of each becomes another. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from console.cluster.topics.deletion import DoomedTopic, some_groups
from console.cluster.topics.settings_plan import topic_target, why_safe, with_cautions
from console.kit.common.figures import grouped, size
from console.kit.gateway.commands import shell_command
from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.many import some
from console.kit.plans.plan import Plan, PlanLine
from console.kit.plans.setting import DEFAULT, SettingChange, SettingTarget, configs_command
from console.processes.topic_users import sentences

DELETE, SET = "delete topics", "change setting of topics"
#: Of one plan, so that a person can read it.
TOPICS_MAX = 200
#: What is done to the topics, as the page is asked for it.
DELETING, DELETING_LATER, SETTING = "delete", "delete-later", "set"
_USES_TOLD = 20


@dataclass(frozen=True, slots=True)
class TopicEdit:
    """A topic with the setting that is to change; `typed`: what to."""

    topic: str
    topic_id: str
    replication_factor: int
    setting: SettingView
    typed: str

    @property
    def change(self) -> SettingChange:
        own = (self.setting.value or "") if self.setting.source == "topic" else None
        return SettingChange(self.setting, own, self.typed)


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
    """Plan deleting many topics, as one: readers and users are confirmed, contents only shown."""
    topics = sorted(topics, key=lambda topic: topic.name)
    return DeletionOfMany(
        topics=tuple(topic.name for topic in topics),
        action=DELETE,
        object_type="topics",
        object_name=counted(len(topics)),
        lines=tuple(
            PlanLine(topic.name, f"{topic.partition_count} × {topic.replication_factor}", None) for topic in topics
        ),
        read=tuple(text for topic in topics for text in (topic.topic_id, *topic.hung_on)),
        touches=tuple(_written_to(topics)),
        losses=tuple(_lost(topics)),
        safe_because="",
        command="\n".join(
            shell_command("kafka-topics", bootstrap_servers, {"delete": True, "topic": topic.name}) for topic in topics
        ),
        typed_name=f"delete {counted(len(topics))}",
        about=tuple(topic.name for topic in topics),
        obstacle=_internal(topics),
    )


def setting_of_many(topics: Sequence[TopicEdit], bootstrap_servers: str) -> SettingOfMany:
    """Plan one setting for many topics, leaving out those that have the value. `topics` are all of one setting."""
    real = [topic for topic in sorted(topics, key=lambda item: item.topic) if not topic.change.is_empty]
    losses = tuple(dict.fromkeys(loss for kept in real for loss in _cautions(kept).losses))
    setting = topics[0].setting.name if topics else ""
    return SettingOfMany(
        setting=setting,
        now={kept.topic: kept.change.old for kept in real},
        wanted={kept.topic: kept.change.new for kept in real},
        action=SET,
        object_type="topics",
        object_name=setting,
        lines=tuple(PlanLine(kept.topic, kept.change.old, kept.typed) for kept in real),
        read=tuple(f"{kept.topic} {kept.topic_id}: {kept.setting.value}@{kept.setting.source}" for kept in real),
        touches=tuple(_followed(real)),
        losses=losses,
        safe_because=why_safe([setting]),
        undo="the old value of each topic is kept and can be put back.",
        command="\n".join(_set_command(kept, bootstrap_servers) for kept in real),
        typed_name=f"change {counted(len(real))}" if losses else "",
        about=tuple(kept.topic for kept in real),
    )


def counted(count: int) -> str:
    return f"{count} topic{'' if count == 1 else 's'}"


def _lost(topics: Sequence[DoomedTopic]) -> Iterable[str]:
    records, taken = sum(topic.record_count for topic in topics), sum(topic.size_bytes for topic in topics)
    yield (
        f"Up to {grouped(records)} records ({size(taken)} on all replicas) in {counted(len(topics))} are lost for "
        "good, and the topics' own settings with them."
    )
    groups = {group for topic in topics for group in topic.groups}
    hidden = {group for topic in topics for group in topic.hidden_groups}
    if groups or hidden:
        yield f"Consumer groups lose their place: {some_groups(groups, len(hidden))}."
    used = [
        f"{topic.name}: {sentence}"
        for topic in topics
        for sentence in sentences(topic.uses, ", and is running: stop it first.", ", and is not running now.")
    ]
    yield from used[:_USES_TOLD]
    if len(used) > _USES_TOLD:
        yield f"{len(used) - _USES_TOLD} more use these topics; Dependencies has them."


def _written_to(topics: Sequence[DoomedTopic]) -> Iterable[str]:
    written = [topic.name for topic in topics if topic.records_per_second]
    if written:
        yield (
            f"Producers are writing to {some(written)} now. With auto.create.topics.enable the next request "
            f"creates an "
            "empty topic of that name."
        )


def _internal(topics: Sequence[DoomedTopic]) -> str:
    own = [topic.name for topic in topics if topic.is_internal]
    return f"{some(own)}: Kafka's own topics are not deleted among others. Leave them out." if own else ""


def _followed(topics: Sequence[TopicEdit]) -> Iterable[str]:
    yield "Every replica of the topics follows the new value at once; no record is touched by the change itself."
    followed: dict[str, list[str]] = {}
    for topic in topics:
        for sentence in _cautions(topic).touches[1:]:
            followed.setdefault(sentence, []).append(topic.topic)
    for sentence, names in followed.items():
        yield f"{some(names)}: {sentence}"


def _cautions(kept: TopicEdit) -> SettingTarget:
    return with_cautions(topic_target(kept.topic), kept.setting.name, kept.typed, kept.replication_factor)


def _set_command(kept: TopicEdit, bootstrap_servers: str) -> str:
    added: Mapping[str, str] = {} if kept.typed == DEFAULT else {kept.setting.name: kept.typed}
    deleted = [kept.setting.name] if kept.typed == DEFAULT else []
    return configs_command(bootstrap_servers, {"topic": kept.topic}, added, deleted)
