"""A worker of a group: what it knows is in three topics, what it runs is decided with the others."""

import functools
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote

from broker.client.membership import MembershipClient
from broker.common.logs import logger
from broker.connect.api import ConnectError
from broker.connect.group.wire import PROTOCOL_TYPE
from broker.connect.herder.fencing import Fencing
from broker.connect.herder.herder import Herder
from broker.connect.herder.membership import GroupWorker
from broker.connect.herder.sessions import Sessions
from broker.connect.plugins import paths
from broker.connect.rest.forwarding import Send, request_headers, sender
from broker.connect.rest.serving import RestSockets, read_rest, serving
from broker.connect.settings import DISTRIBUTED, WorkerSettings, read_settings
from broker.connect.standalone import rest_of
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.leader_writer import LeaderWriter
from broker.connect.storage.logs import Apply, StorageError, TopicLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States

#: Before topics are asked for again that could not be read.
_PAUSE_S = 1.0
_log = logger("broker.connect")


def run_distributed(props: Mapping[str, str], stop: threading.Event) -> None:
    """Run the worker until `stop` is set. Raises StartupError."""
    settings = read_settings(props, DISTRIBUTED)
    paths.allow(list(settings.connector_file_roots) or None, list(settings.connector_file_write_roots) or None)
    logins = settings.logins()
    sockets = RestSockets(read_rest(settings))
    send = sender(sockets.rest.client_tls)
    configurations, states, offsets = Configurations(), States(), StoredOffsets()
    identity = sockets.worker_id(settings)
    herder = Herder(settings, identity, configurations, states, offsets)
    herder.scheme = sockets.rest.advertised.scheme
    herder.sessions = sessions = Sessions(herder)
    own = request_headers(logins)

    def headers(body: bytes) -> dict[str, str]:
        return own | sessions.headers(body)

    herder.publish_to_leader = functools.partial(_publish, send, headers)
    herder.fencing = Fencing(herder, headers, send)
    herder.config_log = _log_of(settings, "config", 1, herder.on_config)
    herder.leader_writer = _leader_writer(settings)
    herder.state_log = _log_of(settings, "status", settings.status_storage_partitions, states.apply)
    herder.offset_log = _log_of(settings, "offset", settings.offset_storage_partitions, offsets.apply)
    logs = (herder.config_log, herder.state_log, herder.offset_log)
    if not _are_started(logs, stop):
        return
    cluster = settings.cluster()
    member = MembershipClient(
        cluster, settings.group_id, PROTOCOL_TYPE,
        session_timeout_ms=settings.session_timeout_ms, rebalance_timeout_ms=settings.rebalance_timeout_ms,
    )  # fmt: skip
    herder.group = group = GroupWorker(herder, member, f"{herder.scheme}://{identity}/", sessions.tick)
    herder.start(())
    group.start()
    try:
        with serving(rest_of(herder, send), sockets, logins):
            _log.info("Kafka Connect started", worker=identity)
            stop.wait()
    finally:
        herder.run_only(frozenset()).result()
        group.stop()
        herder.stop()
        for log in logs:
            log.stop()
        cluster.close()


def _are_started(logs: Iterable[TopicLog], stop: threading.Event) -> bool:
    """Return whether all of them are read, or else `stop` was set: a cluster that is away is waited for. Raises
    StartupError.
    """
    for log in logs:
        while not stop.is_set():
            try:
                log.start()
                break
            except StorageError as error:
                _log.warning("worker waits for its cluster", reason=str(error))
                stop.wait(_PAUSE_S)
    return not stop.is_set()


def _leader_writer(settings: WorkerSettings) -> LeaderWriter | None:
    if not settings.has_fenced_leaders:
        return None
    return LeaderWriter(settings.config_storage_topic, settings.client(), settings.leaders_transactional_id)


def _log_of(settings: WorkerSettings, kind: str, partitions: int, apply: Apply) -> TopicLog:
    topic = getattr(settings, f"{kind}_storage_topic")
    replicas = getattr(settings, f"{kind}_storage_replication_factor")
    return TopicLog(
        topic,
        partitions,
        replicas,
        settings.client(),
        apply,
        has_transactions=settings.has_fenced_leaders,
    )


def _publish(
    send: Send, headers: Callable[[bytes], dict[str, str]], url: str, connector: str, configs: list[dict[str, str]]
) -> None:
    """Send task configs to the leader, which writes them. Raises ConnectError."""
    if not url:
        raise ConnectError("there is no leader of the group yet")
    body = json.dumps(configs).encode()
    status, content = send(url, "POST", f"/connectors/{quote(connector, safe='')}/tasks", body, headers(body))
    if status >= 400:
        raise ConnectError(f"the leader did not take the tasks of {connector}: {status} {content[:500]!r}")
