import asyncio

import pytest
from structlog.testing import capture_logs

from broker.server.exit_stack import LoggingExitStack


async def test_what_was_started_last_is_stopped_first_and_each_is_waited_for():
    stopped, exits = [], LoggingExitStack()

    async def stop_slowly() -> None:
        await asyncio.sleep(0)
        stopped.append("second")

    exits.add(lambda: stopped.append("first"))
    exits.add(stop_slowly, lambda: stopped.append("third"))
    await exits.leave()
    assert stopped == ["third", "second", "first"]


async def test_nothing_is_stopped_twice():
    stopped, exits = [], LoggingExitStack()
    exits.add(lambda: stopped.append("once"))
    await exits.leave()
    await exits.leave()
    assert stopped == ["once"]


async def test_what_one_stop_meets_is_logged_and_the_others_have_their_turn():
    stopped, exits = [], LoggingExitStack()

    def break_down() -> None:
        raise RuntimeError("a fault of ours")

    exits.add(lambda: stopped.append("first"), break_down, lambda: stopped.append("third"))
    with capture_logs() as logs:
        await exits.leave()
    assert stopped == ["third", "first"]
    assert [line["failed"].rpartition(".")[2] for line in logs] == ["break_down"]


async def test_who_is_told_to_end_at_once_meanwhile_lets_the_others_have_their_turn_too():
    stopped, exits = [], LoggingExitStack()
    exits.add(lambda: stopped.append("first"), asyncio.get_running_loop().create_future)
    leaving = asyncio.create_task(exits.leave())
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert stopped == ["first"]
