"""`python -m broker dump-log`, as a person calls it."""

import subprocess
import sys
from pathlib import Path

import pytest

from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.record import Record

ROOT = Path(__file__).parents[3]


@pytest.fixture
def segment(tmp_path) -> Path:
    log = Log.open(tmp_path / "t-0", LogConfig())
    log.append(build_batch([Record(0, 1_000, b"k", b"hello")]), 0)
    log.close()
    return tmp_path / "t-0" / f"{0:020d}.log"


def dump(*arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "broker", "dump-log", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_whole_segment_is_printed_and_the_status_is_0(segment):
    plain, full = dump(segment), dump(segment, "--records")
    assert (plain.returncode, full.returncode) == (0, 0)
    assert "offsets 0-0" in plain.stdout
    assert "hello" not in plain.stdout
    assert "key 'k'  value 'hello'" in full.stdout


def test_damaged_segment_is_status_1(segment):
    with segment.open("ab") as file:
        file.write(b"torn")
    done = dump(segment)
    assert done.returncode == 1
    assert "DAMAGED" in done.stdout


def test_file_that_cannot_be_read_is_one_sentence(tmp_path):
    done = dump(tmp_path / "missing.log")
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr == f"dump-log: {tmp_path / 'missing.log'} cannot be read: No such file or directory.\n"
