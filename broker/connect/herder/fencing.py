"""Before the tasks of a new configuration write, those of older ones cannot any more (KIP-618)."""

import http.client
import threading
from collections.abc import Callable
from urllib.parse import quote

from broker.client.coordinators import Coordinators
from broker.client.transactions import init_producer
from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.connect.api import ConnectError
from broker.connect.group.wire import Unit
from broker.connect.herder.errors import Conflict, NotGroupLeader
from broker.connect.herder.herder import Herder
from broker.connect.rest.forwarding import Send
from broker.connect.storage import records
from broker.connect.tasks.retriable import ClusterUnavailable, is_retriable

#: Of a transaction that nobody begins.
_TIMEOUT_MS = 60_000
_log = logger("broker.connect")


class Fencing:
    """Fences older tasks, on any thread but the herder's: it waits for brokers."""

    def __init__(self, herder: Herder, headers: Callable[[bytes], dict[str, str]], send: Send):
        """`send` asks another worker; `headers` of a body: what that is sent with, which raises ConnectError."""
        self._herder = herder
        self._headers, self._send = headers, send
        self._one_round = threading.Lock()

    def ask(self, connector: str) -> None:
        """Have the leader fence the connector's producers.

        Raises ConnectError; ClusterUnavailable if a retry may help.
        """
        group = self._herder.group
        try:
            if group.is_leader:
                self.round(connector)
                return
            if not group.leader_url:
                raise ClusterUnavailable("there is no leader of the group yet")
            path = f"/connectors/{quote(connector, safe='')}/fence"
            status, content = self._send(group.leader_url, "PUT", path, b"", self._headers(b""))
        except (BarnabasError, OSError, http.client.HTTPException) as error:
            passes = is_retriable(error) or isinstance(error, Conflict | OSError | http.client.HTTPException)
            kind = ClusterUnavailable if passes else ConnectError
            raise kind(f"older tasks of {connector} are not fenced: {error}") from None
        if status >= 400:
            kind = ClusterUnavailable if status >= 500 or status == Conflict.status else ConnectError
            raise kind(f"older tasks of {connector} are not fenced: {status} {content[:500]!r}")

    def round(self, connector: str) -> None:
        """Fence the connector's producers; called on the leader.

        Raises NotFound, NotLeader, Conflict, or the brokers' error.
        """
        herder, known = self._herder, self._herder.configurations
        with self._one_round:
            if not herder.group.is_leader:
                raise NotGroupLeader(herder.group.leader_url)
            herder.config_log.read_to_end(waits_for_open=True)
            herder.require(connector)
            if connector in known.fenced and connector not in known.to_fence:
                return
            before, generation = known.fenced.get(connector), known.generations.get(connector)
            count = len(known.tasks.get(connector, ()))
            if before is not None and not (before == count == 1):
                self._fence(connector, before)
            herder.config_log.read_to_end(waits_for_open=True)
            if known.generations.get(connector) != generation or not herder.group.is_leader:
                raise Conflict(f"Tasks of {connector} were reconfigured while older ones were fenced")
            herder.write_as_leader([records.fencing_record(connector, count)])

    def _fence(self, connector: str, count: int) -> None:
        settings = self._herder.settings
        with settings.cluster(self._herder.resolved(connector)) as cluster:
            coordinators = Coordinators(cluster)
            for task in range(count):
                init_producer(coordinators, settings.transactional_id(connector, task), _TIMEOUT_MS)
        _log.info("older tasks fenced", connector=connector, tasks=count)

    def require_current(self, unit: Unit, generation: int) -> None:
        """Raises ConnectError for a task whose configuration is not the last one, or whose worker may have lost it."""
        self._herder.config_log.read_to_end(waits_for_open=True)
        if self._herder.configurations.generations.get(unit.connector) != generation or not self._herder.group.holds():
            raise ConnectError(f"task {unit.connector}-{unit.task} is of an older configuration")
