"""Settings are read when a process starts: whoever has changed some asks `up` to start the console's processes again.

What they manage (brokers, jobs) goes on meanwhile.
"""

from pathlib import Path


def ask_to_reload(run_directory: Path) -> None:
    """Ask a running `up` to reload; does nothing without one."""
    run_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _file(run_directory).touch(mode=0o600)


def is_asked_to_reload(run_directory: Path) -> bool:
    return _file(run_directory).exists()


def take_question(run_directory: Path) -> None:
    """Take the open request; later ones count for the next time."""
    _file(run_directory).unlink(missing_ok=True)


def _file(run_directory: Path) -> Path:
    return run_directory / "reload"
