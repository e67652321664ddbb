"""Brokers that are told to stop, one after the other: nobody has to notice."""

import time
from collections.abc import Iterator

from tests.faults.history import BrokersSeen, CommitTried, Event, Outcome, Produced, StateSeen
from tests.faults.matrix.stage import Stage


def restart_each(stage: Stage) -> None:
    everybody = stage.others()
    for each in stage.random.sample(everybody, len(everybody)):
        took = stage.stop(each)
        stage.measured["stop"] = max(took, stage.measured.get("stop", 0.0))
        stage.start(each)
        began = time.monotonic()
        stage.heal()
        stage.await_whole()
        stage.measured["back"] = max(time.monotonic() - began, stage.measured.get("back", 0.0))
        stage.await_progress()


def nobody_noticed(events: list[Event]) -> Iterator[str]:
    """No operation of a client that tries again has failed, and no broker left while it led.

    Who writes with acks=all and without idempotence in this load was told not to try again.
    """
    for each in events:
        if isinstance(each, Produced) and each.outcome != Outcome.OK and (each.is_idempotent or each.acks == "1"):
            yield f"{each.record} ended with {each.error}, though every broker stopped cleanly"
        if isinstance(each, CommitTried) and each.outcome != Outcome.OK:
            yield f"a commit of {each.member} for {each.topic}-{each.partition} was not acknowledged"
    yield from _left_while_leading(events)


def _left_while_leading(events: list[Event]) -> Iterator[str]:
    states = [each for each in events if isinstance(each, StateSeen)]
    before: set[int] = set()
    for seen in (each for each in events if isinstance(each, BrokersSeen)):
        gone, before = before - set(seen.ids), set(seen.ids)
        last = {(each.topic, each.partition): each for each in states if each.zxid < seen.zxid}
        for (topic, partition), state in last.items():
            if state.leader in gone:
                yield f"broker {state.leader} left while it led {topic}-{partition}"
