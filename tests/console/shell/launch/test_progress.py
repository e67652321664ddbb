"""Plain finished lines where nobody sees colours."""

import io

import pytest

from console.shell.launch.progress import LaunchProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def clock(*moments: float):
    return iter(moments).__next__


def test_line_says_what_is_ready_and_how_long_it_took():
    out = io.StringIO()
    with LaunchProgress(out, clock(10.0, 10.84)).doing("broker 1 of 3") as outcome:
        outcome.detail = "ready on 127.0.0.1:9092"
    assert out.getvalue().split() == ["✓", "broker", "1", "of", "3", "ready", "on", "127.0.0.1:9092", "0.8", "s"]
    assert "\x1b" not in out.getvalue()


def test_failure_is_marked_with_its_sentence():
    out = io.StringIO()
    with LaunchProgress(out, clock(0.0, 60.0)).doing("ZooKeeper") as outcome:
        outcome.fail("exited: ended by itself with status 1")
    assert out.getvalue().startswith("✗ ZooKeeper")


def test_terminal_sees_what_is_under_way():
    out = Terminal()
    with LaunchProgress(out, clock(0.0, 1.0)).doing("ZooKeeper"):
        assert "ZooKeeper" in out.getvalue()
        assert "starting …" in out.getvalue()


def test_exception_passes_and_prints_no_success():
    out = io.StringIO()
    with pytest.raises(RuntimeError), LaunchProgress(out, clock(0.0)).doing("ZooKeeper"):
        raise RuntimeError
    assert "✓" not in out.getvalue()


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_terminal_that_was_closed_stops_nothing():
    progress = LaunchProgress(Gone(), clock(0.0, 1.0))
    with progress.doing("ZooKeeper") as outcome:
        outcome.detail = "stopped"
    progress.note("stopping")
