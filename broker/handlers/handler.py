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
from broker.net.turns import Turns
from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message
from broker.replication.fetch_session import FetchSessions
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.runtime.coordinators.group_coordinators import GroupCoordinators
from broker.runtime.coordinators.producer_ids import ProducerIds
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.runtime.in_turns import InOrder
from broker.runtime.log_dirs import LogDirs
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.purgatory import Purgatory
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.produce_acks import ProduceAcks
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.transactional_appends import TransactionalAppends
from broker.runtime.request_times import RequestTimes
from broker.runtime.retention_previews import RetentionPreviews
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_configs import TopicConfigs


@dataclass(frozen=True, slots=True)
class Services:
    """The rooms of one broker that handlers may ask."""

    config: BrokerConfig
    cluster_id: str
    metadata: MetadataCache
    replicas: ReplicaManager
    purgatory: Purgatory
    fetch_sessions: FetchSessions
    feeds: FollowerFeeds
    acks: ProduceAcks
    transactional_appends: TransactionalAppends
    groups: GroupCoordinators
    transactions: TransactionCoordinators
    topics: TopicAdmin
    topic_configs: TopicConfigs
    broker_configs: BrokerConfigs
    log_dirs: LogDirs
    retention_previews: RetentionPreviews
    request_times: RequestTimes
    producer_ids: ProducerIds
    controller: ControllerRuntime
    turns: Turns
    clock: Any


class RequestContext(NamedTuple):
    """One request's surroundings: version, who asks, through which listener."""

    services: Services
    api_version: int
    client_id: str
    client_host: str
    listener: str


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


ORDINARY = Budget(REQUEST_BYTES_MAX, REQUEST_ENTRIES_MAX)
#: For those that may tell of everything there is, however little they ask.
OF_EVERYTHING = Budget(REQUEST_BYTES_MAX, REQUEST_ENTRIES_MAX, bytes_at_once=0)
#: For requests in which a client may name all partitions it works with.
OF_PARTITIONS = Budget(PARTITIONS_REQUEST_BYTES_MAX, PARTITIONS_REQUEST_ENTRIES_MAX)
#: For what brokers tell one another, of as many partitions as there are.
OF_PEERS = Budget(PEER_REQUEST_BYTES_MAX, PEER_REQUEST_ENTRIES_MAX)


@dataclass(frozen=True, slots=True)
class Handler:
    """One API. `served` versions are answered; `advertised` is what ApiVersions says, None for brokers-only APIs."""

    api: ApiKey
    served: tuple[int, int]
    handle: Callable[[Any, RequestContext], Reply]
    advertised: tuple[int, int] | None
    budget: Budget


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
    """A handler of an API between brokers; served, not advertised."""
    return Handler(api, (version, version), handle, None, OF_PEERS)


class CloseConnectionError(BarnabasError):
    """The only way left to tell the client: the connection is closed, and why is in the log."""
