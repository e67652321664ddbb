"""A test that failed once among thousands, on a machine with two cores, is tried again alone; `make again` does it.

What races a clock it should not have raced then passes, and is named, so that it gets mended. Failures in more than a
few files get no second chance, nor do rooms whose tests judge whether data was lost: there once is enough.
"""

import json
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

_FAILED_LAST = Path(".pytest_cache/v/cache/lastfailed")
#: Failures in more files are a defect and no bad luck. Files count and no tests: they share what one of them started.
MOST = 3
ONCE_IS_ENOUGH = ("tests/faults/", "tests/simulation/", "tests/fuzz/", "tests/chaos/")


def refused(failed: Collection[str]) -> str | None:
    """Why what failed is not tried again, or None where it is."""
    if not failed:
        return "Nothing is known to have failed."
    files = {test.partition("::")[0] for test in failed}
    if len(files) > MOST:
        return f"Tests of {len(files)} files failed: that is no bad luck."
    judges = [test for test in failed if test.startswith(ONCE_IS_ENOUGH)]
    return f"{judges[0]} judges data: once is enough." if judges else None


def main(arguments: list[str]) -> int:
    """The exit status of the second run, 1 where there is none; arguments are pytest's."""
    failed = sorted(json.loads(_FAILED_LAST.read_text())) if _FAILED_LAST.exists() else []
    if reason := refused(failed):
        print(reason, file=sys.stderr)
        return 1
    status = pytest.main([*arguments, *failed])
    if status == 0:
        print("Passed at the second try, and to be mended: " + ", ".join(failed), file=sys.stderr)
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
