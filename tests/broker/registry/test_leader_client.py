"""What the leading registry answers to a forwarded request is read to a bound, and not unpacked."""

import gzip

import pytest

from broker.common.security_limits import FORWARDED_ANSWER_BYTES_MAX
from broker.registry.rest.leader_answer import NoAnswer
from broker.registry.rest.leader_client import ask_leader
from tests.broker.common.endless_http import endless_answers


async def test_an_answer_that_never_ends_is_an_error():
    with (
        endless_answers() as (url, sent),
        pytest.raises(NoAnswer, match=f"longer than {FORWARDED_ANSWER_BYTES_MAX:,}"),
    ):
        await ask_leader("POST", url, b"{}", {}, None)
    assert sent[0] < 2 * FORWARDED_ANSWER_BYTES_MAX + 16 * 1024 * 1024


async def test_an_answer_that_comes_packed_is_not_unpacked():
    packed = gzip.compress(b"x" * 20_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    with endless_answers(head + packed) as (url, _):
        answer = await ask_leader("POST", url, b"{}", {}, None)
    assert answer.body == packed
