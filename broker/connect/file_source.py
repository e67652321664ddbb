"""Text files line by line: the value is the line, the key the file's name or a member of the line's JSON object."""

import json
from collections.abc import Mapping
from pathlib import Path

from broker.connect.file_tail import FileTail, TailedLine
from broker.connect.source import SourceOffset, SourceRecord

#: Lines and bytes one poll takes at most: what the worker holds in memory until it is acknowledged.
POLL_LINES_MAX = 500
POLL_BYTES_MAX = 1024 * 1024

#: On a piece of a line that was longer than the limit: the next record of the same file continues it.
CONTINUES_HEADER = ("line.continues", b"true")
#: On a last line that had no end when the file had rested, and on what was added to it later: it continues that record.
UNFINISHED_HEADER = ("line.unfinished", b"true")
CONTINUATION_HEADER = ("line.continuation", b"true")
#: Long enough for a writer that writes by blocks, short enough for who waits for the end of a text.
REST_MS = 5_000


class FileSource:
    """Tails any number of files into one topic. A file that is not there yet is waited for.

    `json_key` names a member of the line's JSON object whose text becomes the key; a line without it has no key.
    Without `json_key` the key is the file's name.
    """

    def __init__(
        self,
        topic: str,
        files: tuple[str, ...],
        json_key: str = "",
        max_line_bytes: int = 65_536,
        poll_interval_ms: int = 250,
        rest_ms: int = REST_MS,
    ):
        self.topic = topic
        self.poll_interval_ms = poll_interval_ms
        self._paths = tuple(Path(file).absolute() for file in files)
        self._json_key = json_key
        self._max_line_bytes = max_line_bytes
        self._rest_ms = rest_ms
        self._tails: list[FileTail] = []

    def start(self, offsets: Mapping[str, SourceOffset]) -> None:
        self._tails = [
            FileTail(path, self._max_line_bytes, offsets.get(str(path)), self._rest_ms) for path in self._paths
        ]

    def poll(self, now_ms: int) -> list[SourceRecord]:
        """Lines of the first file that has any; that file then waits behind the others."""
        for tail in tuple(self._tails):
            lines = tail.read_lines(now_ms, POLL_LINES_MAX, POLL_BYTES_MAX)
            if lines:
                self._tails.remove(tail)
                self._tails.append(tail)
                return [self._record(tail.path, line, now_ms) for line in lines]
        return []

    def stop(self) -> None:
        for tail in self._tails:
            tail.close()
        self._tails = []

    def _record(self, path: Path, line: TailedLine, now_ms: int) -> SourceRecord:
        key = json_member(line.value, self._json_key) if self._json_key else path.name.encode()
        return SourceRecord(self.topic, key, line.value, now_ms, _headers(line), str(path), line.offset)


def _headers(line: TailedLine) -> tuple[tuple[str, bytes], ...]:
    said = (
        (line.continues, CONTINUES_HEADER),
        (line.is_unfinished, UNFINISHED_HEADER),
        (line.is_continuation, CONTINUATION_HEADER),
    )
    return tuple(header for is_so, header in said if is_so)


def json_member(line: bytes, name: str) -> bytes | None:
    """The text of one member of a JSON object; None when the line is not an object or the member not a text."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    member = parsed.get(name) if isinstance(parsed, dict) else None
    return member.encode("utf-8", "replace") if isinstance(member, str) else None
