"""How far each connector has got, in one JSON file that is always whole: written aside, synced, renamed."""

import json
import os
import threading
from pathlib import Path

from broker.common.errors import StartupError
from broker.connect.source import SourceOffset

#: {connector: {source partition: offset}}
Offsets = dict[str, dict[str, SourceOffset]]


class FileOffsetStore:
    """Source offsets by connector and source partition. Usable from several threads.

    What `store` was given has reached the disk when it returns. StartupError when the file is not ours to read.
    """

    def __init__(self, path: Path):
        self._path = path
        self._lock = threading.Lock()
        self._offsets = _read(path)

    def offsets_of(self, connector: str) -> dict[str, SourceOffset]:
        with self._lock:
            return dict(self._offsets.get(connector, {}))

    def store(self, connector: str, offsets: dict[str, SourceOffset]) -> None:
        with self._lock:
            known = self._offsets.get(connector, {})
            if offsets and known | offsets != known:
                self._offsets[connector] = known | offsets
                _replace(self._path, json.dumps(self._offsets, indent=1))


def _read(path: Path) -> Offsets:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        offsets = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StartupError(f"The source offsets in {path} cannot be read ({error}); move the file away.") from error
    if not isinstance(offsets, dict) or not all(isinstance(partitions, dict) for partitions in offsets.values()):
        raise StartupError(f"{path} does not hold source offsets; move the file away.")
    return offsets


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
