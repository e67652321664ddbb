"""When the next broker is taken, and what is waited for."""

from dataclasses import replace

import pytest

from console.automation.rolling_restart.decide import (
    FRESH_MS,
    BrokerFacts,
    RestartFacts,
    RestartProgress,
    RestartStep,
    decide,
)

NOW_MS = 1_000_000


def broker(number: int, progress=RestartProgress.WAITING, **changes) -> BrokerFacts:
    facts = BrokerFacts(
        f"broker-{number}",
        number,
        progress,
        "running since 12:00:00 UTC",
        is_running=True,
        has_ended=False,
        is_new=progress is not RestartProgress.WAITING,
        is_registered=True,
        back_at_ms=NOW_MS - 5_000 if progress is not RestartProgress.WAITING else None,
    )
    return replace(facts, **changes)


def facts(*brokers: BrokerFacts, **changes) -> RestartFacts:
    whole = RestartFacts(
        now_ms=NOW_MS,
        brokers=brokers,
        controller_id=1,
        seen_at_ms=NOW_MS - 1_000,
        lacking_count=0,
        lacking=[],
        gaps={},
        accepts_gaps=False,
    )
    return replace(whole, **changes)


def test_the_first_that_is_not_controller_is_taken():
    decision = decide(facts(broker(1), broker(2), broker(3)))
    assert (decision.do, decision.name, decision.progress) == (
        RestartStep.RESTART,
        "broker-2",
        RestartProgress.RESTARTING,
    )


def test_the_controller_is_taken_when_all_others_are_done():
    decision = decide(facts(broker(1), broker(2, RestartProgress.DONE), broker(3, RestartProgress.DONE)))
    assert (decision.do, decision.name) == (RestartStep.RESTART, "broker-1")


def test_a_controller_that_moved_to_a_broker_that_is_done_is_not_waited_for():
    decision = decide(facts(broker(1), broker(2, RestartProgress.DONE), controller_id=2))
    assert (decision.do, decision.name) == (RestartStep.RESTART, "broker-1")


def test_it_is_over_when_all_are_done():
    assert decide(facts(broker(1, RestartProgress.DONE), broker(2, RestartProgress.DONE))).do is RestartStep.FINISH


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"lacking_count": 1, "lacking": ["orders-1"]}, "1 partition lacks a replica in sync (orders-1)"),
        ({"lacking_count": 5, "lacking": ["a-0", "a-1"]}, "5 partitions lack a replica in sync (a-0, a-1 and 3 more)"),
        ({"seen_at_ms": NOW_MS - FRESH_MS - 1}, "the collector has not read the partitions since"),
        ({"controller_id": None}, "no broker is controller"),
    ],
)
def test_no_broker_is_taken_while(changes, reason):
    decision = decide(facts(broker(1), broker(2), **changes))
    assert decision.do is RestartStep.NOTHING
    assert reason in decision.sentence


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [({"is_running": False}, "broker-3 does not run"), ({"is_registered": False}, "broker-3 is not registered")],
)
def test_no_broker_is_taken_while_another_is_away(trouble, reason):
    decision = decide(facts(broker(1), broker(2), broker(3, **trouble)))
    assert decision.do is RestartStep.NOTHING
    assert reason in decision.sentence


@pytest.mark.parametrize(
    "not_back",
    [{"is_new": False}, {"is_running": False, "state": "starting: port 9092 does not answer yet"}],
)
def test_a_broker_is_restarting_until_its_new_process_runs(not_back):
    current = broker(2, RestartProgress.RESTARTING, **not_back)
    decision = decide(facts(broker(1), current))
    assert (decision.do, decision.name, decision.progress) == (
        RestartStep.NOTHING,
        "broker-2",
        RestartProgress.RESTARTING,
    )
    assert current.state in decision.sentence


def test_a_broker_catches_up_until_it_is_registered():
    decision = decide(facts(broker(1), broker(2, RestartProgress.RESTARTING, is_registered=False)))
    assert decision.progress is RestartProgress.CATCHING_UP


def test_a_broker_catches_up_until_every_partition_is_whole():
    decision = decide(facts(broker(1), broker(2, RestartProgress.CATCHING_UP), lacking_count=1, lacking=["orders-0"]))
    assert (decision.do, decision.progress) == (RestartStep.NOTHING, RestartProgress.CATCHING_UP)
    assert "orders-0" in decision.sentence


def test_what_was_seen_before_a_broker_was_back_does_not_count():
    decision = decide(facts(broker(1), broker(2, RestartProgress.CATCHING_UP, back_at_ms=NOW_MS - 500)))
    assert decision.progress is RestartProgress.CATCHING_UP


def test_a_broker_is_done_when_it_is_back_and_all_is_whole():
    assert decide(facts(broker(1), broker(2, RestartProgress.CATCHING_UP))).progress is RestartProgress.DONE


def test_a_broker_that_ends_while_it_restarts_pauses_everything():
    ended = broker(2, RestartProgress.RESTARTING, is_running=False, has_ended=True, state="exited: ended by itself")
    decision = decide(facts(broker(1), ended))
    assert (decision.do, decision.progress) == (RestartStep.PAUSE, RestartProgress.RESTARTING)
    assert "exited: ended by itself" in decision.sentence


def test_gaps_that_came_up_meanwhile_pause_before_the_broker_they_are_on():
    decision = decide(facts(broker(1), broker(2), gaps={2: 4}))
    assert decision.do is RestartStep.PAUSE
    assert "4 partitions have no replica to spare" in decision.sentence


def test_gaps_that_were_accepted_do_not_hinder():
    assert decide(facts(broker(1), broker(2), gaps={2: 4}, accepts_gaps=True)).do is RestartStep.RESTART


def test_while_paused_nobody_is_taken_and_the_one_under_way_is_still_watched():
    assert decide(facts(broker(1), broker(2), is_paused=True)).do is RestartStep.NOTHING
    watched = decide(facts(broker(1), broker(2, RestartProgress.CATCHING_UP), is_paused=True))
    assert (watched.do, watched.progress) == (RestartStep.NOTHING, RestartProgress.DONE)
