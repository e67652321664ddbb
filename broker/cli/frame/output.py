"""What commands print beside Kafka's own shapes: JSON on request, and a line of progress while something takes long."""

import json
import sys
import time
from typing import Any, TextIO

from broker.cli.frame.declaration import Arguments, Option

OUTPUT = Option(
    "output", "Print Kafka's text, or JSON for a program.", "FORMAT", default="text", choices=("text", "json")
)
_REDRAWN_EVERY_S = 0.2


def wants_json(arguments: Arguments) -> bool:
    return bool(arguments["output"] == "json")


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


class ProgressLine:
    """A line on stderr that rewrites itself, only where a person looks at it; gone when the block ends."""

    def __init__(self, stream: TextIO = sys.stderr):
        self._stream = stream
        self._is_seen = stream.isatty()
        self._drawn_at = 0.0

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._is_seen and self._drawn_at:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def show(self, text: str) -> None:
        """Show the text, at most five times a second."""
        if self._is_seen and time.monotonic() - self._drawn_at >= _REDRAWN_EVERY_S:
            self._drawn_at = time.monotonic()
            self._stream.write(f"\r\033[K{text}")
            self._stream.flush()
