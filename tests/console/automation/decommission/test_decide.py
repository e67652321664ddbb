"""What comes next of a decommission, one line per situation."""

import pytest

from console.automation.decommission.decide import FRESH_MS, DecommissionFacts, DecommissionStep, decide

NOW = 1_000_000


def facts(**given) -> DecommissionFacts:
    usual = {"now_ms": NOW, "seen_at_ms": NOW, "held": 5, "left": 3, "is_moving": True}
    return DecommissionFacts(**(usual | {"is_managed": True} | given))


TABLE = [
    (facts(), DecommissionStep.NOTHING, "2 of 5 partitions have left it; the others are being reassigned."),
    (facts(is_moving=False), DecommissionStep.DRAIN, "Moves away what is still there: 3 partitions."),
    (facts(left=0, is_moving=False), DecommissionStep.REMOVE, "It holds nothing any more."),
    (facts(left=0), DecommissionStep.REMOVE, "It holds nothing any more."),
    (facts(left=9), DecommissionStep.NOTHING, "0 of 5 partitions have left it; the others are being reassigned."),
    (
        facts(left=0, seen_at_ms=NOW - FRESH_MS - 1),
        DecommissionStep.NOTHING,
        "Waits: the collector has not read the partitions of late.",
    ),
    (facts(is_paused=True, left=0), DecommissionStep.NOTHING, ""),
    (
        facts(is_stopping=True, process="asked 2 s ago"),
        DecommissionStep.NOTHING,
        "It holds nothing any more and is being stopped: asked 2 s ago",
    ),
    (
        facts(is_managed=False, is_stopping=True),
        DecommissionStep.FINISH,
        "It has been stopped and is not managed here any more; its files stay.",
    ),
]


@pytest.mark.parametrize(("known", "do", "sentence"), TABLE, ids=lambda value: str(value)[:40])
def test_next_step_follows_from_the_facts(known, do, sentence):
    decision = decide(known)
    assert (decision.do, decision.sentence) == (do, sentence)


def test_nothing_old_ever_removes_a_broker():
    for left in (0, 1):
        assert decide(facts(left=left, seen_at_ms=0, is_moving=False)).do is DecommissionStep.NOTHING
