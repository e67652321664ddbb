"""One `up` per data directory."""

import subprocess
import sys

import pytest

from console.processes.setup import SetupError
from console.shell.launch.running import Claim, ask_to_stop, claim_data_dir, is_claimed


def test_second_claim_is_refused_with_what_to_do(tmp_path):
    refused = pytest.raises(SetupError, match=r"It is up already \(pid \d+\).*make down")
    with claim_data_dir(tmp_path), refused, claim_data_dir(tmp_path):
        pass


def test_claim_ends_with_its_holder(tmp_path):
    with claim_data_dir(tmp_path):
        pass
    with claim_data_dir(tmp_path):
        pass


def test_holder_is_seen_and_one_that_does_not_stop_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("console.shell.launch.running.os.kill", lambda *_: None)
    assert not is_claimed(tmp_path)
    with claim_data_dir(tmp_path):
        assert is_claimed(tmp_path)
        with pytest.raises(SetupError, match=r"`up` \(pid \d+\) did not stop within 0 s"):
            ask_to_stop(tmp_path, 0)


def test_a_pid_that_is_somebody_elses_by_now_is_not_asked(tmp_path):
    """Of one that was killed it stays in the file, until the next has written its own."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        with claim_data_dir(tmp_path):
            (tmp_path / "up.pid").write_text(str(bystander.pid))
            with pytest.raises(SetupError, match="did not stop within 0 s"):
                ask_to_stop(tmp_path, 0)
        bystander.communicate(b"\n")
    assert bystander.returncode == 0


def test_what_was_claimed_is_handed_on_as_text():
    assert Claim.parse(str(Claim(3, 4, 5))) == Claim(3, 4, 5)
    assert Claim.parse("3") == Claim(3), "as earlier versions did"


def test_nobody_to_ask_is_no_error(tmp_path):
    ask_to_stop(tmp_path, 1)
