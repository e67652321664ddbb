"""Many things for one request are done a slice at a time, and others have their turn between two slices."""

import asyncio

import pytest

from broker.common.limits import THINGS_IN_A_TURN
from broker.net.turns import SLICE_S, Turns
from broker.runtime.gather import gather
from broker.runtime.in_turns import emptied_in_turns, in_turns, partitions_in_turns


class Log:
    """What was done, with a bar wherever the loop went on to something else."""

    def __init__(self):
        self.done = []
        self.slices = [0]
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self):
        while True:
            await asyncio.sleep(0)
            if self.slices[-1]:
                self.slices.append(0)

    def do(self, thing):
        self.done.append(thing)
        self.slices[-1] += 1
        return -thing

    async def do_later(self, thing):
        return self.do(thing)

    def end(self):
        self._watching.cancel()
        return [count for count in self.slices if count]


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Stands still unless a test moves it."""
    now = [1.0]
    monkeypatch.setattr("broker.net.turns.monotonic", lambda: now[0])
    return now


async def test_no_slice_has_more_than_its_share_and_nothing_is_lost():
    log = Log()
    things = list(range(THINGS_IN_A_TURN * 3 + 5))
    assert await in_turns(things, log.do, Turns()) == [-thing for thing in things]
    assert await in_turns(things, log.do_later, Turns()) == [-thing for thing in things]
    assert log.done == things * 2
    assert max(log.end()) <= THINGS_IN_A_TURN * 2  # the last of one and the first of the next


async def test_what_is_large_counts_for_many():
    log = Log()
    await in_turns(range(10), log.do, Turns(), size_of=lambda _: THINGS_IN_A_TURN)
    assert log.end() == [1] * 10


async def test_what_takes_longer_than_it_should_is_one_slice_by_itself(clock):
    """A client chooses timestamps, and by them when a segment ends."""
    log = Log()

    def do_slowly(thing):
        clock[0] += 2 * SLICE_S
        return log.do(thing)

    await in_turns(range(10), do_slowly, Turns())
    assert log.end() == [1] * 10


async def test_of_many_requests_one_slice_is_done_in_a_pass_of_the_loop():
    log, turns = Log(), Turns()
    things = range(THINGS_IN_A_TURN * 4)
    await asyncio.gather(*(in_turns(things, log.do, turns) for _ in range(5)))
    slices = log.end()
    assert slices[0] == 5 * THINGS_IN_A_TURN  # the first slice of each, as each came
    assert set(slices[1:]) == {THINGS_IN_A_TURN}


async def test_partitions_come_back_by_topic():
    indexes_by_topic = {"a": [1, 2], "b": [], "c": list(range(THINGS_IN_A_TURN))}
    assert await partitions_in_turns(indexes_by_topic, lambda topic, turn: (topic, turn), Turns()) == [
        (topic, [(topic, partition) for partition in partitions]) for topic, partitions in indexes_by_topic.items()
    ]


async def test_works_at_once_begin_a_slice_at_a_time():
    log = Log()
    works = (log.do_later(thing) for thing in range(THINGS_IN_A_TURN * 3))
    assert await gather(works, Turns()) == [-index for index in range(THINGS_IN_A_TURN * 3)]
    assert log.end() == [THINGS_IN_A_TURN] * 3


async def test_a_request_that_was_given_up_holds_nobody_up():
    turns = Turns()
    given_up = asyncio.ensure_future(in_turns(range(THINGS_IN_A_TURN * 9), lambda turn: turn, turns))
    await asyncio.sleep(0)
    given_up.cancel()
    assert len(await in_turns(range(THINGS_IN_A_TURN * 2), lambda turn: turn, turns)) == THINGS_IN_A_TURN * 2


@pytest.mark.parametrize("container", [dict.fromkeys(range(1_000)), list(range(1_000))], ids=["dict", "list"])
async def test_a_container_is_emptied_a_slice_at_a_time(container, clock):
    left = []

    class Impatient(Turns):
        """Nobody has time for more than one look."""

        def is_over(self, slice_end):
            left.append(len(container))
            return len(left) % 2 == 0

    await emptied_in_turns(container, Impatient())
    assert not container
    assert len(set(left)) > 10
