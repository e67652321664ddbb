"""Partitions that the counter of the audit loses sight of, or is refused, for a while."""

import asyncio
import re

import pytest

from broker.audit import counter
from broker.audit.counter import _Counting
from broker.client.cluster import ClusterConnections
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import MetadataResponse
from tests.served_logs import ServedLogs, values


class Logs(ServedLogs):
    """Served, unless metadata leave out the topic."""

    are_hidden = False

    def _answer(self, request):
        response = super()._answer(request)
        if self.are_hidden and request.api is ApiKey.METADATA:
            return MetadataResponse(brokers=response.brokers)
        return response


async def counted(logs: Logs, story) -> list[tuple[tuple[int, int], int]]:
    """The offsets and the number of records of each increment when the story has been told."""

    def tell() -> list[tuple[tuple[int, int], int]]:
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            counting = _Counting({}, cluster, re.compile("__.*"), "counter", 60_000)
            story(counting)
            return [
                ((increment.start, increment.end), sum(window.count for window in increment.windows.values()))
                for increment in counting.increments()
            ]

    async with logs.broker:
        return await asyncio.to_thread(tell)


async def test_records_count_once_when_metadata_leave_out_their_topic_for_a_moment():
    logs = Logs([values(1, 1, 1)])

    def story(counting: _Counting) -> None:
        for are_hidden in (False, True, False):
            logs.are_hidden = are_hidden
            counting._look_for_partitions()
            counting._read()

    assert await counted(logs, story) == [((0, 3), 3)]


@pytest.mark.parametrize(("refused_for_s", "expected"), [(60.0, []), (0.0, [((0, 3), 3)])])
async def test_a_partition_whose_leader_refused_is_asked_for_again_later(monkeypatch, refused_for_s, expected):
    monkeypatch.setattr(counter, "_REFUSED_FOR_S", refused_for_s)
    logs = Logs([values(1, 1, 1)], refused=0)

    def story(counting: _Counting) -> None:
        for refused in (0, None):
            logs.refused = refused
            counting._look_for_partitions()
            counting._read()

    assert await counted(logs, story) == expected
