"""Brokers that are told to stop, one after the other: nobody has to notice."""

import time
from collections.abc import Iterator

from tests.faults.history import BrokersSeen, CommitTried, Event, Outcome, Produced, StateSeen
from tests.faults.matrix.stage import Stage


def restart_each(stage: Stage) -> None:
    everybody = stage.others()
    for item in stage.random.sample(everybody, len(everybody)):
        took = stage.stop(item)
        stage.measured["stop"] = max(took, stage.measured.get("stop", 0.0))
        stage.start(item)
        began = time.monotonic()
        stage.heal()
        stage.await_whole()
        stage.measured["back"] = max(time.monotonic() - began, stage.measured.get("back", 0.0))
        stage.await_progress()


def nobody_noticed(events: list[Event]) -> Iterator[str]:
    """No operation of a client that tries again has failed, and no broker left while it led.

    Who writes with acks=all and without idempotence in this load was told not to try again.
    """
    for event in events:
        if isinstance(event, Produced) and event.outcome != Outcome.OK and (event.is_idempotent or event.acks == "1"):
            yield f"{event.record} ended with {event.error}, though every broker stopped cleanly"
        if isinstance(event, CommitTried) and event.outcome != Outcome.OK:
            yield f"a commit of {event.member} for {event.topic}-{event.partition} was not acknowledged"
    yield from _left_while_leading(events)


def _left_while_leading(events: list[Event]) -> Iterator[str]:
    states = [event for event in events if isinstance(event, StateSeen)]
    before: set[int] = set()
    for seen in (event for event in events if isinstance(event, BrokersSeen)):
        gone, before = before - set(seen.ids), set(seen.ids)
        last = {(state.topic, state.partition): state for state in states if state.zxid < seen.zxid}
        for (topic, partition), state in last.items():
            if state.leader in gone:
                yield f"broker {state.leader} left while it led {topic}-{partition}"
