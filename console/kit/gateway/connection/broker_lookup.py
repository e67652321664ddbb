"""Which brokers a cluster has, asked of any of them, and of no topic.

librdkafka asks for the metadata of one topic or of all. A topic that cannot be is a denial on the page of access lists
wherever the console may not see every topic; all topics are megabytes where a few addresses are wanted.
"""

import time
from collections.abc import Callable, Iterable

from broker.client.errors import BrokerUnreachable, LoginRefused
from broker.common.errors import BarnabasError
from broker.protocol.messages.metadata import MetadataRequest, MetadataResponse
from console.kit.gateway.connection.kept_connections import Lent

Address = tuple[str, int]


class BrokerLookup:
    """Asks the broker that answered last, then others that are known, then those the cluster is reached by.

    `lend(host, port, timeout_s)` is a connection. Threads share it.
    """

    def __init__(self, lend: Callable[[str, int, float], Lent]):
        self._lend = lend
        self._known: tuple[Address, ...] = ()

    def ask(self, bootstrap_servers: Iterable[Address], timeout_s: float) -> MetadataResponse:
        """Return brokers, controller and cluster id, without topics.

        One that does not answer takes half of the time that is left, so that another is asked. Raises the error of the
        first if none answers, LoginRefused at once: the next broker would count the same wrong password.
        """
        addresses = list(dict.fromkeys((*self._known, *bootstrap_servers)))
        deadline, failures = time.monotonic() + timeout_s, list[BarnabasError]()
        for left, address in zip(reversed(range(len(addresses))), addresses, strict=True):
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                break
            try:
                with self._lend(*address, remaining_s / 2 if left else remaining_s) as connection:
                    response = connection.ask(MetadataRequest(topics=[], allow_auto_topic_creation=False))
            except LoginRefused:
                raise
            except BarnabasError as error:
                failures.append(error)
                continue
            others = [(broker.host, broker.port) for broker in response.brokers]
            self._known = tuple(dict.fromkeys((address, *others)))
            return response
        raise failures[0] if failures else BrokerUnreachable("no broker is named")
