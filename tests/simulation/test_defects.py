"""Every defect that can be put back is found: within so many seeds of the scenario that is directed at it.

No seed is named here. A defect that no seed finds has become one that changes nothing, or its checker sees nothing any
more; a seed that fails without the defect as well has found something else.
"""

import re

import pytest

from tests.simulation.defects import DEFECTS
from tests.simulation.python_process import run_seeds
from tests.simulation.scenarios import SCENARIOS

_SEEDS_MAX = 40
#: That the first seeds find, in two seconds each.
_QUICKEST = ("readers-below-min-isr", "late-ends-count", "partitions-of-others")
#: What the checker that is there for the defect says of it, a regular expression.
SAYS = {
    "coordinators-below-min-isr": "below min ISR",
    "readers-below-min-isr": "below min ISR",
    "heartbeats-wait": "does not answer",
    "fetched-offsets-wait": "does not answer OFFSET_FETCH",
    "outdated-producers": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "loaded-once-or-never": "has not served it",
    "passes-in-vain": "in vain, again",
    "acknowledged-before-fsync": "not fsynced",
    "last-to-start-leads": "truncated for the leader, which lacks them",
    "last-in-sync-leads-without-its-tail": "truncated for the leader, which lacks them",
    "lagging-replica-leads": "truncated for the leader, which lacks them",
    "late-ends-count": "G1a|though it alone holds its id",
    "late-batches-count": "G1a|transactions are open",
    "verdicts-count-for-nothing": "G1a|transactions are open",
    "repeated-ends-refused": "though it alone holds its id",
    "epochs-answered-not-raised": r"is held by \[\] only|are missing, though its commit was acknowledged",
    "partitions-of-others": "which is modern-|still reads from",
    "commits-of-the-expelled": "has committed .*, and is told",
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "defect",
    [pytest.param(defect, marks=() if defect in _QUICKEST else pytest.mark.long) for defect in sorted(DEFECTS)],
)
def test_a_defect_that_is_put_back_is_found(defect):
    directed = ("--scenario", defect, "--until-one-fails")
    search = run_seeds(range(1, _SEEDS_MAX + 1), "--defect", defect, *directed)
    *_, last = (line for line in search.stdout.splitlines() if line.startswith("seed "))
    assert search.returncode == 1, f"not found within {_SEEDS_MAX} seeds: {search.stdout[-2000:]}"
    assert re.search(SAYS[defect], search.stdout), search.stdout
    _, seed, *_ = last.split()
    without = run_seeds([int(seed)], *directed)
    assert without.returncode == 0, f"it fails without the defect, too: {without.stdout}"


def test_every_defect_has_its_scenario():
    assert SCENARIOS.keys() == DEFECTS.keys() == SAYS.keys()
