"""Bodies of REST requests have one bound together: an address has a share, and sending slowly holds no room."""

import asyncio

import pytest

from broker.common import limits, security_limits
from broker.common.request_bodies import BodiesFull, RequestBodies, RequestBody, SharedBodies
from broker.common.shared_budget import RESERVE

A, B = "10.0.0.1", "10.0.0.2"


@pytest.fixture
def bodies() -> RequestBodies:
    return RequestBodies(size=1_600, floor=100, uncounted=10)


def hold(bodies: RequestBodies, address: str, *, is_last: bool) -> int:
    """Begin bodies of 110 bytes until one is refused. Return how many there are room for."""
    for number in range(100):
        try:
            bodies.receive(RequestBody(address), 110, is_last=is_last)
        except BodiesFull:
            return number
    return 100


def test_whole_bodies_of_one_address_leave_room_for_those_of_another(bodies):
    assert hold(bodies, A, is_last=True) == 9, "three quarters of what is no reserve"
    assert hold(bodies, B, is_last=True) >= 2
    assert bodies.budget.held <= 1_600


def test_a_new_body_takes_the_room_of_the_oldest_unfinished_one_of_its_address(bodies):
    refused = []
    slow = {name: RequestBody(A, lambda name=name: refused.append(name)) for name in range(9)}
    other = RequestBody(B, lambda: refused.append(B))
    bodies.receive(other, 110, is_last=False)
    for body in slow.values():
        bodies.receive(body, 110, is_last=False)
    bodies.receive(RequestBody(A), 110, is_last=True)
    assert refused == [0, 1], "the other address's body leaves less room"
    with pytest.raises(BodiesFull):
        bodies.receive(slow[0], 1, is_last=False)
    bodies.receive(other, 1, is_last=True)


def test_however_many_bodies_never_end_they_hold_no_more_than_a_share_and_keep_no_whole_one_out(bodies):
    assert hold(bodies, A, is_last=False) == 100
    assert bodies.budget.held <= 900
    bodies.receive(RequestBody(A), 110, is_last=True)


def test_however_many_addresses_send_slowly_a_newcomer_has_room(bodies):
    refused = []
    for number in range(100):
        body = RequestBody(f"10.1.0.{number}", lambda number=number: refused.append(number))
        bodies.receive(body, 110, is_last=False)
    bodies.receive(RequestBody(A), 110, is_last=True)
    assert refused == list(range(len(refused))), "the oldest ones"
    assert bodies.budget.held <= 1_600


def test_a_client_beyond_its_floor_takes_no_room_of_other_addresses(bodies):
    refused = []
    for number in range(12):
        bodies.receive(RequestBody(f"10.1.0.{number}", lambda: refused.append(1)), 110, is_last=False)
    refused.clear()
    with pytest.raises(BodiesFull):
        bodies.receive(RequestBody(A), 1_100, is_last=False)
    assert refused == []


@pytest.mark.parametrize(("owner", "amount"), [(A, 5_000), (B, 5_000), (B, 1_000)])
def test_a_body_for_which_no_others_would_make_room_takes_none_of_theirs(bodies, owner, amount):
    refused = []
    slow = [RequestBody(A, lambda: refused.append(A)) for _ in range(3)] + [RequestBody(B, lambda: refused.append(B))]
    for body in slow:
        bodies.receive(body, 110, is_last=False)
    hold(bodies, "10.0.0.3", is_last=True)
    held = bodies.budget.held
    with pytest.raises(BodiesFull):
        bodies.receive(RequestBody(owner), amount, is_last=False)
    assert (refused, bodies.budget.held) == ([], held)
    for body in slow:
        bodies.receive(body, 0, is_last=True)


def test_short_bodies_never_wait_for_room(bodies):
    hold(bodies, A, is_last=True)
    bodies.receive(RequestBody(A), 10, is_last=True)


def test_an_answered_request_holds_nothing(bodies):
    held = [RequestBody(A) for _ in range(9)]
    for body in held:
        bodies.receive(body, 110, is_last=True)
    for body in (*held, *held):
        bodies.end(body)
    assert bodies.budget.held == 0


def test_a_client_that_waits_with_half_a_body_is_told_at_once_that_it_has_to_give_way():
    bodies = RequestBodies(size=1_600, floor=100, uncounted=10)

    async def read(_scope, receive, send):
        try:
            while (await receive()).get("more_body"):
                pass
            await send("read")
        except BodiesFull:
            await send("refused")

    async def request(*parts: bytes, is_whole: bool) -> str:
        """What became of a request whose body comes in these parts, and then never goes on or ends."""
        messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        messages += [{"type": "http.request", "body": b"", "more_body": False}] if is_whole else []
        outcome: list[str] = []

        async def receive():
            if not messages:
                await asyncio.Event().wait()
            return messages.pop(0)

        async def send(message):
            outcome.append(message)

        await SharedBodies(read, bodies)({"type": "http", "client": (A, 1)}, receive, send)
        return outcome[0]

    async def test() -> None:
        async with asyncio.timeout(20):
            slow = [asyncio.create_task(request(b"x" * 810, is_whole=False))]
            await asyncio.sleep(0)
            assert await request(b"x" * 400, b"x" * 410, is_whole=True) == "read"
            assert await slow[0] == "refused"
            assert bodies.budget.held == 0

    asyncio.run(test())


def test_the_reserve_has_room_for_the_longest_bodies_of_several_newcomers():
    assert (
        security_limits.REST_BODIES_NEWCOMER_BYTES
        >= limits.REGISTRY_BODY_BYTES_MAX - security_limits.REST_BODY_UNCOUNTED_BYTES
    )
    assert security_limits.REST_BODIES_BYTES_MAX // RESERVE >= 8 * security_limits.REST_BODIES_NEWCOMER_BYTES
