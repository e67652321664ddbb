"""Log files of managed processes: bounded in size, read from the end."""

import os
import shutil
from pathlib import Path

#: A log is moved aside at this size; as many old ones are kept.
LOG_BYTES_MAX = 16 * 1024 * 1024
OLD_LOGS_KEPT = 2

TAIL_LINES = 200
#: The most that is read for a tail, however long the lines are.
TAIL_BYTES_MAX = 64 * 1024
LINE_LENGTH_MAX = 2_000


def bound_log(path: Path) -> bool:
    """Move the content aside to `.1` (`.1` to `.2` …) if the log has grown too large; True if it had.

    The file itself stays and is emptied, because a running process holds it open to append; lines it writes during
    the copy may be lost. On a full disk the content is dropped: that the log ends growing matters more.
    """
    if not path.exists() or path.stat().st_size < LOG_BYTES_MAX:
        return False
    for number in range(OLD_LOGS_KEPT - 1, 0, -1):
        older = old_log(path, number)
        if older.exists():
            older.replace(old_log(path, number + 1))
    try:
        shutil.copyfile(path, old_log(path, 1))
        old_log(path, 1).chmod(0o600)
    except OSError:
        old_log(path, 1).unlink(missing_ok=True)
    os.truncate(path, 0)
    return True


def old_log(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def tail_lines(path: Path, lines: int = TAIL_LINES) -> list[str]:
    """Return the last `lines` lines; fewer if they are long, none without a file. Bytes that are no text show as �."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES_MAX))
            data = file.read(TAIL_BYTES_MAX)
    except OSError:
        return []
    # Not splitlines: what a client sent may hold other ends of lines, and would look like a line of its own.
    tail = data.decode("utf-8", "replace").removesuffix("\n").split("\n") if data else []
    if size > TAIL_BYTES_MAX:
        tail = tail[1:]
    return [line[:LINE_LENGTH_MAX] for line in tail[-lines:]]


def last_line(path: Path) -> str:
    """Return the last line that is not blank."""
    return next((line.strip() for line in reversed(tail_lines(path)) if line.strip()), "")
