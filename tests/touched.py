"""Which of the long tests a change calls for: those that show what it touched; `make touched` runs them.

`.ci/shown` names the commit up to which all of them were seen to pass. What has changed since then has its rooms run,
and when they pass in a tree without changes, HEAD is what is shown. Where git does not know the commit, all are run.
"""

import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

_SHOWN = Path(".ci/shown")
#: The formats, vocabulary and clients that everything stands on.
_BASE = r"broker/(protocol|records|common|config|net|security|keystores|client)/"
_BROKER = rf"{_BASE}|broker/(server|handlers|runtime|log|zookeeper|coordinator|controller|replication)/"
_CONSOLE = r"console/|templates/|static/"
#: By place below tests/: a change of which files its long tests show anything about.
SHOWS = {
    "broker/audit/": rf"{_BROKER}|broker/audit/",
    "broker/connect/": rf"{_BASE}|broker/(connect|registry)/",
    "broker/mirror/": rf"{_BASE}|broker/(connect|mirror)/",
    "broker/spark/": r"broker/(spark|client|protocol|records|audit)/",
    "broker/zookeeper/": r"broker/zookeeper/",
    "browser/": _CONSOLE,
    "chaos/": rf"{_BROKER}|console/(processes|operations|collector|live|launch)/",
    "console/": r"console/",
    "faults/": _BROKER,
    "interop/": rf"{_BROKER}|broker/cli/",
    "simulation/": r"broker/(log|coordinator|controller|replication|runtime)/",
    "tidy/": r"pyproject\.toml|Makefile|broker/barnabas\.py|console/launch/",
}


def called_for(changed: Collection[str]) -> list[str]:
    """Places whose long tests show what changed; a place whose own files changed is one of them."""
    files = [each for each in changed if not each.endswith(".md")]
    return [
        f"tests/{place}"
        for place, pattern in SHOWS.items()
        if any(re.match(pattern, each) or each.startswith(f"tests/{place}") for each in files)
    ]


def changed_since(commit: str) -> list[str] | None:
    """Of the tree as it is; None where git does not know the commit."""
    found = subprocess.run(["git", "diff", "--name-only", commit, "--"], capture_output=True, text=True, check=False)
    return found.stdout.split("\n")[:-1] if found.returncode == 0 else None


def note_shown() -> None:
    """All long tests pass at HEAD; a tree with changes is no commit, and is not noted."""
    if not subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout:
        head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        _SHOWN.write_text(head.stdout)


def main(arguments: list[str]) -> int:
    """The exit status of the run; arguments are pytest's, or --noted alone after a run of everything."""
    if arguments == ["--noted"]:
        note_shown()
        return 0
    shown = _SHOWN.read_text().strip()
    changed = changed_since(shown)
    places = [f"tests/{place}" for place in SHOWS] if changed is None else called_for(changed)
    if not places:
        print(f"Nothing that long tests show has changed since {shown[:8]}.")
        return 0
    print(f"Long tests of what has changed since {shown[:8]}: {' '.join(places)}", flush=True)
    status = pytest.main([*arguments, "-m", "long", *places])
    if status == pytest.ExitCode.OK:
        note_shown()
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
