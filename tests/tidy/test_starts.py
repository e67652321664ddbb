"""What the gate costs is what it starts: places that start a cluster, a ZooKeeper, a console, a product are counted."""

import re
import subprocess
from collections import Counter

import pytest

from tests.tidy.sources import ROOT

STARTS = re.compile(
    r"(?<!def )\b(?:running_(?:cluster|zookeeper|ensemble|product)|start_zookeeper|start_product|web_process)\("
)
#: By room. Who adds one first looks whether a shared one does (tests/README.md, "What the gate costs").
BUDGET = {"conftest.py": 1, "broker": 30, "browser": 18, "conformance": 7, "console": 2, "install": 1, "interop": 32}


def test_rooms_start_no_more_than_their_budget():
    starts = Counter()
    tests = ROOT / "tests"
    for path in (*tests.rglob("test_*.py"), *tests.rglob("conftest.py")):
        if "tidy" not in path.parts:
            starts[path.relative_to(tests).parts[0]] += len(STARTS.findall(path.read_text()))
    assert {room: count for room, count in starts.items() if count > BUDGET.get(room, 0)} == {}


@pytest.mark.parametrize("target", ["faults", "fuzz", "chaos", "test-all", "test-long"])
def test_what_starts_many_interpreters_compiles_before(target):
    """None of them writes bytecode: in a fresh clone each start of a broker compiled everything anew."""
    plan = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    compiles, starts = plan.find("compileall"), re.search(r"-m (pytest|tests\.)", plan)
    assert starts is not None
    assert 0 <= compiles < starts.start()
