import os
from pathlib import Path
from random import Random

from tests.simulation.disk import Disk


def _sync(disk: Disk, path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    disk.synced(fd)
    os.close(fd)


def _left(disk: Disk, root: Path, target: Path) -> list[dict[str, bytes]]:
    target.mkdir(exist_ok=True)
    outcomes = []
    for seed in range(40):
        disk.after_power_cut(root, target / str(seed), Random(seed))
        outcomes.append({path.name: path.read_bytes() for path in (target / str(seed)).iterdir()})
    return outcomes


def test_what_was_synced_survives_and_what_was_not_may_be_cut_short(tmp_path):
    root, disk = tmp_path / "root", Disk()
    root.mkdir()
    (root / "log").write_bytes(b"safe")
    disk.adopt(root)
    (root / "log").write_bytes(b"safe and unsafe")
    outcomes = {outcome["log"] for outcome in _left(disk, root, tmp_path)}
    assert all(outcome.startswith(b"safe") for outcome in outcomes)
    assert all(b"safe and unsafe".startswith(outcome.rstrip(b"\0")) for outcome in outcomes)
    assert len(outcomes) > 5


def test_a_new_name_is_certain_only_after_its_directory_was_synced(tmp_path):
    root, disk = tmp_path / "root", Disk()
    root.mkdir()
    disk.adopt(root)
    (root / "new").write_bytes(b"content")
    _sync(disk, root / "new")
    assert {tuple(outcome) for outcome in _left(disk, root, tmp_path / "before")} == {(), ("new",)}
    _sync(disk, root)
    assert {tuple(outcome.items()) for outcome in _left(disk, root, tmp_path / "after")} == {(("new", b"content"),)}
