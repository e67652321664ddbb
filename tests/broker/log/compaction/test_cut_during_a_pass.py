"""The owner cuts the log while a pass reads, writes or exchanges: the pass ends, nothing that was cut comes back."""

import itertools
import shutil

import pytest

from broker.log.compaction.checkpoint import CLEANER_OFFSET_CHECKPOINT, CleanerCheckpoint
from broker.log.compaction.cleaner import CleanerPass
from broker.log.compaction.log_cleaner import LogCleaner
from broker.log.compaction.settings import CleanerSettings
from broker.log.log import Log
from tests.broker.log.compaction.conftest import PARTITION, CompactedLog
from tests.examples import some


class Interruption:
    """Cuts the log at `offset` after the `nth` step of the cleaner; keeps what a stop right then would have left."""

    def __init__(self, compacted: CompactedLog, nth: int, offset: int):
        self.has_happened = False
        self.left_behind = compacted.directory.parent / "left behind" / "t-0"
        self._compacted, self._steps_left, self._offset = compacted, nth, offset

    def cleaner(self) -> LogCleaner:
        def on_owner(step) -> None:
            step()
            self._count()

        return LogCleaner(
            CleanerSettings(
                clock=self._compacted.clock,
                on_owner=on_owner,
                sleep=lambda seconds: self._count(),
            )
        )

    def _count(self) -> None:
        self._steps_left -= 1
        if not self._steps_left:
            self.has_happened = True
            self._compacted.log.truncate_to(self._offset)
            shutil.copytree(self._compacted.directory, self.left_behind)


@pytest.fixture(scope="module")
def template(tmp_path_factory, new_compacted):
    """Five sealed segments of a few keys, again and again."""
    compacted = new_compacted(tmp_path_factory.mktemp("template") / "t-0")
    while len(compacted.log.segments) < 6:
        offset = len(compacted.written)
        compacted.append((b"k%d" % (offset % 5), b"%d" % offset + b"." * 60), (b"only %d" % offset, b"x"))
    compacted.log.flush()
    compacted.log.close()
    return compacted


def interrupted(template, new_compacted, directory, nth: int, offset: int, committed: int):
    """(the log after a pass below `committed` that was interrupted, the interruption)."""
    shutil.copytree(template.directory, directory)
    compacted = new_compacted(directory, written=list(template.written))
    interruption = Interruption(compacted, nth, offset)
    compacted.cleaner = interruption.cleaner()
    compacted.log.before_cut = lambda end_offset, log_start_offset: compacted.cleaner.truncate(
        directory.parent, {PARTITION: end_offset}
    )
    compacted.clean(end_offset_max=committed)
    return compacted, interruption


def check(compacted: CompactedLog, end: int, committed: int) -> None:
    """Every record is what was written there, and what is committed is not lost."""
    compacted.written = compacted.written[:end]
    records = compacted.records()
    assert compacted.log.log_end_offset == end
    assert all((record.key, record.value) == compacted.written[record.offset] for record in records)
    if committed <= end:
        assert compacted.values() == dict(compacted.written)


@pytest.mark.parametrize("is_unclean", [False, True], ids=["beyond what is committed", "of what is committed"])
def test_cut_at_any_step_of_a_pass(template, new_compacted, tmp_path, is_unclean):
    bounds = [segment.base_offset for segment in template.log.segments]
    committed = bounds[4]
    offset = bounds[1] + 4 if is_unclean else committed + 2
    for nth in some(itertools.count(1)):
        directory = tmp_path / f"{nth}" / "t-0"
        compacted, interruption = interrupted(template, new_compacted, directory, nth, offset, committed)
        if not interruption.has_happened:
            break
        end = compacted.log.log_end_offset
        assert offset - 1 <= end <= offset
        assert compacted.cleaner.uncleanable == {}
        assert not [path for path in directory.iterdir() if path.suffix in (".cleaned", ".swap")]
        noted = CleanerCheckpoint(directory.parent).first_dirty_offset(PARTITION, 0, 10**9)
        assert noted <= end
        check(compacted, end, committed)
        check(new_compacted(interruption.left_behind, written=list(template.written)), end, committed)
        compacted.cleaner = compacted.new_cleaner()
        compacted.append((b"k0", b"after"))
        compacted.seal()
        assert compacted.clean() is not None
        compacted.open()
        assert compacted.values()[b"k0"] == b"after"
    assert nth > 50, "a pass has that many steps"


def test_log_deleted_at_the_end_of_a_pass_is_not_noted_as_clean(template, new_compacted, tmp_path, monkeypatch):
    shutil.copytree(template.directory, tmp_path / "t-0")
    compacted = new_compacted(tmp_path / "t-0", written=list(template.written))
    run = CleanerPass.run

    def run_and_delete(cleaner_pass):
        stats = run(cleaner_pass)
        compacted.log.close()
        compacted.cleaner.truncate(tmp_path, {PARTITION: 0})
        return stats

    monkeypatch.setattr(CleanerPass, "run", run_and_delete)
    compacted.clean()
    assert not (tmp_path / CLEANER_OFFSET_CHECKPOINT).exists()


def test_pass_that_ended_after_a_cut_does_not_note_how_far_it_came(template, new_compacted, tmp_path):
    shutil.copytree(template.directory, tmp_path / "t-0")
    compacted = new_compacted(tmp_path / "t-0", written=list(template.written))
    target = compacted.target()
    plan = compacted.cleaner.plan(target)
    stats = compacted.cleaner.preview(target)
    assert stats.end_offset > 10
    checkpoint = CleanerCheckpoint(tmp_path)
    compacted.log.truncate_to(10)
    checkpoint.advance(PARTITION, stats.end_offset, unless=lambda: target.is_cut)
    assert compacted.cleaner.clean(target, plan) is None
    assert compacted.cleaner.uncleanable == {}
    assert not (tmp_path / CLEANER_OFFSET_CHECKPOINT).exists()


def test_what_is_appended_after_a_cut_that_follows_the_exchange_stays(tmp_path, new_compacted, monkeypatch):
    """The end mark of the exchange is gone by then: cut off later, it would take along what the owner has written."""
    compacted = new_compacted(tmp_path / "t-0")
    while len(compacted.log.segments) < 4:
        offset = compacted.append((b"only %d" % len(compacted.written), b"." * 60))
        compacted.append((b"same", b"%d" % offset + b"." * 60))
    replace_segments, steps = Log.replace_segments, []

    def on_owner(step) -> None:
        step()
        if steps.count("replaced") == 1:
            steps.append("cut")
            cleaned = compacted.log.segments[0]
            *_, (_, last) = cleaned.batches()
            compacted.log.truncate_to(last.base_offset)
            del compacted.written[last.base_offset :]
            compacted.append((b"after", b"!" * 300))

    def noting(log: Log, *arguments) -> None:
        replace_segments(log, *arguments)
        steps.append("replaced")

    monkeypatch.setattr(Log, "replace_segments", noting)
    settings = CleanerSettings(compacted.clock, on_owner=on_owner, sleep=lambda seconds: None)
    cleaner = LogCleaner(settings)
    target = compacted.target()
    cleaner.clean(target, cleaner.plan(target))
    assert "cut" in steps
    assert compacted.values()[b"after"] == b"!" * 300
    compacted.open()
    assert compacted.values()[b"after"] == b"!" * 300, "it is on disk"
