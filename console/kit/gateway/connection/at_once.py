"""Several brokers asked at one time, on one thread: each is sent what it is asked, then is heard whoever answers first.

Looks ask every broker every second or two, over connections that are there already; a thread for each would cost more
than the question. Who has to be connected to first is so on threads: one that is silent holds up nobody else. A broker
reads nothing while nobody takes its answers: so it is sent some questions first, and one more for each answer.
"""

import select
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from broker.client.connection import SentRequest
from broker.common.errors import BarnabasError
from broker.protocol.schema import Message, Request
from broker.security.membership import ClusterMembership
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.kept_connections import Lent
from console.kit.gateway.errors import GatewayError

CONNECTED_AT_ONCE = 8
#: Of one broker; what they amount to has to fit where two kernels keep what is sent.
QUESTIONS_AHEAD = 8
#: Behind the deadline an answer that is there is still taken.
_LAST_S = 0.001

Address = tuple[str, int]


@dataclass(slots=True)
class BrokerResponses:
    """One answer to each question, in their order; none with an `error`. `served`: what the broker said it serves."""

    answers: list[Any] = field(default_factory=list)
    error: BarnabasError | GatewayError | None = None
    served: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    #: Feature → lowest and highest level that the broker supports.
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def ask_at_once(
    client: ClusterClient,
    questions: Mapping[Address, Sequence[Request[Message]]],
    timeout_seconds: float,
    membership: ClusterMembership | None = None,
) -> dict[Address, BrokerResponses]:
    """Return each broker's responses within `timeout_seconds`; `membership` is for requests between members."""
    responses: dict[Address, BrokerResponses] = {}
    with ExitStack() as stack:
        begun: dict[int, _Talk] = {}
        for address, lent in _lent(client, questions, timeout_seconds, membership):
            if not isinstance(lent, Lent):
                responses[address] = BrokerResponses(error=lent)
                continue
            talk = _Talk(client, lent, stack.enter_context(ExitStack()))
            responses[address] = talk.heard
            if talk.asks(questions[address], membership):
                begun[talk.descriptor] = talk
        deadline = time.monotonic() + timeout_seconds
        for talk in _as_they_answer(begun, deadline):
            talk.hears(deadline)
    return {address: responses[address] for address in questions}


class _Talk:
    """With one broker, until its answers are there: then others may have the connection, and the turn."""

    def __init__(self, client: ClusterClient, lent: Lent, ends: ExitStack):
        self._client, self._ends = client, ends
        self._connection = ends.enter_context(lent)
        self._sent: deque[SentRequest[Message]] = deque()
        self._later: Iterator[Request[Message]] = iter(())
        self.heard = BrokerResponses(served=self._connection.served, features=self._connection.supported_features)

    @property
    def descriptor(self) -> int:
        return self._connection.fileno()

    def asks(self, questions: Sequence[Request[Message]], membership: ClusterMembership | None) -> bool:
        """Return whether answers are to come."""
        connection = self._connection
        try:
            self._ends.enter_context(self._client.turn(connection.address, connection.timeout_s))
            self._sent += connection.send_all(questions[:QUESTIONS_AHEAD], membership=membership)
            self._later = iter(questions[QUESTIONS_AHEAD:])
        except BarnabasError as error:
            self._over(error)
        return bool(self._sent)

    def hears(self, deadline: float) -> None:
        try:
            while self._sent:
                left_s = max(_LAST_S, deadline - time.monotonic())
                self.heard.answers.append(self._connection.answer(self._sent.popleft(), timeout_s=left_s))
                self._sent += map(self._connection.send, islice(self._later, 1))
        except BarnabasError as error:
            self.heard.answers.clear()
            self._over(error)
        else:
            self._over(None)

    def _over(self, error: BarnabasError | None) -> None:
        self.heard.error = error
        self._ends.close()


def _lent(
    client: ClusterClient,
    addresses: Mapping[Address, object],
    timeout_seconds: float,
    membership: ClusterMembership | None,
) -> Iterator[tuple[Address, Lent | BarnabasError | GatewayError]]:
    """Yield connections, open ones first."""

    def lent(lend: Callable[..., Lent | None], address: Address) -> Lent | BarnabasError | GatewayError | None:
        try:
            return lend(*address, timeout_seconds, membership)
        except (BarnabasError, GatewayError) as error:
            return error

    strangers = []
    for address in addresses:
        kept = lent(client.kept_connection, address)
        if kept is None:
            strangers.append(address)
        else:
            yield address, kept
    if strangers:
        with ThreadPoolExecutor(CONNECTED_AT_ONCE) as pool:
            yield from zip(strangers, pool.map(partial(lent, client.connection), strangers), strict=True)


def _as_they_answer(talks: dict[int, _Talk], deadline: float) -> Iterator[_Talk]:
    """Yield talks as they answer; those that have not begun by `deadline` come last."""
    poll = select.poll()
    for descriptor in talks:
        poll.register(descriptor, select.POLLIN)
    while talks and (left_s := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(1_000 * left_s):
            poll.unregister(descriptor)
            yield talks.pop(descriptor)
    yield from talks.values()
