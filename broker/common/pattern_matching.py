"""The process that matches strangers' patterns: a question on each line of its input, a line back.

A question is [how, pattern, flags, text, seconds], all JSON: `search`, `match` or `fullmatch`, Python's flags, and how
much of a processor's time the answer may take. An answer is the list of what the whole and each group matched, null
where nothing
did, or SLOW. Started as a file, so it imports nothing of ours.
"""

import json
import re
import resource
import signal
import sys

SLOW = "slow"
_MEMORY_BYTES_MAX = 256 * 1024 * 1024


class _Slow(Exception):
    pass


def _stop(_number: int, _frame: object) -> None:
    raise _Slow


def _main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES_MAX, _MEMORY_BYTES_MAX))
    signal.signal(signal.SIGVTALRM, _stop)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_answer(*json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


def _answer(how: str, pattern: str, flags: int, text: str, seconds: float) -> list[str | None] | str | None:
    """Return the match's groups; a pattern that cannot be parsed matches nothing."""
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, max(seconds, 0.001))
        match = getattr(re, how)(pattern, text, flags)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except (re.error, RecursionError, OverflowError):
        return None
    except (_Slow, MemoryError):
        return SLOW
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return [match.group(), *match.groups()] if match else None


if __name__ == "__main__":
    _main()
