"""What the gate costs is what it starts: places that start a cluster, a ZooKeeper, a console, a product are counted."""

import re
from collections import Counter

from tests.tidy.sources import ROOT

STARTS = re.compile(
    r"(?<!def )\b(?:running_(?:cluster|zookeeper|ensemble|product)|start_zookeeper|start_product|web_process)\("
)
#: By room. Who adds one first looks whether a shared one does (tests/README.md, "What the gate costs").
BUDGET = {"conftest.py": 1, "broker": 30, "browser": 18, "conformance": 7, "console": 2, "install": 1, "interop": 28}


def test_rooms_start_no_more_than_their_budget():
    starts = Counter()
    tests = ROOT / "tests"
    for path in (*tests.rglob("test_*.py"), *tests.rglob("conftest.py")):
        if "tidy" not in path.parts:
            starts[path.relative_to(tests).parts[0]] += len(STARTS.findall(path.read_text()))
    assert {room: count for room, count in starts.items() if count > BUDGET.get(room, 0)} == {}
