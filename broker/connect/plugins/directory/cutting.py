"""Where records end in the bytes of a file: at line ends, for CSV at those outside of quotes. Pure."""

from typing import NamedTuple


class CutLine(NamedTuple):
    """`raw` without its line end; None where there is no record: `consumed` bytes that are left out."""

    raw: bytes | None
    consumed: int
    fault: str | None = None


class Cutter:
    """Cutter of one file, front to back. What is longer than `limit` bytes is left out up to the next line end behind
    them.
    """

    def __init__(self, limit: int, spans_lines: bool):
        self._limit, self._spans_lines = limit, spans_lines
        self._is_skipping = False

    def cut(self, data: bytes, is_end: bool, most: int) -> list[CutLine]:
        """Split `data` into at most `most` lines.

        `is_end`: nothing comes behind `data`, and a last line without an end is one.
        """
        pieces: list[CutLine] = []
        at = 0
        while at < len(data) and len(pieces) < most:
            piece = self._rest_of_too_long(data, at) if self._is_skipping else self._next(data, at, is_end)
            if piece is None:
                break
            pieces.append(piece)
            at += piece.consumed
        return pieces

    def _next(self, data: bytes, at: int, is_end: bool) -> CutLine | None:
        end = self._end(data, at)
        if (len(data) if end < 0 else end) - at > self._limit:
            self._is_skipping = end < 0
            consumed = len(data) - at if end < 0 else end + 1 - at
            return CutLine(None, consumed, f"longer than {self._limit} bytes")
        if end >= 0:
            return CutLine(data[at:end], end + 1 - at)
        return CutLine(data[at:], len(data) - at) if is_end else None

    def _end(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        if not self._spans_lines:
            return end
        quotes, counted = 0, at
        while end >= 0:
            quotes += data.count(b'"', counted, end)
            if quotes % 2 == 0 or end - at > self._limit:
                return end
            counted, end = end, data.find(b"\n", end + 1)
        return -1

    def _rest_of_too_long(self, data: bytes, at: int) -> CutLine:
        end = data.find(b"\n", at)
        self._is_skipping = end < 0
        return CutLine(None, len(data) - at if end < 0 else end + 1 - at)
