"""Who runs, kept in a small file per process under `data/run/`: nobody is lost with a terminal or a database."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from console.processes.os_process import ProcessIdentity


def write_run_file(directory: Path, name: str, identity: ProcessIdentity) -> None:
    _write(directory, name, asdict(identity))


def _write(directory: Path, name: str, content: dict[str, object]) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _path(directory, name)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(content))
    os.replace(draft, path)


def read_run_file(directory: Path, name: str) -> ProcessIdentity | None:
    """Read a run file; None if it is missing, or not one of ours."""
    try:
        content = json.loads(_path(directory, name).read_text())
        return ProcessIdentity(content["pid"], content["create_time"], content["token"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def note_end(directory: Path, name: str, identity: ProcessIdentity, exit_status: int) -> None:
    """Store in the run file how the process ended, which only its parent learns and may be unable to write to
    the row.
    """
    _write(directory, name, asdict(identity) | {"exit_status": exit_status})


def noted_end(directory: Path, name: str, identity: ProcessIdentity) -> int | None:
    """Return the noted exit status; None without a note."""
    if read_run_file(directory, name) != identity:
        return None
    status = json.loads(_path(directory, name).read_text()).get("exit_status")
    return status if isinstance(status, int) else None


def forget_run(directory: Path, name: str, identity: ProcessIdentity) -> None:
    """Remove the file if it is still about `identity`."""
    if read_run_file(directory, name) == identity:
        remove_run_file(directory, name)


def remove_run_file(directory: Path, name: str) -> None:
    _path(directory, name).unlink(missing_ok=True)


def run_file_names(directory: Path) -> list[str]:
    return sorted(path.stem for path in directory.glob("*.json"))


def _path(directory: Path, name: str) -> Path:
    return directory / f"{name}.json"
