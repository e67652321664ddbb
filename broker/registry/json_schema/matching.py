"""The process that matches strangers' patterns: a pattern and a name on each line of its input, a letter back."""

import json
import re
import resource
import sys

YES, NO = b"y", b"n"
_MEMORY_BYTES_MAX = 256 * 1024 * 1024


def _main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES_MAX, _MEMORY_BYTES_MAX))
    for line in sys.stdin.buffer:
        pattern, name = json.loads(line)
        sys.stdout.buffer.write(YES if _means(pattern, name) else NO)
        sys.stdout.buffer.flush()


def _means(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False


if __name__ == "__main__":
    _main()
