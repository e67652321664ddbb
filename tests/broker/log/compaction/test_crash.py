"""The process dies at any step of a pass: what was written, renamed or removed until then is all that is left."""

import itertools
import os
import shutil
from contextlib import suppress
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from broker.log.compaction.swap import finish_swaps
from broker.records.batch import iterate_headers
from tests.broker.log.death import Death, Died
from tests.examples import some


@pytest.fixture(scope="module")
def template(tmp_path_factory, new_compacted):
    """Two groups of two segments, with superseded records, tombstones of both and segments that lose all they have."""
    compacted = new_compacted(tmp_path_factory.mktemp("template") / "t-0")
    for number in range(10):
        compacted.append((b"k%d" % (number % 3), b"%d" % number + b"." * 90), (b"only %d" % number, b"x"))
    compacted.append((b"k1", None), (b"only 3", None))
    compacted.seal()
    compacted.append((b"k0", b"young"), (b"only 4", None))
    compacted.seal()
    compacted.append((b"k2", b"young"), (b"only 5", b"y"))
    compacted.seal()
    compacted.config = compacted.log.config = replace(compacted.config, segment_bytes=2_000)
    plan = compacted.cleaner.plan(compacted.target())
    assert [len(group) for group in plan.groups] == [2, 2], [s.size_bytes for s in compacted.log.segments]
    compacted.log.flush()
    compacted.log.close()
    return compacted


def dying_pass(template, new_compacted, directory, at: int):
    """(the log as it was left, whether the pass came to its end)."""
    shutil.copytree(template.directory, directory)
    compacted = new_compacted(directory, config=template.config, written=list(template.written))
    with pytest.MonkeyPatch.context() as monkeypatch:
        death = Death(monkeypatch, at)
        with suppress(Died):
            compacted.clean()
    return compacted, not death.is_dead


def living(values: dict) -> dict:
    return {key: value for key, value in values.items() if value is not None}


def check(compacted) -> None:
    """Nothing is lost, nothing comes back, and nothing has become anything else."""
    records = compacted.records()
    assert all((record.key, record.value) == compacted.written[record.offset] for record in records)
    assert [record.offset for record in records] == sorted({record.offset for record in records})
    assert living(compacted.values()) == living(dict(compacted.written))
    assert compacted.log.log_end_offset == len(compacted.written)


def test_death_at_any_step_of_a_pass_loses_nothing(template, new_compacted, tmp_path):
    for at in some(itertools.count(1)):
        compacted, is_done = dying_pass(template, new_compacted, tmp_path / f"{at}" / "t-0", at)
        compacted.open()
        assert not [p for p in compacted.directory.iterdir() if p.suffix in (".cleaned", ".swap", ".deleted", ".tmp")]
        check(compacted)
        compacted.cleaner = compacted.new_cleaner()
        compacted.clock.advance(10**6)
        compacted.append((b"k0", b"after"))
        compacted.seal()
        assert compacted.clean() is not None
        check(compacted)
        if is_done:
            break
    assert at > 40, "a pass has that many steps"


def test_new_segment_is_on_disk_before_it_counts(template, new_compacted, tmp_path, monkeypatch):
    """Against the death of the machine: what `.swap` promises has been fsynced, and so has the name itself."""
    shutil.copytree(template.directory, tmp_path / "t-0")
    compacted = new_compacted(tmp_path / "t-0", config=template.config, written=list(template.written))
    steps, fsync, move = [], os.fsync, os.replace

    def note_fsync(fd):
        steps.append(("fsync", os.readlink(f"/proc/self/fd/{fd}").rpartition("/")[2]))
        fsync(fd)

    def note_move(source, target):
        steps.append(("move", str(target).rpartition("/")[2]))
        move(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_move)
    compacted.clean()
    name = f"{compacted.log.segments[0].base_offset:020d}"
    swap, old, final = (steps.index(("move", f"{name}.log{suffix}")) for suffix in (".swap", ".deleted", ""))
    assert {("fsync", f"{name}.log.cleaned"), ("fsync", f"{name}.timeindex.cleaned")} <= set(steps[:swap])
    assert ("fsync", "leader-epoch-checkpoint") in steps[:swap], "the batches that tell of epochs may be gone then"
    assert ("fsync", "t-0") in steps[swap:old]
    assert old < final
    assert ("fsync", "t-0") in steps[final:]


def test_death_while_finishing_is_finished_by_the_next_start(template, new_compacted, tmp_path):
    """Wherever the pass died during its first exchange, and wherever the start after it died."""
    swaps = 0
    for at in range(1, 200):
        died = tmp_path / f"{at}" / "t-0"
        compacted, _ = dying_pass(template, new_compacted, died, at)
        if not list(died.glob("*.log.swap")):
            if swaps:
                break
            continue
        swaps += 1
        die_while_finishing(compacted, died)
    assert swaps > 6


def die_while_finishing(compacted, died) -> None:
    for at in some(itertools.count(1)):
        compacted.directory = died.with_name(f"again-{at}")
        shutil.copytree(died, compacted.directory)
        with pytest.MonkeyPatch.context() as monkeypatch:
            death = Death(monkeypatch, at)
            with suppress(Died):
                finish_swaps(compacted.directory)
        compacted.open()
        check(compacted)
        if not death.is_dead:
            return


@pytest.fixture(scope="module")
def swaps_left(template, new_compacted, tmp_path_factory):
    """Logs whose pass died with a `.swap` log and, or not any more, the first segment that it replaces."""
    results, directory = {}, tmp_path_factory.mktemp("swaps")
    for at in range(1, 200):
        died = directory / f"{at}" / "t-0"
        dying_pass(template, new_compacted, died, at)
        for swap in died.glob("*.log.swap"):
            results.setdefault(swap.with_suffix("").exists(), swap)
        if len(results) == 2:
            return results
    raise AssertionError("no step leaves that")


@pytest.fixture
def swap_left(template, new_compacted, swaps_left, tmp_path):
    """swap_left(is_old_there=…): a copy of the log, and its `.swap`."""

    def copied(*, is_old_there: bool):
        swap, directory = swaps_left[is_old_there], tmp_path / "t-0"
        shutil.copytree(template.directory, directory)
        compacted = new_compacted(directory, config=template.config, written=list(template.written))
        shutil.rmtree(directory)  # whose opening would have ended the exchange
        shutil.copytree(swap.parent, directory)
        return compacted, directory / swap.name

    return copied


@pytest.mark.parametrize("is_old_there", [True, False], ids=["before", "after the old one was renamed"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_damaged_swap_is_set_aside_and_what_it_replaced_stays(swap_left, is_old_there, damage):
    """Set aside, because what it replaced may have been removed by the same hand."""
    compacted, swap = swap_left(is_old_there=is_old_there)
    content = bytearray(swap.read_bytes())
    if damage == "flipped":
        content[-1] ^= 0xFF
    content = {"cut": content[:-5], "empty": b""}.get(damage, content)
    swap.write_bytes(content)
    compacted.open()
    check(compacted)
    assert [(r.key, r.value) for r in compacted.records()] == compacted.written
    (kept_in,) = compacted.directory.parent.glob("t-0.*-stray")
    assert (kept_in / swap.name).read_bytes() == content


def test_a_swap_that_ends_between_two_batches_before_what_it_replaces_is_damaged(swap_left):
    """As a copy that was made in part."""
    compacted, swap = swap_left(is_old_there=True)
    content = swap.read_bytes()
    swap.write_bytes(content[: [at for at, _ in iterate_headers(content)][1]])
    compacted.open()
    check(compacted)
    assert [(r.key, r.value) for r in compacted.records()] == compacted.written
    assert len(list(compacted.directory.parent.glob("t-0.*-stray"))) == 1


@pytest.mark.parametrize("is_index_renamed", [False, True])
def test_a_swap_that_is_lost_has_what_it_replaced_put_back(swap_left, is_index_renamed):
    """Its log was removed by hand, or was not restored: the indexes are left, and the old segments as `.deleted`."""
    compacted, swap = swap_left(is_old_there=False)
    swap.unlink()
    for index in compacted.directory.glob("*index.swap"):
        if is_index_renamed:
            index.rename(index.with_suffix(""))
    with capture_logs() as lines:
        compacted.open()
    check(compacted)
    assert [(r.key, r.value) for r in compacted.records()] == compacted.written
    assert [line["event"] for line in lines if line["log_level"] == "error"] == [
        "compacted segment lost, what it replaced was put back"
    ]


def test_a_segment_that_was_cut_off_is_not_put_back_where_the_next_one_was_being_made(tmp_path):
    """Its records may be others than the leader's."""
    for name in ("00000000000000000000.log", "00000000000000000007.log.deleted", "00000000000000000007.index"):
        (tmp_path / name).touch()
    finish_swaps(tmp_path)
    assert not list(tmp_path.glob("00000000000000000007.log*"))


def test_remains_of_an_earlier_exchange_are_not_put_back(swap_left):
    """They are covered by the segment that took their place then, which is what the damaged one would have replaced."""
    compacted, swap = swap_left(is_old_there=False)
    swap.write_bytes(b"")
    base_offset = int(swap.name.partition(".")[0])
    old = compacted.directory / f"{base_offset:020d}.log.deleted"
    shutil.copy(old, old.with_name(f"{base_offset + 1:020d}.log.deleted"))
    compacted.open()
    check(compacted)
    assert not (compacted.directory / f"{base_offset + 1:020d}.log").exists()


def test_files_that_stand_for_nothing_are_removed(tmp_path):
    (tmp_path / "00000000000000000007.log").write_bytes(b"kept")
    for base_offset, names in {
        5: ("log.cleaned", "index.cleaned", "log.deleted", "timeindex.deleted"),
        6: ("index.swap", "timeindex.swap"),
        7: ("index.swap", "timeindex.swap", "log.cleaned", "log.deleted"),
    }.items():
        for name in names:
            (tmp_path / f"{base_offset:020d}.{name}").write_bytes(b"x")
    finish_swaps(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["00000000000000000007.log"]
