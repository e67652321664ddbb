"""A client's line to the coordinator of one group or transactional id: found by any broker, asked, and looked for again
when it is another one.
"""

from broker.common.errors import ErrorCode
from broker.protocol.messages.find_coordinator import CoordinatorType, FindCoordinatorRequest
from broker.protocol.schema import Message
from tests.simulation.client import REQUEST_TIMEOUT_MS, ClusterClient, NoAnswerError

_FIND_VERSION = 4
#: Somebody else coordinates, or will soon.
ELSEWHERE = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
#: The same request may be sent again.
AGAIN = (*ELSEWHERE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.CONCURRENT_TRANSACTIONS)


class CoordinatorLine:
    """`kind` is what is coordinated, `key` its id."""

    def __init__(self, client: ClusterClient, kind: CoordinatorType, key: str):
        self._client = client
        self._kind = kind
        self._key = key
        self.broker_id = -1

    async def ask(self, message: Message, version: int, timeout_ms: int = REQUEST_TIMEOUT_MS) -> Message:
        """Raises NoAnswerError; the coordinator is looked for again then."""
        await self.find()
        try:
            return await self._client.ask(self.broker_id, message, version, timeout_ms)
        except NoAnswerError:
            self.forget()
            raise

    async def find(self) -> None:
        """Who it is, unless that is known. Raises NoAnswerError."""
        if self.broker_id < 0:
            self.broker_id = await self._find()

    def forget(self) -> None:
        self.broker_id = -1

    def forget_if_elsewhere(self, code: int) -> None:
        if code in ELSEWHERE:
            self.forget()

    async def _find(self) -> int:
        request = FindCoordinatorRequest(key_type=self._kind, coordinator_keys=[self._key])
        coordinator = (await self._client.ask_any(request, _FIND_VERSION)).coordinators[0]
        if coordinator.error_code:
            raise NoAnswerError(f"no coordinator: {ErrorCode(coordinator.error_code).name}")
        return coordinator.node_id
