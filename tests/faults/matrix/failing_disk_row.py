"""The system answers EIO: to writes, to fsyncs, to renames, in one log directory of a broker that has two."""

import shutil
import subprocess
from pathlib import Path

from tests.barnabas_cluster import BrokerProcess, await_true
from tests.faults.matrix.late_client import LateProducer
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

_SOURCE = Path(__file__).with_name("failing_disk.c")
_OPERATIONS = ("write", "fsync", "rename")
_BESIDE = "beside"
_RECORDS = 5
#: Something is written, fsynced and renamed in every directory all the time.
RESTLESS = {"log.flush.scheduler.interval.ms": "300", "log.flush.interval.ms": "300"}
TOLD = (
    'event="log directory offline".* reason="\\[Errno 5\\]',
    'event="(append failed|log not flushed|checkpoint not written|cannot host partition)"',
)


def missing() -> str:
    """What this machine lacks; nothing if it can play the row."""
    return "" if shutil.which("cc") else "a C compiler, called cc"


def fail_a_disk(stage: Stage) -> None:
    """The directory goes offline, its partitions are led by others; what lies in the other one is led on.

    A restart, the disk being well again, brings it back.
    """
    victim = stage.random.choice(stage.others())
    order = give_two_directories(stage, stage.broker(victim))
    first, second = stage.broker(victim).log_dirs
    stage.create(_BESIDE, [(victim, *stage.others(victim))] * 3)
    for number, operation in enumerate(stage.random.sample(_OPERATIONS, len(_OPERATIONS))):
        for topic in ("kept", _BESIDE):
            stage.lead_as_preferred(topic)
        is_first = bool(number % 2)
        _fail(stage, victim, order, operation, first if is_first else second, is_first=is_first)
        stage.stop(victim)
        stage.start(victim)
        stage.broker(victim).await_healthy()
        stage.await_whole()


def give_two_directories(stage: Stage, broker: BrokerProcess) -> Path:
    """Also a disk that can fail; the file that orders it to."""
    shim, order = broker.directory / "failing_disk.so", broker.directory / "failing-disk"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", shim, _SOURCE, "-ldl"], check=True)
    stage.stop(broker.broker_id)
    broker.overrides["log.dirs"] = ",".join(str(broker.directory / name) for name in ("logs", "more-logs"))
    broker.command = ("env", f"LD_PRELOAD={shim}", f"FAILING_DISK={order}", *broker.command)
    stage.start(broker.broker_id)
    broker.await_healthy()
    stage.await_whole()
    return order


def _fail(stage: Stage, victim: int, order: Path, operation: str, directory: Path, *, is_first: bool) -> None:
    moved, stays = ("kept", _BESIDE) if is_first else (_BESIDE, "kept")
    gone, kept = stage.led_by(victim, moved), stage.led_by(victim, stays)
    ahead = order.with_suffix(".next")
    ahead.write_text(f"{operation} {directory}/")
    ahead.replace(order)
    at = stage.note(f"{operation} fails in {directory} of {victim}")
    _write(stage, victim, moved, gone, f"{operation}-gone")
    await_true(lambda: is_offline(stage, victim, directory), f"{directory} is offline", WHOLE_WITHIN_S)
    for partition in gone:
        stage.await_leader(moved, partition, stage.others(victim))
        stage.await_isr(moved, partition, stage.others(victim))
    stage.measured[f"moved after {operation}"] = stage.note("others lead") - at
    if _write(stage, victim, stays, kept, f"{operation}-kept") or stage.led_by(victim, stays) != kept:
        stage.violations.append(
            f"{victim} does not lead on in its other directory after {operation} failed in {directory}"
        )
    stage.await_progress()
    order.unlink()


def _write(stage: Stage, leader: int, topic: str, partitions: list[int], name: str) -> list[str]:
    """Records with acks=all; the errors they were answered."""
    producer = LateProducer(name, stage.broker(leader).port, topic, "all", stage.history)
    for partition in partitions * _RECORDS:
        producer.send(partition)
    return [code.name for code in producer.outcomes() if code]


def is_offline(stage: Stage, broker_id: int, directory: Path) -> bool:
    """By the broker's own word since its last start."""
    lines = stage.broker(broker_id).log_path.read_text().splitlines()
    since = max(at for at, line in enumerate(lines) if 'event="logs loaded"' in line)
    return any('event="log directory offline"' in line and f"path={directory} " in line for line in lines[since:])
