"""Finds the coordinator of a group or a transactional id, and sends requests that only this broker answers."""

import time
from collections.abc import Callable

from broker.client.cluster import ClusterConnections
from broker.client.connection import BrokerConnection
from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.find_coordinator import CoordinatorType, FindCoordinatorRequest
from broker.protocol.schema import Request

#: What a broker answers that does not coordinate the group or id, or not yet.
MOVED = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)
_PAUSE_S = 0.05
#: The newest version that asks for one key.
_ONE_KEY = 3


class Coordinators:
    """Coordinators of one cluster, remembered until they have moved."""

    def __init__(self, cluster: ClusterConnections, *, timeout_s: float = 60.0):
        """`timeout_s` is for each `ask`, coordinators that move meanwhile included."""
        self._cluster = cluster
        self._timeout_s = timeout_s
        self._known: dict[tuple[CoordinatorType, str], tuple[str, int]] = {}

    def ask(
        self,
        kind: CoordinatorType,
        key: str,
        request: Request[AnyResponse],
        error_of: Callable[[AnyResponse], int],
        version_max: int = 0x7FFF,
    ) -> AnyResponse:
        """Return the answer of the coordinator of `key`, when `error_of` finds no error in it.

        What a client may try again is tried again; a request may therefore be handled twice. Raises ApiError,
        BrokerUnreachable when nobody answered in time.
        """
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                answer = self._connection(kind, key).ask(request, version_max=version_max)
                code = error_code_of(error_of(answer))
                if code is ErrorCode.NONE:
                    return answer
                raise ApiError(code, f"{key}: {code.meaning}")
            except ApiError as error:
                if not error.code.retriable or time.monotonic() > deadline:
                    raise
                if error.code in MOVED:
                    self._known.pop((kind, key), None)
            except BrokerUnreachable:
                if time.monotonic() > deadline:
                    raise
                self._forget(kind, key)
            time.sleep(_PAUSE_S)

    def _connection(self, kind: CoordinatorType, key: str) -> BrokerConnection:
        if (kind, key) not in self._known:
            response = self._cluster.ask_any(FindCoordinatorRequest(key=key, key_type=kind), version_max=_ONE_KEY)
            if response.error_code:
                raise ApiError(error_code_of(response.error_code))
            self._known[kind, key] = response.host, response.port
        return self._cluster.connection(*self._known[kind, key])

    def _forget(self, kind: CoordinatorType, key: str) -> None:
        address = self._known.pop((kind, key), None)
        if address is not None:
            self._cluster.forget(*address)
