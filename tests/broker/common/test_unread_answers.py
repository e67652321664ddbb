"""Answers that clients do not read have one bound together: an address has a share, and short answers never wait."""

import asyncio
from collections import Counter

import pytest

from broker.common import limits, security_limits
from broker.common.shared_budget import ANONYMOUS, RESERVE, Owner
from broker.common.unread_answers import SharedAnswers, UnreadAnswers, is_refused

A, B = "10.0.0.1", "10.0.0.2"
START = {"type": "http.response.start", "status": 200, "headers": []}


def answering(*bodies: bytes):
    """An application that sends these bodies, as a stream if there are several, and stops where that is in vain."""

    async def app(scope, _receive, send):
        await send(START)
        for at, body in enumerate(bodies):
            await send({"type": "http.response.body", "body": body, "more_body": at < len(bodies) - 1})
            if is_refused(scope):
                return

    return app


async def refusal(_scope, _receive, send):
    await send({**START, "status": 503})
    await send({"type": "http.response.body", "body": b"later"})


class Client:
    """Takes `pieces` messages of its answer and then reads no more."""

    def __init__(self, address: str, pieces: int = 10_000):
        self.scope = {"type": "http", "client": (address, 1)}
        self.messages: list[dict] = []
        self._room = asyncio.Semaphore(pieces)

    async def send(self, message) -> None:
        await self._room.acquire()
        self.messages.append(message)

    @property
    def status(self) -> int | None:
        return next((message["status"] for message in self.messages if "status" in message), None)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)


@pytest.fixture
def answers() -> UnreadAnswers:
    return UnreadAnswers(size=1_600, floor=100, uncounted=10, streamed=110)


async def ask(app, client: Client) -> Client:
    await app(client.scope, None, client.send)
    return client


async def ask_without_reading(app, addresses: list[str]) -> tuple[list[Client], list[asyncio.Task]]:
    clients = [Client(address, pieces=3) for address in addresses]
    tasks = [asyncio.create_task(ask(app, client)) for client in clients]
    for _ in range(10):
        await asyncio.sleep(0)
    return clients, tasks


async def stop(tasks: list[asyncio.Task]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_long_answer_goes_out_in_pieces_and_is_whole(answers):
    client = await ask(SharedAnswers(answering(b"0123456789" * 5 + b"x"), refusal, answers), Client(A))
    assert (client.status, client.body) == (200, b"0123456789" * 5 + b"x")
    assert [message["more_body"] for message in client.messages[1:]] == [True] * 5 + [False]
    assert answers.budget.held == 0


async def test_an_answer_without_a_body_is_given_as_it_is(answers):
    client = await ask(SharedAnswers(answering(b""), refusal, answers), Client(A))
    assert (client.status, client.messages[1]["more_body"]) == (200, False)


async def test_unread_answers_of_one_address_leave_room_for_those_of_another(answers):
    app = SharedAnswers(answering(b"x" * 110), refusal, answers)
    clients, tasks = await ask_without_reading(app, [A] * 100)
    assert Counter(client.status for client in clients) == {200: 9, 503: 91}, "three quarters of what is no reserve"
    assert (await ask(app, Client(B))).status == 200
    await stop(tasks)
    assert answers.budget.held == 0


async def test_a_short_answer_never_waits_for_room(answers):
    _, tasks = await ask_without_reading(SharedAnswers(answering(b"x" * 110), refusal, answers), [A] * 100)
    client = await ask(SharedAnswers(answering(b"x" * 10), refusal, answers), Client(A))
    assert (client.status, client.body) == (200, b"x" * 10)
    await stop(tasks)


async def test_an_answer_longer_than_all_room_is_given_to_a_client_that_reads_one_at_a_time(answers):
    app = SharedAnswers(answering(b"x" * 5_000), refusal, answers)
    for _ in range(2):
        assert len((await ask(app, Client(A))).body) == 5_000


async def test_a_stream_counts_from_its_beginning_and_one_without_room_is_not_made_to_its_end(answers):
    answers.budget.hold(Owner(ANONYMOUS, A), 900)
    made = []

    async def app(scope, receive, send):
        await send(START)
        for at in range(100):
            made.append(at)
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
            if is_refused(scope):
                return

    client = await ask(SharedAnswers(app, refusal, answers), Client(A))
    assert (client.status, client.body, made) == (503, b"later", [0])


async def test_an_answer_that_tells_its_length_counts_whole_though_it_is_sent_in_pieces(answers):
    """Django gives a page in pieces of 64 KB, and holds all of it meanwhile."""

    async def page(_scope, _receive, send):
        await send({**START, "headers": [(b"Content-Length", b"110")]})
        for at in range(11):
            await send({"type": "http.response.body", "body": b"x" * 10, "more_body": at < 10})

    clients, tasks = await ask_without_reading(SharedAnswers(page, refusal, answers), [A] * 100)
    assert Counter(client.status for client in clients) == {200: 9, 503: 91}
    await stop(tasks)
    assert (await ask(SharedAnswers(page, refusal, answers), Client(A))).body == b"x" * 110


async def test_what_is_no_request_is_passed_on(answers):
    seen = []

    async def app(scope, _receive, _send):
        seen.append(scope["type"])

    await SharedAnswers(app, refusal, answers)({"type": "lifespan"}, None, None)
    assert seen == ["lifespan"]


def test_the_bounds_fit_together():
    budget = UnreadAnswers().budget
    assert budget.floor >= security_limits.REST_ANSWER_STREAMED_BYTES > limits.REGISTRY_SCHEMA_BYTES_MAX
    assert budget.floor <= budget.size // RESERVE
