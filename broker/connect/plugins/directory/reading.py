"""The one file a task is reading: its place, what identifies it, and its records from there on.

A place is `{file, inode, position, sum, modified}`, and `faulty` once something was left out. `sum` is a checksum of
all that lies before the position, because file systems give the inode of a deleted file to the next one; `modified`
tells a file that was read to its end from another with the same content.
"""

import os
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from broker.common.logs import logger
from broker.connect.api import ConnectError, DataError
from broker.connect.api.schema import BYTES
from broker.connect.plugins.directory.cutting import CutLine, Cutter
from broker.connect.plugins.directory.files import has_rested
from broker.connect.plugins.directory.parsing import CsvParser, Parsed, Parser, parse_json, parse_line

_log = logger("broker.connect")
_BLOCK_BYTES = 256 * 1024
_BOM = b"\xef\xbb\xbf"
#: Faults told of one file; a file of another kind has one in each line.
_TOLD_MAX = 10
PLACE_TYPES = {"file": str, "inode": int, "position": int, "sum": int, "modified": int}

_PARSERS: dict[str, Parser] = {"lines": parse_line, "json": parse_json}


class Format(NamedTuple):
    """`kind`: lines, csv, json or file."""

    kind: str
    separator: str
    max_record_bytes: int
    rest_ms: int
    tolerates: bool


class ParsedLine(NamedTuple):
    parsed: Parsed
    place: dict[str, Any]


class CurrentFile:
    """`descriptor` is closed with it."""

    def __init__(self, name: str, descriptor: int, form: Format):
        self.name, self._descriptor, self._form = name, descriptor, form
        self._begin()

    def _begin(self) -> None:
        """Begin a file at its first byte."""
        status = os.fstat(self._descriptor)
        self.inode, self._modified = status.st_ino, status.st_mtime_ns
        self._position = self._sum = self._faults = 0
        self.is_faulty = False
        self._cutter = Cutter(self._form.max_record_bytes, self._form.kind == "csv")
        self._parser: Parser | None = _PARSERS.get(self._form.kind)

    def close(self) -> None:
        os.close(self._descriptor)

    def resume(self, place: Mapping[str, Any], is_stopped: Callable[[], bool]) -> None:
        """Continue at `place` if this is the same file; else start from the beginning."""
        status = os.fstat(self._descriptor)
        position = place["position"]
        if status.st_ino != place["inode"] or status.st_size < position:
            return
        if status.st_size == position and status.st_mtime_ns != place["modified"]:
            return
        if self._sum_of(position, is_stopped) != place["sum"]:
            return
        if self._form.kind == "csv" and position:
            self._read_header()
        self._position, self._sum, self.is_faulty = position, place["sum"], place.get("faulty", False)

    def _sum_of(self, size: int, is_stopped: Callable[[], bool]) -> int:
        total = at = 0
        while at < size and not is_stopped():
            block = os.pread(self._descriptor, min(_BLOCK_BYTES, size - at), at)
            if not block:
                break
            total, at = zlib.crc32(block, total), at + len(block)
        return total

    def _read_header(self) -> None:
        data = os.pread(self._descriptor, self._block_bytes, 0)
        for piece in Cutter(self._form.max_record_bytes, True).cut(data, True, 1):
            self._parser = CsvParser((piece.raw or b"").removeprefix(_BOM), self._form.separator)

    @property
    def _block_bytes(self) -> int:
        return self._form.max_record_bytes + _BLOCK_BYTES

    def read(self, now_ms: int, most: int) -> list[ParsedLine]:
        """Read at most `most` records; none at the current end of the file.

        Raises ConnectError at an unreadable line.
        """
        while True:
            status = os.fstat(self._descriptor)
            if status.st_size < self._position:
                self._begin()
            self._modified = status.st_mtime_ns
            data = os.pread(self._descriptor, min(self._block_bytes, status.st_size - self._position), self._position)
            is_end = self._position + len(data) == status.st_size and has_rested(status, now_ms, self._form.rest_ms)
            pieces = self._pieces(data, status.st_size, is_end, most)
            parsed = self._parsed(data, pieces)
            if parsed or not pieces:
                return parsed

    def has_ended(self, now_ms: int) -> bool:
        """Read to its end, and nobody has written for long enough."""
        status = os.fstat(self._descriptor)
        return status.st_size == self._position and has_rested(status, now_ms, self._form.rest_ms)

    def _pieces(self, data: bytes, size: int, is_end: bool, most: int) -> list[CutLine]:
        if self._form.kind != "file":
            return self._cutter.cut(data, is_end, most)
        if self._position == 0 and size > self._form.max_record_bytes:
            return [CutLine(None, size, f"longer than {self._form.max_record_bytes} bytes")]
        return [CutLine(data, len(data))] if is_end and data else []

    def _parsed(self, data: bytes, pieces: list[CutLine]) -> list[ParsedLine]:
        """Return lines up to a malformed one, which is reported when it comes first."""
        lines: list[ParsedLine] = []
        at = 0
        for piece in pieces:
            try:
                parsed = self._meaning(piece)
            except DataError as error:
                if lines and not self._form.tolerates:
                    break
                self._fault(str(error))
                parsed = None
            self._sum = zlib.crc32(data[at : at + piece.consumed], self._sum)
            at += piece.consumed
            self._position += piece.consumed
            if parsed is not None:
                lines.append(ParsedLine(parsed, self._place()))
        return lines

    def _meaning(self, piece: CutLine) -> Parsed | None:
        if piece.fault is not None:
            raise DataError(piece.fault)
        raw = piece.raw
        if raw is None:
            return None
        if self._form.kind == "file":
            return BYTES, raw
        if self._position == 0:
            raw = raw.removeprefix(_BOM)
        if self._parser is None:
            self._parser = self._first_row(raw)
            return None
        return self._parser(raw)

    def _first_row(self, raw: bytes) -> Parser:
        """Return the parser for the header row; a file whose columns have no names is refused."""
        try:
            return CsvParser(raw, self._form.separator)
        except DataError:
            if self._form.tolerates:
                self._parser = _refuse_row
            raise

    def _place(self) -> dict[str, Any]:
        place = {
            "file": self.name, "inode": self.inode, "position": self._position, "sum": self._sum,
            "modified": self._modified,
        }  # fmt: skip
        return place | {"faulty": True} if self.is_faulty else place

    def _fault(self, reason: str) -> None:
        if not self._form.tolerates:
            raise ConnectError(f"{self.name} at byte {self._position}: {reason}")
        self.is_faulty = True
        self._faults += 1
        if self._faults <= _TOLD_MAX:
            _log.error("record left out", file=self.name, position=self._position, reason=reason)


def _refuse_row(raw: bytes) -> Parsed:
    raise DataError("the first row names no columns")
