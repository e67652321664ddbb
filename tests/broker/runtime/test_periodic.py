"""What raises in one round of something endless costs that round."""

import asyncio

import pytest

from broker.runtime import periodic as room
from broker.runtime.periodic import rounds


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(room, "AFTER_FAILURE_S", 0)


async def test_a_round_that_raises_is_followed_by_the_next_and_told_with_its_traceback(capsys):
    calls, enough = [], asyncio.Event()

    async def one_round():
        calls.append(len(calls))
        if len(calls) < 3:
            raise RuntimeError("a defect in a round")
        enough.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(rounds(one_round))
    await asyncio.wait_for(enough.wait(), 10)
    assert calls == [0, 1, 2]
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    logged = capsys.readouterr().out
    assert logged.count("RuntimeError: a defect in a round") == 2
    assert "in one_round" in logged
