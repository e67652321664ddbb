"""FindCoordinator: which broker looks after a group or a transactional id."""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class CoordinatorType(IntEnum):
    """Values of `key_type`."""

    GROUP = 0
    TRANSACTION = 1


class FindCoordinatorRequest(
    Request["FindCoordinatorResponse"], api=ApiKey.FIND_COORDINATOR, versions=(0, 6), flexible_from=3
):
    """0: groups only. 1: transactional ids too. 4: many keys at once (KIP-699). 5: new transaction errors.

    6: share coordinators (KIP-932).
    """

    key: str = wire(string, until=3)
    key_type: int = wire(int8, since=1)  #: a CoordinatorType
    coordinator_keys: list[str] = wire(array(string), since=4)


class Coordinator(Struct):
    key: str = wire(string)
    node_id: int = wire(int32)
    host: str = wire(string)
    port: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None, ignorable=True)


class FindCoordinatorResponse(Message, api=ApiKey.FIND_COORDINATOR, versions=(0, 6), flexible_from=3):
    """The coordinator's address: in the top-level fields up to version 3, one entry per key from version 4."""

    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    error_code: int = wire(int16, until=3)
    error_message: str | None = wire(string, since=1, until=3, nullable=True, default=None, ignorable=True)
    node_id: int = wire(int32, until=3)
    host: str = wire(string, until=3)
    port: int = wire(int32, until=3)
    coordinators: list[Coordinator] = wire(array(Coordinator), since=4)
