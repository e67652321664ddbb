"""A listening socket that somebody else was quicker to take."""

import asyncio

import pytest

from broker.common.errors import StartupError
from broker.config.broker import Endpoint
from broker.net.listener import Listener
from broker.net.memory import ConnectionMemory


def listener(port: int = 0) -> Listener:
    endpoint = Endpoint("PLAINTEXT", "127.0.0.1", port)
    return Listener(
        endpoint,
        lambda *_: None,
        lambda *_: None,
        frame_bytes_max=100,
        connections_max=1,
        idle_ms_max=60_000,
        memory=ConnectionMemory(),
    )


async def test_of_two_bound_at_the_same_moment_the_second_to_start_says_why_it_cannot():
    first = listener()
    second = listener(first.port)
    first.start(asyncio.get_running_loop())
    with pytest.raises(StartupError, match=f"cannot listen on PLAINTEXT://127.0.0.1:{first.port}: Address already"):
        second.start(asyncio.get_running_loop())
    second.stop()
    first.stop()
