"""What comes next of a move in batches: facts, and what follows."""

import pytest

from console.automation.staged_moves.decide import StagedMoveFacts, StagedMoveStep, may_begin, next_batch

FORMER = {("orders", number): (1, 2) for number in range(5)}
WANTED = {("orders", number): (3, 2) for number in range(5)}
NOTHING_FORBIDS = {"now_ms": 1_000}


@pytest.mark.parametrize(
    ("facts", "do", "says"),
    [
        ({}, StagedMoveStep.BEGIN, ""),
        ({"is_paused": True}, StagedMoveStep.NOTHING, ""),
        (
            {"begins_ms": 1_001, "begins": "2026-05-01 22:00 UTC"},
            StagedMoveStep.NOTHING,
            "Begins 2026-05-01 22:00 UTC.",
        ),
        ({"begins_ms": 1_000}, StagedMoveStep.BEGIN, ""),
        ({"moving": 2, "batches": 1}, StagedMoveStep.NOTHING, "Batch 1: 2 partitions being reassigned."),
        ({"forbids": "it is frozen."}, StagedMoveStep.NOTHING, "Waits: it is frozen."),
        ({"not_allowed": "ann may not."}, StagedMoveStep.PAUSE, "ann may not."),
        ({"not_allowed": "ann may not.", "forbids": "it is frozen."}, StagedMoveStep.PAUSE, "ann may not."),
        (
            {"not_allowed": "ann may not.", "moving": 1, "batches": 2},
            StagedMoveStep.NOTHING,
            "Batch 2: 1 partition being reassigned.",
        ),
        ({"is_paused": True, "not_allowed": "ann may not."}, StagedMoveStep.NOTHING, ""),
    ],
)
def test_a_batch_begins_when_it_is_due_and_nothing_forbids_it(facts, do, says):
    decision = may_begin(StagedMoveFacts(**NOTHING_FORBIDS | facts))
    assert (decision.do, decision.sentence) == (do, says)


def test_batches_go_one_after_the_other_until_all_have_arrived():
    present, seen = dict(FORMER), []
    while (decision := next_batch(FORMER, WANTED, present, 2)).do is StagedMoveStep.BEGIN:
        seen.append(([place[1] for place in decision.batch], decision.left))
        present |= decision.batch
    assert seen == [([0, 1], 5), ([2, 3], 3), ([4], 1)]
    assert (decision.do, decision.sentence, decision.left) == (StagedMoveStep.FINISH, "All 5 partitions arrived.", 0)


def test_what_was_called_off_is_tried_again_and_what_arrived_is_not():
    present = FORMER | {("orders", 0): (3, 2), ("orders", 3): (3, 2)}
    decision = next_batch(FORMER, WANTED, present, 3)
    assert [place[1] for place in decision.batch] == [1, 2, 4]


def test_a_partition_that_somebody_else_moved_ends_it():
    decision = next_batch(FORMER, WANTED, FORMER | {("orders", 4): (1, 3)}, 2)
    assert decision.do is StagedMoveStep.REFUSE
    assert decision.sentence == "orders-4 is on other brokers than planned from (1, 3 now)."
    assert decision.batch == {}


def test_what_came_back_in_another_order_is_where_it_was():
    assert next_batch(FORMER, WANTED, FORMER | {("orders", 0): (2, 1)}, 2).do is StagedMoveStep.BEGIN


def test_a_topic_that_is_gone_ends_it():
    decision = next_batch(FORMER, WANTED, {}, 2)
    assert decision.do is StagedMoveStep.REFUSE
    assert decision.sentence == "orders-0, orders-1, orders-2 and 2 more are not there any more."
