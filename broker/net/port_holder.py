"""The process that has a port which cannot be bound, as far as Linux tells, so that an operator can free it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: What the kernel gives outgoing connections; a listener there may find its port taken by any of them.
_EPHEMERAL_RANGE = "sys/net/ipv4/ip_local_port_range"


def port_holder(port: int, proc: Path = Path("/proc")) -> str:
    """Return, for example, "process 4711 (java) has it"; empty where nothing is known. Looks at every process once."""
    known = []
    inodes = set(_inodes(port, proc))
    if inodes:
        known.append(next(_holders(inodes, proc), "a process that is not ours to see has it"))
    low, high = _ephemeral_range(proc)
    if low <= port <= high:
        known.append(f"outgoing connections are given ports from {low} to {high}, one outside would stay free")
    return "; ".join(known)


def _inodes(port: int, proc: Path) -> Iterator[str]:
    """Yield inodes of sockets with this local port that a process holds."""
    for name in ("net/tcp", "net/tcp6"):
        for line in _text(proc / name).splitlines()[1:]:
            fields = line.split()
            if len(fields) > 9 and int(fields[1].rpartition(":")[2], 16) == port and fields[9] != "0":
                yield fields[9]


def _holders(inodes: set[str], proc: Path) -> Iterator[str]:
    wanted = {f"socket:[{inode}]" for inode in inodes}
    for process in proc.iterdir():
        if process.name.isdigit() and not wanted.isdisjoint(_open_files(process)):
            yield f"process {process.name} ({_text(process / 'comm').strip()}) has it"


def _open_files(process: Path) -> Iterator[str]:
    with suppress(OSError):  # it has ended, or is somebody else's
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):  # closed meanwhile; the others are still open
                yield str(descriptor.readlink())


def _ephemeral_range(proc: Path) -> tuple[int, int]:
    bounds = _text(proc / _EPHEMERAL_RANGE).split()
    return (int(bounds[0]), int(bounds[1])) if len(bounds) == 2 else (0, -1)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
