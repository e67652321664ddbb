"""Segments, settings and commits of the cluster in memory, and the rules a broker deletes by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from broker.common.errors import ErrorCode
from broker.config.definition import ConfigError
from broker.config.topic import BY_NAME, check_topic_configs
from console.kit.gateway.errors import refusal
from console.kit.gateway.interface import PartitionView
from console.kit.gateway.records.interface import RecordView
from console.kit.gateway.retention.interface import DoomedSegment, PartitionRetention, RetentionView, SettingView
from console.kit.gateway.topics.settings import setting_view


@dataclass(frozen=True, slots=True)
class FakeSegment:
    first_offset: int
    last_offset: int
    size_bytes: int
    newest_at_ms: int


@dataclass
class FakeTopicState:
    """What a topic has beside its partitions: its own settings, and segments by partition, oldest first."""

    configs: dict[str, str] = field(default_factory=dict)
    segments: dict[int, list[FakeSegment]] = field(default_factory=dict)
    #: (partition, offset) → what was produced there by the console.
    records: dict[tuple[int, int], RecordView] = field(default_factory=dict)

    def settings(self) -> tuple[SettingView, ...]:
        return tuple(
            setting_view(name, self.configs.get(name, _default(name)), "topic" if name in self.configs else "default")
            for name in sorted(BY_NAME)
        )

    @property
    def watched(self) -> dict[str, Any]:
        """The settings that come with a look at the topics, by the names of TopicView."""
        values = {setting.name: setting.value for setting in self.settings()}
        return {
            "min_insync_replicas": int(values["min.insync.replicas"]),
            "retention_ms": int(values["retention.ms"]),
            "cleanup_policy": values["cleanup.policy"],
            "own_settings": tuple(sorted(self.configs.items())),
        }

    def record_at(self, partition: int, offset: int) -> RecordView | None:
        """What was produced there; a record that a test only counted is its number in its segment, as text."""
        if (partition, offset) in self.records:
            return self.records[partition, offset]
        for segment in self.segments.get(partition, ()):
            if segment.first_offset <= offset <= segment.last_offset:
                return RecordView(
                    partition, offset, segment.newest_at_ms, None, b"%d" % (offset - segment.first_offset)
                )
        return None

    def with_changes(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        merged = {**self.configs, **changes}
        configs = {name: value for name, value in merged.items() if value is not None}
        try:
            check_topic_configs(configs)
        except ConfigError as error:
            raise refusal(ErrorCode.INVALID_CONFIG, error.message or "") from error
        return configs

    def preview(self, partitions: tuple[PartitionView, ...], changes: Mapping[str, str | None], now_ms: int):
        configs = self.with_changes(changes)
        policy = configs.get("cleanup.policy", "delete")
        age = int(configs.get("retention.ms", _default("retention.ms")))
        room = int(configs.get("retention.bytes", _default("retention.bytes")))
        limits = (age, room) if "delete" in policy else (-1, -1)
        previews = tuple(
            _preview(partition, self.segments.get(partition.partition, []), limits, now_ms) for partition in partitions
        )
        return RetentionView(policy, age, room, previews)


def _preview(view: PartitionView, segments: list[FakeSegment], limits: tuple[int, int], now_ms: int):
    if view.leader is None:
        return PartitionRetention(view.partition, "there is no leader for this partition")
    doomed = _doomed(segments, limits, now_ms)
    return PartitionRetention(
        partition=view.partition,
        first_offset=view.first_offset or 0,
        new_first_offset=doomed[-1].last_offset + 1 if doomed else view.first_offset or 0,
        next_offset=view.next_offset or 0,
        segment_count=len(segments),
        size_bytes=sum(segment.size_bytes for segment in segments),
        deleted_segments=len(doomed),
        deleted_bytes=sum(item.size_bytes for item in doomed),
        deleted_records=sum(segment.last_offset - segment.first_offset + 1 for segment in doomed),
        segments=tuple(doomed),
    )


def _doomed(segments: list[FakeSegment], limits: tuple[int, int], now_ms: int) -> list[DoomedSegment]:
    """The oldest as long as they are too old or what stays without them still fills the room."""
    age, room = limits
    size, doomed = sum(segment.size_bytes for segment in segments), []
    for segment in segments:
        if age >= 0 and now_ms - segment.newest_at_ms > age:
            reason = "retention.ms"
        elif room >= 0 and size - segment.size_bytes >= room:
            reason = "retention.bytes"
        else:
            break
        size -= segment.size_bytes
        doomed.append(
            DoomedSegment(segment.first_offset, segment.last_offset, segment.size_bytes, segment.newest_at_ms, reason)
        )
    return doomed


def _default(name: str) -> str:
    return BY_NAME[name].default_text or ""
