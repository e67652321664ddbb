import asyncio

import pytest

from broker.zookeeper.ask_each import AT_ONCE, ask_each
from tests.eventually import eventually


async def test_answers_stand_in_the_order_of_the_questions_however_they_come():
    async def ask(number: int) -> int:
        for _ in range(number % 7):
            await asyncio.sleep(0)
        return number * 2

    assert await ask_each(ask, range(100)) == [number * 2 for number in range(100)]
    assert await ask_each(ask, []) == []


async def test_only_some_questions_are_under_way_at_once():
    under_way, begun, may_go_on = set(), [], asyncio.Event()

    async def ask(number: int) -> None:
        begun.append(number)
        under_way.add(number)
        assert len(under_way) <= AT_ONCE
        await may_go_on.wait()
        under_way.discard(number)

    asking = asyncio.ensure_future(ask_each(ask, range(5 * AT_ONCE)))
    await eventually(lambda: len(under_way) == AT_ONCE, "as many as may be")
    may_go_on.set()
    await asking
    assert begun == list(range(5 * AT_ONCE))


async def test_what_one_raises_ends_it_and_no_more_is_asked():
    requests = []

    async def ask(number: int) -> None:
        requests.append(number)
        await asyncio.sleep(0)
        if number == 3:
            raise KeyError(number)
        await asyncio.sleep(0)

    with pytest.raises(KeyError):
        await ask_each(ask, range(1_000))
    await asyncio.sleep(0.01)
    assert len(requests) < 3 * AT_ONCE
