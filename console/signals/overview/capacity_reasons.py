"""Clients held back by a quota, a replication throttle left on, and volumes that fill: as sentences. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from console.kit.common.figures import duration, grouped, size
from console.signals.overview.capacity import FillingVolume, HeldQuota, LeftThrottle
from console.signals.overview.health import HealthLevel, HealthReason
from console.signals.overview.next_action import NextAction

#: Shorter is a burst that a quota is there for.
HELD_MIN_MS = 180_000
#: A volume that is full sooner is critical, or a warning: growth over minutes and hours says nothing of weeks.
SOON_MS, COMING_MS = 4 * 3_600_000, 24 * 3_600_000
#: So soon counts though the volume has not been watched for long.
AT_ONCE_MS = 3_600_000
#: Of what all brokers of a host say of one volume; writes go on between their answers.
SAME_VOLUME_SHARE = 0.01
_NAMED_MAX, _NAME_LENGTH_MAX = 3, 60


@dataclass(frozen=True, slots=True)
class WatchedVolume:
    """A broker's log directory, the room on its volume, and the bytes per second by which that shrinks."""

    broker_id: int
    host: str
    path: str
    total_bytes: int
    usable_bytes: int
    filling_per_second: float | None
    long_filling_per_second: float | None

    @property
    def full_in_ms(self) -> int | None:
        """Return the time until the volume is full, by its growth over minutes and over hours; None: it does not fill.

        Retention deletes a segment at a time, so growth over minutes alone counts only if it fills within the hour.
        """
        soon_ms, later_ms = self._full_in_ms(self.filling_per_second), self._full_in_ms(self.long_filling_per_second)
        if soon_ms is None or soon_ms < AT_ONCE_MS:
            return soon_ms
        return None if later_ms is None else max(soon_ms, later_ms)

    def _full_in_ms(self, per_second: float | None) -> int | None:
        return round(1_000 * self.usable_bytes / per_second) if per_second and per_second > 0 else None

    def is_volume_of(self, other: "WatchedVolume") -> bool:
        near = abs(self.usable_bytes - other.usable_bytes) <= SAME_VOLUME_SHARE * self.total_bytes
        return self.host == other.host and self.total_bytes == other.total_bytes and near


def filling_volumes(watched: Iterable[WatchedVolume]) -> list[FillingVolume]:
    """Return the volumes that are full within a day, each once, however many brokers and directories are on it."""
    volumes: list[list[WatchedVolume]] = []
    for directory in watched:
        same = next((volume for volume in volumes if directory.is_volume_of(volume[0])), None)
        if same is None:
            volumes.append([directory])
        else:
            same.append(directory)
    reasons = []
    for volume in volumes:
        full = [full_ms for directory in volume if (full_ms := directory.full_in_ms) is not None]
        if full and min(full) < COMING_MS:
            broker_ids = tuple(sorted({directory.broker_id for directory in volume}))
            reasons.append(FillingVolume(broker_ids, volume[0].path, volume[0].usable_bytes, min(full)))
    return reasons


def filling_reasons(volumes: Iterable[FillingVolume]) -> Iterable[HealthReason]:
    for volume in volumes:
        brokers = _brokers(volume.broker_ids)
        text = f"The volume of {brokers} is full in {duration(volume.full_in_ms)} if it goes on filling like this"
        text += f": topic {_short(volume.topic)} grows most." if volume.topic else "."
        evidence = f"{volume.path}: {size(volume.usable_bytes)} left"
        if volume.topic_per_second:
            evidence += f" · topic {_short(volume.topic)} grows by about {size(round(volume.topic_per_second))}/s"
        if volume.topic:
            action = NextAction(
                "Shorten the topic's retention, or throttle its producers", "topic-retention", volume.topic
            )
        else:
            action = NextAction("See what fills it", "broker-directories", str(volume.broker_ids[0]))
        level = HealthLevel.CRITICAL if volume.full_in_ms < SOON_MS else HealthLevel.WARNING
        yield HealthReason(
            level,
            brokers.capitalize(),
            text,
            action,
            evidence,
            key=f"filling:{volume.broker_ids[0]}:{volume.path[:400]}",
        )


def quota_reasons(held: Iterable[HeldQuota], now_ms: int) -> Iterable[HealthReason]:
    for quota in held:
        held_ms = now_ms - quota.since_ms
        if held_ms < HELD_MIN_MS:
            continue
        name = _short(quota.words)
        text = f"A quota holds back {name}: {quota.label.lower()} may use {quota.limit} of each broker."
        who = "; ".join(quota.clients[:_NAMED_MAX])
        more = len(quota.clients) - _NAMED_MAX
        who += f" and {grouped(more)} more" if more > 0 else ""
        evidence = f"held back for {duration(held_ms)}: {who}"
        action = NextAction("Raise or remove the quota, or have the client send less", "quotas", query=quota.query)
        key = f"quota:{quota.label}:{quota.words[:200]}"
        yield HealthReason(HealthLevel.WARNING, "Quota", text, action, evidence, quota.since_ms, key, cause=quota.cause)


def throttle_reasons(throttle: LeftThrottle | None) -> Iterable[HealthReason]:
    if throttle is None:
        return
    topics = ", ".join(_short(topic) for topic in throttle.topics[:_NAMED_MAX])
    more = len(throttle.topics) - _NAMED_MAX
    topics += f" and {grouped(more)} more topics" if more > 0 else ""
    owners = _brokers(throttle.broker_ids) if throttle.broker_ids else "all brokers"
    copy = "copies" if len(throttle.broker_ids) == 1 else "copy"
    text = (
        f"A replication throttle was left on: {owners} {copy} replicas of {topics} at no more than "
        f"{size(throttle.bytes_per_second)}/s, and no reassignment runs."
    )
    if throttle.behind_count:
        behind = throttle.behind_count
        text += f" {grouped(behind)} of their partitions {'lags' if behind == 1 else 'lag'} and cannot catch up faster."
    broker_id = throttle.broker_ids[0] if throttle.broker_ids else None
    step = "Remove leader. and follower.replication.throttled.rate, and the topics' throttled.replicas"
    action = (
        NextAction(step, "broker-settings", str(broker_id)) if broker_id is not None else NextAction(step, "brokers")
    )
    evidence = "leader/follower.replication.throttled.rate of the brokers, …throttled.replicas of the topics"
    yield HealthReason(
        HealthLevel.WARNING, "Replication throttle", text, action, evidence, throttle.since_ms, "replication throttle",
        parts=throttle.topics, cause=throttle.cause,
    )  # fmt: skip


def _brokers(broker_ids: Iterable[int]) -> str:
    ids = [str(broker_id) for broker_id in broker_ids]
    return f"broker {ids[0]}" if len(ids) == 1 else f"brokers {', '.join(ids[:-1])} and {ids[-1]}"


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH_MAX else f"{name[:_NAME_LENGTH_MAX]}…"
