"""What the verifiable clients print: an object of JSON a line, each with its time and name first."""

import json
import sys
import time
from typing import Any


def print_event(name: str, **fields: Any) -> None:
    """Print an event at once, for programs that read the output as it comes."""
    event = {"timestamp": time.time_ns() // 1_000_000, "name": name, **fields}
    sys.stdout.write(json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def text_of(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")
