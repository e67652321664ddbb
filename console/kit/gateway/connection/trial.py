"""A connection tried before a cluster is kept: step by step, each within seconds, and told in one sentence.

Whoever may try makes the console open connections, so what no cluster is at is refused: link-local addresses, where
clouds tell machines their secrets, multicast and unspecified ones, in whatever form they are written. Private ones are
where clusters are.
"""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from broker.client.cluster import parse_bootstrap_servers
from broker.client.connection import BrokerConnection
from broker.client.errors import BrokerUnreachable, ClosedAtOnce, LoginRefused, NotTrusted
from broker.client.security.properties import ClientSecurity
from broker.common.errors import BarnabasError
from broker.protocol.messages.describe_cluster import DescribeClusterRequest
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED, MetadataRequest
from broker.security.operations import AclOperation
from console.kit.common.outbound import AddressRefusedError, checked_addresses

STEP_S = 5.0
#: Of all servers that were named: the first that answers is enough.
ALL_S = 20.0
SERVERS_MAX = 8
_NEEDED = {
    AclOperation.DESCRIBE: "look",
    AclOperation.DESCRIBE_CONFIGS: "see settings",
    AclOperation.ALTER: "change things",
}


@dataclass(frozen=True, slots=True)
class TrialStep:
    """`error`: one sentence; the steps behind were not tried."""

    name: str
    words: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """`cluster_id` is empty where nobody answered."""

    steps: tuple[TrialStep, ...]
    cluster_id: str = ""

    @property
    def error(self) -> str:
        return next((f"{step.name}: {step.error}" for step in self.steps if step.error), "")


def try_cluster(bootstrap: str, security: ClientSecurity) -> Trial:
    """Return the first server that lets us in, or the last that did not."""
    ends = time.monotonic() + ALL_S
    trial = Trial((TrialStep("resolve", error="There is no server to ask."),))
    for host, port in parse_bootstrap_servers(bootstrap)[:SERVERS_MAX]:
        if time.monotonic() > ends:
            break
        trial = _TriedServer(host, port, security).tried()
        if not trial.error:
            break
    return trial


class _TriedServer:
    def __init__(self, host: str, port: int, security: ClientSecurity):
        self._host, self._port, self._security = host, port, security
        self._cluster_id = ""

    def tried(self) -> Trial:
        steps = []
        for step in self._steps():
            steps.append(step)
            if step.error:
                break
        return Trial(tuple(steps), self._cluster_id)

    def _steps(self) -> Iterator[TrialStep]:
        try:
            addresses = checked_addresses(self._host, self._port)
        except AddressRefusedError as error:
            yield TrialStep("resolve", error=str(error))
            return
        yield TrialStep("resolve", f"{self._host} is {', '.join(addresses[:4])}")
        try:
            socket.create_connection((addresses[0], self._port), STEP_S).close()
        except OSError as error:
            why = "nobody answers" if isinstance(error, TimeoutError) else error.strerror or type(error).__name__
            yield TrialStep("connect", error=f"{self._host}:{self._port}: {why}.")
            return
        yield TrialStep("connect", f"port {self._port} is open")
        yield from self._as_client()

    def _as_client(self) -> Iterator[TrialStep]:
        last = "log in" if self._security.sasl else "TLS" if self._security.tls else "speak Kafka"
        try:
            connection = BrokerConnection(
                self._host, self._port, timeout_s=STEP_S, client_id="barnabas-console", security=self._security
            )
        except NotTrusted as error:
            yield TrialStep("TLS", error=f"{error}.")
        except LoginRefused as error:
            yield TrialStep("log in", error=f"{error}.")
        except ClosedAtOnce as error:
            yield TrialStep("speak Kafka" if self._security.tls is None else last, error=f"{error}.")
        except BarnabasError as error:
            yield TrialStep("TLS" if self._security.tls and "TLS" in str(error) else last, error=f"{error}.")
        else:
            with connection:
                yield from self._inside(connection)

    def _inside(self, connection: BrokerConnection) -> Iterator[TrialStep]:
        if self._security.tls:
            yield TrialStep("TLS", "both trust each other" if self._security.tls.keystore else "the broker is trusted")
        if self._security.sasl:
            yield TrialStep("log in", f"as {self._security.sasl.username} by {self._security.sasl.mechanism}")
        try:
            response = connection.ask(MetadataRequest(topics=[]), timeout_s=STEP_S)
        except BarnabasError as error:
            yield TrialStep("metadata", error=f"{error}.")
            return
        self._cluster_id = response.cluster_id or ""
        count = len(response.brokers)
        words = f"cluster {self._cluster_id or 'without an id'}, {count} broker{'' if count == 1 else 's'}"
        if not count:
            yield TrialStep("metadata", error="The broker knows of no broker.")
            return
        yield TrialStep("metadata", words)
        yield _rights(connection)


def _rights(connection: BrokerConnection) -> TrialStep:
    """Return which operations the cluster authorizes; nothing is tried out, because that would change something."""
    bits = OPERATIONS_NOT_REQUESTED
    with suppress(BarnabasError, BrokerUnreachable):
        request = DescribeClusterRequest(include_cluster_authorized_operations=True)
        bits = connection.ask(request, timeout_s=STEP_S).cluster_authorized_operations
    if bits == OPERATIONS_NOT_REQUESTED:
        return TrialStep("rights", "the cluster does not tell; what is refused will say so on its page")
    may = [words for operation, words in _NEEDED.items() if bits & (1 << operation)]
    lacks = [words for operation, words in _NEEDED.items() if not bits & (1 << operation)]
    rights = f"on the cluster it may {', '.join(may) or 'nothing'}"
    return TrialStep("rights", f"{rights}; it may not {', '.join(lacks)}" if lacks else rights)
