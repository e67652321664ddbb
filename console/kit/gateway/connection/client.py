"""How the console reaches its cluster: by which brokers, and by which client configuration (`settings.CLIENT_CONFIG`).

The file is read again whenever it was written: a new password counts for the next question, without a restart. What is
in it goes into clients and nowhere else.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.connection import BrokerConnection
from broker.client.errors import AccessRefused, ApiNotServed, BrokerUnreachable, ClosedAtOnce, LoginRefused
from broker.client.security.errors import ClientConfigError
from broker.client.security.file import read_own_security
from broker.client.security.librdkafka import librdkafka_settings
from broker.client.security.properties import PLAINTEXT, ClientSecurity
from broker.common.errors import BarnabasError, ProtocolError
from broker.protocol.messages.metadata import MetadataRequest, MetadataResponse
from broker.security.membership import ClusterMembership
from console.kit.gateway.connection.broker_lookup import BrokerLookup
from console.kit.gateway.connection.identity import refuse_other
from console.kit.gateway.connection.kept_connections import KeptConnections, LendingCluster, Lent
from console.kit.gateway.connection.own_requests import own_requests, statistics
from console.kit.gateway.errors import (
    REFUSED,
    UNUSABLE,
    ClientRefusedError,
    GatewayError,
    unanswered,
    unreadable,
)

#: Who is refused asks why, no more often than this: brokers count failed logins.
_ASK_WHY_EVERY_S = 10.0
#: A broker lets those wait whose logins failed, and librdkafka's have.
_WHY_TIMEOUT_S = 8.0
#: Who was the one that is meant is so for this long: a cluster is not rebuilt in less.
_SURE_FOR_S = 1.0
_IDENTIFY_TIMEOUT_S = 2.0
_ADMIN = {
    "client.id": "barnabas-console",
    "reconnect.backoff.ms": 100,
    "reconnect.backoff.max.ms": 1_000,
    "allow.auto.create.topics": False,
    "log_level": 0,
}


class ClusterClient:
    """Threads may share it. Whatever is wrong with the file is a ClientRefusedError, in one sentence."""

    def __init__(
        self,
        bootstrap_servers: str,
        config_file: str = "",
        *,
        is_required: bool = True,
        meant: Callable[[], str] = lambda: "",
    ):
        """Read `config_file`; one that is not required may be missing: connections are plain then.

        `meant`: the id of the cluster that has to answer, empty while that may be any. Once it is known it stays.
        """
        self._meant, self._meant_id, self._sure_until = meant, "", 0.0
        self.bootstrap_servers = bootstrap_servers
        self._file = config_file
        self._is_required = is_required
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._security = PLAINTEXT
        self._admin: tuple[ClientSecurity, AdminClient] | None = None
        self._why: tuple[float, GatewayError | None] = (-_ASK_WHY_EVERY_S, None)
        self._requests = own_requests()
        self._kept = KeptConnections(self._connect)
        self._lookup = BrokerLookup(
            lambda host, port, timeout_s: self._kept.lend(host, port, timeout_s, self.security())
        )
        self._requests.clients.add(self)

    @property
    def config_file(self) -> str:
        """Empty while none is in use."""
        return self._file if self._file and (self._is_required or Path(self._file).exists()) else ""

    def security(self) -> ClientSecurity:
        with self._lock:
            return self._read_again()

    def settings(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a confluent-kafka client, with secrets. Raises OtherClusterError."""
        self._be_sure()
        return self._settings(more)

    def _settings(self, more: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return {"bootstrap.servers": self.bootstrap_servers, **more, **librdkafka_settings(self.security())}
        except ClientConfigError as error:
            raise self._unusable(error) from error

    def admin(self) -> AdminClient:
        """Return the admin client, a new one after the client file changed. Raises OtherClusterError."""
        self._be_sure()
        return self._any_admin()

    def metadata(self, topic: str | None, timeout_seconds: float) -> Any:
        """Return the metadata of the expected cluster. Raises OtherClusterError, KafkaException."""
        metadata = self._any_admin().list_topics(topic=topic, timeout=timeout_seconds)
        self._refuse_other(metadata.cluster_id)
        return metadata

    def brokers(self, timeout_seconds: float) -> MetadataResponse:
        """Return the brokers of the cluster that is meant, and its controller, without topics.

        Raises OtherClusterError, ClusterUnreachableError; ClientRefusedError while it is known why.
        """
        self.security()  # a file that was written again makes an earlier refusal void
        self._raise_known_refusal()
        servers = parse_bootstrap_servers(self.bootstrap_servers)
        try:
            response = self._lookup.ask(servers, timeout_seconds)
        except ClientConfigError as error:
            raise self._unusable(error) from error
        except (BrokerUnreachable, AccessRefused) as error:
            raise unanswered(error if isinstance(error, BrokerUnreachable) else None) from error
        except (ProtocolError, ApiNotServed) as error:
            raise unreadable(error) from error
        self._refuse_other(response.cluster_id)
        return response

    def _raise_known_refusal(self) -> None:
        """Raise a recent refusal again: brokers count failed logins, so it is not retried at once."""
        with self._lock:
            asked_at, refusal = self._why
        if isinstance(refusal, ClientRefusedError) and time.monotonic() - asked_at < _ASK_WHY_EVERY_S:
            raise ClientRefusedError(str(refusal))

    def _refuse_other(self, cluster_id: str | None) -> None:
        if not self._meant_id:
            self._meant_id = self._meant()
        refuse_other(self._meant_id, cluster_id or "")
        self._sure_until = time.monotonic() + _SURE_FOR_S

    def _be_sure(self) -> None:
        if time.monotonic() >= self._sure_until and (self._meant_id or self._meant()):
            self.brokers(_IDENTIFY_TIMEOUT_S)

    def _any_admin(self) -> AdminClient:
        security = self.security()
        is_new = self._admin is None or self._admin[0] != security
        settings = self._settings(_ADMIN | self._bound() | statistics()) if is_new else {}
        with self._lock:
            if self._admin is None or (settings and self._admin[0] != security):
                self._admin = security, self._made(settings)
            return self._admin[1]

    def poll_statistics(self) -> None:
        """Take what the admin client has to tell of its requests."""
        with self._lock:
            admin = self._admin
        if admin is not None:
            admin[1].poll(0)

    def _made(self, settings: dict[str, Any]) -> AdminClient:
        try:
            return AdminClient(settings)
        except KafkaException as error:
            raise self._unusable(ClientConfigError(error.args[0].str())) from error

    def _bound(self) -> dict[str, int]:
        most = self._requests.in_flight_max
        return {"max.in.flight.requests.per.connection": most} if most else {}

    def cluster(self, timeout_seconds: float) -> ClusterConnections:
        self._be_sure()
        servers = parse_bootstrap_servers(self.bootstrap_servers)
        return LendingCluster(servers, self._kept, self.security(), timeout_seconds)

    def connection(
        self, host: str, port: int, timeout_seconds: float, membership: ClusterMembership | None = None
    ) -> Lent:
        """Lend a connection, with a `membership` if it is for requests between members.

        Raises BarnabasError, as BrokerConnection does.
        """
        self._be_sure()
        return self._kept.lend(host, port, timeout_seconds, self.security(), membership)

    def kept_connection(
        self, host: str, port: int, timeout_seconds: float, membership: ClusterMembership | None = None
    ) -> Lent | None:
        """Return an open connection to the broker, None if there is none."""
        self._be_sure()
        return self._kept.lend_kept(host, port, timeout_seconds, self.security(), membership)

    def turn(self, address: str, timeout_seconds: float) -> AbstractContextManager[None]:
        """Return a context for requests to the broker that are not awaited one by one. Raises as OwnRequests."""
        return self._requests.turn(address, timeout_seconds)

    def _connect(self, host: str, port: int, timeout_s: float, security: ClientSecurity) -> BrokerConnection:
        return BrokerConnection(
            host, port, timeout_s=timeout_s, client_id="barnabas-console", security=security, meter=self._requests
        )

    def why_refused(self, timeout_seconds: float) -> GatewayError | None:
        """Return why no broker answers: the login is refused, or its answers are unreadable; None for other reasons.
        None if it is something else.

        librdkafka does not say: it tries again without an end.
        """
        now_s = time.monotonic()
        with self._lock:
            if now_s - self._why[0] < _ASK_WHY_EVERY_S:
                return self._why[1]
            self._why = now_s, self._why[1]
        error = self._ask_why(max(timeout_seconds, _WHY_TIMEOUT_S))
        with self._lock:
            self._why = now_s, error
        return error

    def _ask_why(self, timeout_seconds: float) -> GatewayError | None:
        refusal: BarnabasError | None = None
        garbled: ProtocolError | None = None
        for host, port in parse_bootstrap_servers(self.bootstrap_servers):
            try:
                with self._connect(host, port, timeout_seconds, self.security()) as connection:
                    connection.ask(MetadataRequest(topics=[]))
                    return None
            except (AccessRefused, ClosedAtOnce) as error:
                refusal = error
                if isinstance(error, LoginRefused):
                    break
            except ClientConfigError as error:
                return self._unusable(error)
            except ProtocolError as error:
                garbled = error
            except (BarnabasError, GatewayError):
                continue
        if refusal:
            return ClientRefusedError(f"{REFUSED} {refusal}. {self._what_to_do()}")
        return unreadable(garbled) if garbled else None

    def _what_to_do(self) -> str:
        if self.config_file:
            return f"Put {self._file} right; it is read again by itself."
        return (
            f"Write a client's properties into {self._file or 'the file that BARNABAS_CLIENT_CONFIG names'}, mode 600."
        )

    def _read_again(self) -> ClientSecurity:
        stamp = self._stamp_now()
        if stamp is None:
            if self._file and self._is_required:
                raise self._unusable(ClientConfigError(f"there is no file {self._file}"))
            self._stamp, self._security = None, PLAINTEXT
        elif stamp != self._stamp:
            try:
                self._security = read_own_security(self._file)
            except ClientConfigError as error:
                raise self._unusable(error) from error
            self._stamp = stamp
            self._why = (-_ASK_WHY_EVERY_S, None)
        return self._security

    def _stamp_now(self) -> tuple[int, int] | None:
        """Return the file's stamp with its mode, so that one with corrected rights is read again."""
        try:
            stat = os.stat(self._file) if self._file else None
        except OSError:
            return None
        return (stat.st_mtime_ns, stat.st_mode) if stat else None

    @staticmethod
    def _unusable(error: ClientConfigError) -> ClientRefusedError:
        return ClientRefusedError(f"{UNUSABLE} {error}.")
