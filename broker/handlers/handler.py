"""What a handler is, and what it is given."""

from collections.abc import Awaitable, Callable
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
from broker.coordinator.group.memory import GroupMemory
from broker.net.turns import Turns
from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message
from broker.replication.fetch_session import FetchSessions
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.runtime.controller_epochs import ControllerEpochs
from broker.runtime.coordinators.group_coordinators import GroupCoordinators
from broker.runtime.coordinators.producer_ids import ProducerIds
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.in_turns import InOrder
from broker.runtime.log_dirs import LogDirs
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.delayed_produces import DelayedProduces
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.log_dir_moves import LogDirMoves
from broker.runtime.replication.record_deletions import RecordDeletions
from broker.runtime.replication.repacking import Repacking
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.transactional_appends import TransactionalAppends
from broker.runtime.request_times import RequestTimes
from broker.runtime.retention_previews import RetentionPreviews
from broker.runtime.security.authorizer import Authorizer, RightsOf, unlimited_rights
from broker.runtime.security.credentials import Credentials
from broker.runtime.security.delegation_tokens import DelegationTokens
from broker.runtime.security.quotas import Quotas
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_configs import TopicConfigs
from broker.security.rights import UNLIMITED, Rights
from broker.security.session import ANONYMOUS, Session


@dataclass(frozen=True, slots=True)
class Services:
    """The rooms of one broker that handlers may ask."""

    config: BrokerConfig
    cluster_id: str
    metadata: MetadataCache
    replicas: ReplicaManager
    delayed_fetches: DelayedFetches
    fetch_sessions: FetchSessions
    feeds: FollowerFeeds
    delayed_produces: DelayedProduces
    deletions: RecordDeletions
    repacking: Repacking
    transactional_appends: TransactionalAppends
    groups: GroupCoordinators
    group_memory: GroupMemory
    transactions: TransactionCoordinators
    topics: TopicAdmin
    topic_configs: TopicConfigs
    broker_configs: BrokerConfigs
    log_dirs: LogDirs
    log_dir_moves: LogDirMoves
    retention_previews: RetentionPreviews
    request_times: RequestTimes
    quotas: Quotas
    producer_ids: ProducerIds
    delegation_tokens: DelegationTokens
    controller: ControllerRuntime
    controller_epochs: ControllerEpochs
    credentials: Credentials
    turns: Turns
    clock: Any
    #: None: everybody may do everything.
    authorizer: Authorizer | None = None
    #: Of a principal, from a host: asked by whoever has found out who speaks on a connection.
    rights_of: RightsOf = unlimited_rights


class RequestContext(NamedTuple):
    """One request's surroundings: version, and who asks."""

    services: Services
    api_version: int
    client_id: str
    session: Session


#: A response now, perhaps encoded already, a response later, or None when the request has no response (acks=0).
Reply = Message | bytes | Awaitable[Message | None] | InOrder | None


class Budget(NamedTuple):
    """What one request may bring: bytes on the wire, and elements in all its arrays. More ends the connection."""

    bytes_max: int
    entries_max: int
    #: One of more bytes may take long, and waits until others have had their turn.
    bytes_at_once: int = BYTES_AT_ONCE_MAX
    #: How many times its bytes it may take in memory until it is answered.
    decoded_factor: int = DECODED_FACTOR
    #: From more bytes than this on, an answer that comes later is encoded in turns: it may be long.
    long_answers_from: int = 0


ORDINARY = Budget(REQUEST_BYTES_MAX, REQUEST_ENTRIES_MAX)
#: For those that may tell of everything there is, however little they ask.
OF_EVERYTHING = Budget(REQUEST_BYTES_MAX, REQUEST_ENTRIES_MAX, bytes_at_once=0)
#: For requests in which a client may name all partitions it works with.
OF_PARTITIONS = Budget(PARTITIONS_REQUEST_BYTES_MAX, PARTITIONS_REQUEST_ENTRIES_MAX)
#: For what brokers tell one another, of as many partitions as there are.
OF_PEERS = Budget(PEER_REQUEST_BYTES_MAX, PEER_REQUEST_ENTRIES_MAX)


@dataclass(frozen=True, slots=True)
class Handler:
    """One API. `served` versions are answered; `advertised` is what ApiVersions says, None for what clients need not
    know.
    """

    api: ApiKey
    served: tuple[int, int]
    handle: Callable[[Any, RequestContext], Reply]
    advertised: tuple[int, int] | None
    budget: Budget = ORDINARY
    #: The version from which on only members of the cluster may ask; None: everybody may.
    members_from: int | None = None
    #: What others are answered to their request; None: CLUSTER_AUTHORIZATION_FAILED at the top of the response.
    refuse: Callable[[Any], Message] | None = None
    #: Who else may ask an API for members, by rights that somebody gave them; None: nobody.
    others_may: Callable[[Rights], bool] | None = None
    #: What members may bring from `members_from` on, if more than `budget`.
    members_budget: Budget | None = None

    def budget_of(self, version: int) -> Budget:
        return self.members_budget if self.members_budget and self.is_for_members(version) else self.budget

    def is_for_members(self, version: int) -> bool:
        return self.members_from is not None and version >= self.members_from

    def admits(self, session: Session) -> bool:
        """Whether who is no member may ask all the same; who has no name and no rights of its own never may."""
        is_somebody = session.rights is not UNLIMITED or session.principal != ANONYMOUS
        return self.others_may is not None and is_somebody and self.others_may(session.rights)


def public(
    api: ApiKey,
    first: int,
    last: int,
    handle: Callable,
    *,
    advertised_from: int | None = None,
    budget: Budget = ORDINARY,
) -> Handler:
    """A handler of an API for clients, versions `first` to `last`."""
    return Handler(api, (first, last), handle, (first if advertised_from is None else advertised_from, last), budget)


def private(api: ApiKey, version: int, handle: Callable) -> Handler:
    """A handler of an API between brokers: served to members of the cluster, not advertised."""
    return Handler(api, (version, version), handle, None, OF_PEERS, members_from=version)


def for_members(
    api: ApiKey,
    first: int,
    last: int,
    handle: Callable,
    refuse: Callable[[Any], Message] | None = None,
    *,
    budget: Budget = ORDINARY,
    others_may: Callable[[Rights], bool] | None = None,
) -> Handler:
    """A handler of an API that others than brokers know of, but only members of the cluster may use, and those with
    the rights that it names.
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


class RefusedError(BarnabasError):
    """Raised by a plain function: `response` says no, and the log who was refused what.

    With `is_last` the connection is closed after the answer.
    """

    def __init__(self, response: Message, reason: str, *, is_last: bool = False):
        super().__init__(reason)
        self.response = response
        self.is_last = is_last


class CloseConnectionError(BarnabasError):
    """The only way left to tell the client: the connection is closed, and why is in the log."""
