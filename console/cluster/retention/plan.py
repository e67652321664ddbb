"""A change of a topic's retention as a plan: old and new values, what goes, who loses unread records. Pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.cluster.topics.settings_plan import RETENTION_KEYS
from console.kit.gateway.retention.interface import CommittedView, RetentionView, SettingView
from console.kit.plans.plan import PlanLine
from console.kit.plans.setting import DEFAULT, SettingsPlan, configs_command


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A setting's value on one side of a change, for its words: `(7 d)`."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A changed setting; `new` is None if the topic's own value is removed and the default applies."""

    name: str
    old: str | None
    old_source: str
    new: str | None

    @property
    def undo(self) -> str:
        """The command that restores the old value."""
        return self.old if self.old_source == "topic" and self.old is not None else DEFAULT

    @property
    def before(self) -> NamedValue:
        return NamedValue(self.name, self.old)

    @property
    def after(self) -> NamedValue:
        return NamedValue(self.name, self.new)


@dataclass(frozen=True, slots=True)
class UnreadLoss:
    """Records a group has not read and never will."""

    group: str
    partitions: int
    records: int


@dataclass(frozen=True, slots=True)
class RetentionTotals:
    segments: int
    segment_count: int
    size_bytes: int
    total_bytes: int
    records: int
    #: Records a pass of compaction would drop.
    compacted_records: int
    unknown_partitions: int


def change_plan(
    topic: str,
    settings: Iterable[SettingView],
    changes: Iterable[SettingDifference],
    loses_records: bool,
    bootstrap_servers: str,
    loses_later: bool = False,
    topic_id: str = "",
) -> SettingsPlan:
    """Return the plan that is shown, confirmed and kept. `loses_records`: it deletes what would stay otherwise, at
    once; `loses_later`: as soon as a segment rolls or nothing is written for a while.
    """
    changes = tuple(changes)
    known = {setting.name: setting for setting in settings}
    lost = _loss_sentences(loses_records, loses_later)
    is_shorter = not lost and any(map(_keeps_less, changes))
    return SettingsPlan(
        wanted={change.name: change.new for change in changes},
        action="change retention",
        object_type="topic",
        object_name=topic,
        lines=tuple(
            PlanLine(
                change.name,
                change.old if change.old_source == "topic" else DEFAULT,
                DEFAULT if change.new is None else change.new,
            )
            for change in changes
        ),
        read=(
            topic_id,
            *(f"{name}={known[name].value}@{known[name].source}" for name in RETENTION_KEYS if name in known),
        ),
        touches=("Records go earlier than they would without the change, none of them at once.",) if is_shorter else (),
        losses=lost,
        safe_because="" if is_shorter else "No record is deleted that would stay without the change.",
        undo="the old values can be put back; records that were deleted by then stay deleted.",
        command=_command(topic, changes, bootstrap_servers),
        typed_name=topic if loses_records or loses_later else "",
    )


def _keeps_less(change: SettingDifference) -> bool:
    """Return whether records may go that would stay under the old value, or nobody can say: a default is not known."""
    if change.old is None or change.new is None:
        return True
    if change.name == "cleanup.policy":
        return not _policies(change.new) <= _policies(change.old)
    try:
        return _limit(change.new) < _limit(change.old)
    except ValueError:
        return True


def _policies(text: str) -> set[str]:
    return {policy.strip() for policy in text.split(",")}


def _limit(text: str) -> float:
    return math.inf if text == "-1" else float(text)


def _loss_sentences(at_once: bool, later: bool) -> tuple[str, ...]:
    if at_once:
        return ("Records will be deleted, and cannot be brought back.",)
    if later:
        return (
            "Nothing more goes this moment, but records beyond the new limits lie in segments that stay only for now: "
            "they go when the segment rolls or nothing is written for a while, and cannot be brought back.",
        )
    return ()


def _command(topic: str, changes: Iterable[SettingDifference], bootstrap_servers: str) -> str:
    changes = list(changes)
    added = {change.name: change.new for change in changes if change.new is not None}
    removed = [change.name for change in changes if change.new is None]
    return configs_command(bootstrap_servers, {"topic": topic}, added, removed)


def differences(settings: Iterable[SettingView], wanted: Mapping[str, str]) -> tuple[SettingDifference, ...]:
    """Return what `wanted` (setting → typed text, blank to leave it) changes."""
    known = {setting.name: setting for setting in settings}
    setting_differences = []
    for name in RETENTION_KEYS:
        typed = wanted.get(name, "").strip()
        if not typed or name not in known:
            continue
        old = known[name]
        new = None if typed == DEFAULT else typed
        is_same = old.source != "topic" if new is None else (old.source == "topic" and old.value == new)
        if not is_same:
            setting_differences.append(SettingDifference(name, old.value, old.source, new))
    return tuple(setting_differences)


def totals(view: RetentionView) -> RetentionTotals:
    partitions = [partition for partition in view.partitions if not partition.error]
    return RetentionTotals(
        sum(retention.deleted_segments for retention in partitions),
        sum(retention.segment_count for retention in partitions),
        sum(retention.deleted_bytes for retention in partitions),
        sum(retention.size_bytes for retention in partitions),
        sum(retention.deleted_records for retention in partitions),
        sum(retention.compacted_records or 0 for retention in partitions),
        len(view.partitions) - len(partitions),
    )


def deletes_more(now: RetentionTotals, then: RetentionTotals) -> bool:
    """Return True if the change deletes at once what would stay otherwise, or nobody can say."""
    goes_now, goes_then = now.records + now.compacted_records, then.records + then.compacted_records
    return goes_then > goes_now or then.unknown_partitions > 0


def compacts_unseen(now: RetentionView, then: RetentionView) -> bool:
    """Return True if the change begins to compact where no broker previews what compaction drops."""
    return then.is_estimate and "compact" in then.cleanup_policy and "compact" not in now.cleanup_policy


def losses(view: RetentionView, committed: CommittedView) -> tuple[UnreadLoss, ...]:
    """Return groups whose committed offset is below the new log start, the greatest loss first.

    What lies below the log start of now is lost already and not counted.
    """
    starts = {partition.partition: partition.new_first_offset for partition in view.partitions if not partition.error}
    return losses_below(
        starts, {partition.partition: partition.first_offset for partition in view.partitions}, committed
    )


def losses_below(
    starts: Mapping[int, int], first: Mapping[int, int], committed: CommittedView
) -> tuple[UnreadLoss, ...]:
    """Return the losses as `losses` if each log started at `starts`; `first`: where it starts now."""
    losses = []
    for group, offsets in committed.offsets.items():
        lost = [start - max(offsets[item], first[item]) for item, start in starts.items() if item in offsets]
        lost = [count for count in lost if count > 0]
        if lost:
            losses.append(UnreadLoss(group, len(lost), sum(lost)))
    return tuple(sorted(losses, key=lambda loss: (-loss.records, loss.group)))
