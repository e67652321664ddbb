"""Who runs, kept in a small file per process under `data/run/`: nobody is lost with a terminal or a database."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from console.processes.os_process import Identity


def write_run_file(directory: Path, name: str, identity: Identity) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _path(directory, name)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(asdict(identity)))
    os.replace(draft, path)


def read_run_file(directory: Path, name: str) -> Identity | None:
    """None if there is no such file, or not one of ours."""
    try:
        return Identity(**json.loads(_path(directory, name).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def remove_run_file(directory: Path, name: str) -> None:
    _path(directory, name).unlink(missing_ok=True)


def run_file_names(directory: Path) -> list[str]:
    return sorted(path.stem for path in directory.glob("*.json"))


def _path(directory: Path, name: str) -> Path:
    return directory / f"{name}.json"
