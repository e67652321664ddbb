"""What becomes of a change of roles whose controller has gone: it ends, and only what is unforeseen is told."""

import asyncio
import gc

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.runtime.serialized_changes import SerializedChanges


@pytest.fixture
async def unretrieved():
    messages = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: messages.append(context["message"]))
    return messages


async def left_alone(turns: SerializedChanges, error: Exception) -> None:
    """A change that fails with `error` after its controller closed the connection."""
    go_on = asyncio.Event()

    async def change() -> None:
        await go_on.wait()
        raise error

    task = asyncio.ensure_future(turns.to_the_end(change))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    go_on.set()
    async with turns:
        pass
    await asyncio.sleep(0)  # what is called back when it is done
    gc.collect()


async def test_a_refusal_that_nobody_waits_for_is_nobodys_business(unretrieved, capsys):
    await left_alone(SerializedChanges(), ApiError(ErrorCode.STALE_BROKER_EPOCH))
    assert unretrieved == []
    assert capsys.readouterr().out == ""


async def test_what_is_unforeseen_is_told_also_if_nobody_waits(unretrieved, capsys):
    await left_alone(SerializedChanges(), ZeroDivisionError("a fault of ours"))
    assert unretrieved == []
    assert "a fault of ours" in capsys.readouterr().out


async def test_who_waits_hears_of_it_and_nobody_else(unretrieved, capsys):
    async def change() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await SerializedChanges().to_the_end(change)
    gc.collect()
    assert (unretrieved, capsys.readouterr().out) == ([], "")
