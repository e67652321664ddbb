"""Chooses the log that needs cleaning most, cleans it, and goes on when that fails (KIP-346).

A log whose pass fails is quarantined with the reason, until it is released or the broker starts again; the others are
cleaned as before. A full disk is no fault of a log: it is tried again.
"""

import errno
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.compaction.checkpoint import CleanerCheckpoint
from broker.log.compaction.cleaner import CleanerPass
from broker.log.compaction.log_to_clean import LogToClean, is_closed
from broker.log.compaction.pass_stats import PassStats
from broker.log.compaction.plan import CompactionPlan, choose_filthiest, plan_compaction
from broker.log.compaction.segment_notes import cut_segment_note, remove_segment_note, write_segment_note
from broker.log.compaction.settings import CleanerSettings, CleaningStopped

_DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT}

_log = logger(__name__)


class LogCleaner:
    """One per broker; blocks, so it is for a worker thread, and for one at a time."""

    def __init__(self, settings: CleanerSettings):
        #: May be replaced at any time; the next pass goes by them.
        self.settings = settings
        self._checkpoints: dict[Path, CleanerCheckpoint] = {}
        self._uncleanable: dict[TopicPartition, str] = {}
        #: How far the plan went of each log whose last pass cleaned nothing: a transaction is open there whose marker
        #: lies in no sealed segment yet.
        self._waiting: dict[TopicPartition, int] = {}

    @property
    def uncleanable(self) -> Mapping[TopicPartition, str]:
        """Quarantined partitions, and why. A live, read-only view; safe on another thread."""
        return MappingProxyType(self._uncleanable)

    def plan(self, target: LogToClean) -> CompactionPlan:
        """Plan what a pass would rewrite now, under `target.config`. Raises ApiError(CORRUPT_MESSAGE), OSError."""
        first_dirty_offset = self._checkpoint(target).first_dirty_offset(
            target.partition, target.log_start_offset, target.active_base_offset
        )
        facts = target.facts(first_dirty_offset)
        now_ms = self.settings.clock.now_ms()
        return plan_compaction(facts, first_dirty_offset, target.end_offset_max, target.config, now_ms)

    def preview(self, target: LogToClean) -> PassStats:
        """Count what a pass would drop now, by the same code, without writing.

        Raises ApiError(CORRUPT_MESSAGE), OSError, CleaningStopped.
        """
        now_ms = self.settings.clock.now_ms()
        return CleanerPass(target, self.plan(target), self.settings, now_ms, is_dry=True).run()

    def clean_filthiest(self, targets: Iterable[LogToClean]) -> PassStats | None:
        """Clean the one of the compacted logs `targets` that needs it most.

        None if none is due, or the pass did not come to its end: why is logged, and in `uncleanable` if it was the
        log's fault. Raises CleaningStopped if the cleaner was told to stop.
        """
        candidates = {target.partition: target for target in targets if target.partition not in self._uncleanable}
        plans = {partition: self._plan_or_quarantine(target) for partition, target in candidates.items()}
        due = {item: plan for item, plan in plans.items() if plan and not self._waits(item, plan)}
        chosen = choose_filthiest(due)
        return None if chosen is None else self.clean(candidates[chosen], due[chosen])

    def clean(self, target: LogToClean, plan: CompactionPlan) -> PassStats | None:
        """Carry `plan` out, due or not; otherwise as `clean_filthiest`."""
        try:
            stats = CleanerPass(target, plan, self.settings, self.settings.clock.now_ms()).run()
            self._note_pass(target, stats.end_offset)
        except Exception as error:
            self._note_failure(target, error)
            return None
        if stats.end_offset > plan.first_dirty_offset:
            self._waiting.pop(target.partition, None)
        else:
            self._waiting[target.partition] = plan.end_offset
        _log.info("log compacted", **stats.facts())
        return stats

    def _note_pass(self, target: LogToClean, end_offset: int) -> None:
        """Note what a pass to `end_offset` has left, unless the log is another one now, or was cut. Raises OSError."""

        def is_changed() -> bool:
            return target.is_cut or is_closed(target.log)

        if not is_changed():
            write_segment_note(target.log.directory, end_offset, target.log.segments[:-1])
        if is_changed():
            remove_segment_note(target.log.directory)
        self._checkpoint(target).advance(target.partition, end_offset, unless=is_changed)

    def _waits(self, partition: TopicPartition, plan: CompactionPlan) -> bool:
        """Return whether a pass would read all that it read last time, and clean nothing again."""
        return self._waiting.get(partition) == plan.end_offset

    def release(self, partition: TopicPartition) -> None:
        """Take it out of quarantine."""
        self._uncleanable.pop(partition, None)
        self._waiting.pop(partition, None)

    def truncate(self, log_dir: Path, ends: Mapping[TopicPartition, int]) -> None:
        """Forget damage before logs are truncated at these offsets, deleted or made (0): it may be gone too.

        On any thread, whether a pass is under way or not. Raises OSError.
        """
        for partition, end_offset in ends.items():
            self.release(partition)
            cut_segment_note(log_dir / str(partition), end_offset)
        self._checkpoint_of(log_dir).truncate(ends)

    def _plan_or_quarantine(self, target: LogToClean) -> CompactionPlan | None:
        try:
            return self.plan(target)
        except Exception as error:
            self._note_failure(target, error)
            return None

    def _note_failure(self, target: LogToClean, error: Exception) -> None:
        """Note a failed pass and quarantine the log if the failure is its own."""
        partition = str(target.partition)
        if isinstance(error, CleaningStopped) or _explains(target, error):
            self.settings.refuse_if_stopping()
            _log.info("compaction stopped", partition=partition, reason=str(error))
        elif isinstance(error, OSError) and error.errno in _DISK_IS_FULL:
            _log.error("no room for compaction", partition=partition, reason=str(error))
        else:
            reason = error.message if isinstance(error, ApiError) else f"{type(error).__name__}: {error}"
            self._uncleanable[target.partition] = reason
            _log.error("partition will not be compacted", partition=partition, reason=reason, exc_info=error)

    def _checkpoint(self, target: LogToClean) -> CleanerCheckpoint:
        return self._checkpoint_of(target.log.directory.parent)

    def _checkpoint_of(self, log_dir: Path) -> CleanerCheckpoint:
        checkpoint = self._checkpoints.get(log_dir)
        return (
            checkpoint if checkpoint is not None else self._checkpoints.setdefault(log_dir, CleanerCheckpoint(log_dir))
        )


def _explains(target: LogToClean, error: Exception) -> bool:
    """Return whether the owner's doings since the pass began are the reason.

    Under the name of a log that was closed there may be another one by now, or none; of one that is open segments may
    have been dropped, or cut short while they were read.
    """
    if is_closed(target.log) or target.is_cut:
        return True
    here = set(target.log.segments)
    return isinstance(error, FileNotFoundError) and any(segment not in here for segment in target.sealed)
