"""What a handler is; what it is given is in `runtime/requests/context.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from broker.common.errors import BarnabasError
from broker.common.limits import (
    BYTES_AT_ONCE_MAX,
    DECODED_FACTOR,
    PARTITIONS_REQUEST_BYTES_MAX,
    PARTITIONS_REQUEST_ENTRIES_MAX,
    PEER_REQUEST_BYTES_MAX,
    PEER_REQUEST_ENTRIES_MAX,
    REQUEST_BYTES_MAX,
    REQUEST_ENTRIES_MAX,
)
from broker.config.broker import BrokerConfig
from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.rights import UNLIMITED, Rights
from broker.security.session import ANONYMOUS, Session


class RequestBudget(NamedTuple):
    """What one request may bring: bytes on the wire, and elements in all its arrays. More ends the connection."""

    bytes_max: int
    entries_max: int
    #: One of more bytes may take long, and waits until others have had their turn.
    bytes_at_once: int = BYTES_AT_ONCE_MAX
    #: How many times its bytes it may take in memory until it is answered.
    decoded_factor: int = DECODED_FACTOR
    #: From more bytes than this on, an answer that comes later is encoded in turns: it may be long.
    long_answers_from: int = 0


ORDINARY = RequestBudget(REQUEST_BYTES_MAX, REQUEST_ENTRIES_MAX)
#: For those that may tell of everything there is, however little they ask.
OF_EVERYTHING = RequestBudget(REQUEST_BYTES_MAX, REQUEST_ENTRIES_MAX, bytes_at_once=0)
#: For requests in which a client may name all partitions it works with.
OF_PARTITIONS = RequestBudget(PARTITIONS_REQUEST_BYTES_MAX, PARTITIONS_REQUEST_ENTRIES_MAX)
#: For what brokers tell one another, of as many partitions as there are.
OF_PEERS = RequestBudget(PEER_REQUEST_BYTES_MAX, PEER_REQUEST_ENTRIES_MAX)


#: The last version of an API that a broker serves by its settings.
LastVersion = Callable[[BrokerConfig], int]


@dataclass(frozen=True, slots=True)
class Handler:
    """One API. `served` versions are answered; `advertised` is what ApiVersions says, None for what clients need not
    know.
    """

    api: ApiKey
    served: tuple[int, int]
    handle: Callable[[Any, RequestContext], Reply]
    advertised: tuple[int, int] | None
    budget: RequestBudget = ORDINARY
    #: The version from which on only members of the cluster may ask; None: everybody may.
    members_from: int | None = None
    #: What others are answered to their request; None: CLUSTER_AUTHORIZATION_FAILED at the top of the response.
    refuse: Callable[[Any], Message] | None = None
    #: Who else may ask an API for members, by rights that somebody gave them; None: nobody.
    others_may: Callable[[Rights], bool] | None = None
    #: What members may bring from `members_from` on, if more than `budget`.
    members_budget: RequestBudget | None = None
    #: None: the last of `served`, whatever the settings.
    last_if: LastVersion | None = None

    def serves(self, version: int, config: BrokerConfig) -> bool:
        first, last = self.served
        return first <= version <= (last if self.last_if is None else self.last_if(config))

    def budget_of(self, version: int) -> RequestBudget:
        return self.members_budget if self.members_budget and self.is_for_members(version) else self.budget

    def is_for_members(self, version: int) -> bool:
        return self.members_from is not None and version >= self.members_from

    def admits(self, session: Session) -> bool:
        """Return whether a client that is no cluster member may send the request; one without a name and rights never
        may.
        """
        is_somebody = session.rights is not UNLIMITED or session.principal != ANONYMOUS
        return self.others_may is not None and is_somebody and self.others_may(session.rights)


def public(
    api: ApiKey,
    first: int,
    last: int,
    handle: Callable[[Any, RequestContext], Reply],
    *,
    advertised_from: int | None = None,
    budget: RequestBudget = ORDINARY,
    last_if: LastVersion | None = None,
) -> Handler:
    """Declare a handler of an API for clients, versions `first` to `last`."""
    advertised = first if advertised_from is None else advertised_from, last
    return Handler(api, (first, last), handle, advertised, budget, last_if=last_if)


def private(api: ApiKey, version: int, handle: Callable[[Any, RequestContext], Reply]) -> Handler:
    """Declare a handler of an API between brokers: served to members of the cluster, not advertised."""
    return Handler(api, (version, version), handle, None, OF_PEERS, members_from=version)


def for_members(
    api: ApiKey,
    first: int,
    last: int,
    handle: Callable[[Any, RequestContext], Reply],
    refuse: Callable[[Any], Message] | None = None,
    *,
    budget: RequestBudget = ORDINARY,
    others_may: Callable[[Rights], bool] | None = None,
) -> Handler:
    """Declare a handler of an API that clients know of, but only members of the cluster may use, and those with the
    rights that it names.
    """
    return Handler(
        api,
        (first, last),
        handle,
        (first, last),
        budget,
        members_from=first,
        refuse=refuse,
        others_may=others_may,
    )


class AuthorizationFailed(BarnabasError):
    """Raised by a plain function: `response` has the error, and the log the client and the operation.

    With `is_last` the connection is closed after the answer.
    """

    def __init__(self, response: Message, reason: str, *, is_last: bool = False):
        super().__init__(reason)
        self.response = response
        self.is_last = is_last


class CloseConnectionError(BarnabasError):
    """The only way left to tell the client: the connection is closed, and why is in the log."""
