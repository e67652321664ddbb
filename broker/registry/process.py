"""A registry from its start to its end: the topic is checked and read, then it listens, then it stands for election."""

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import Generator
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from broker.client.logins import ClientLogins, read_logins
from broker.client.rest_listeners import RestListener, RestTls
from broker.common.errors import NotNowError
from broker.common.foreign_pages import OnlyOwnNames
from broker.common.logs import logger
from broker.common.process_end import log_stop, stop_signals
from broker.common.punctual_http import bounded_protocol
from broker.config.zookeeper import zookeeper_tls
from broker.registry.config import RegistryConfig
from broker.registry.registry import SchemaRegistry
from broker.registry.rest.app import make_app
from broker.registry.schema_log import ensure_topic
from broker.zookeeper.digest_file import read_digest
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.tls import tls_settings

_ZOOKEEPER_TIMEOUT_MS = 10_000
#: Connections that may wait to be taken.
_BACKLOG = 1_024
_KEEP_ALIVE_S = 75

_log = logger(__name__)


class _RegistryServer(uvicorn.Server):
    """A server that ends well after a signal: uvicorn would raise the signal again behind its end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def run(config: RegistryConfig) -> None:
    """Run the registry until SIGTERM or SIGINT. Raises StartupError, NotNowError."""
    logins = read_logins(Path(config.authentication_file)) if config.authentication_method == "BASIC" else None
    sockets = [_listen(listener) for listener in config.listeners]
    cluster_id = await asyncio.to_thread(
        ensure_topic, config.client, config.kafkastore_topic, config.kafkastore_topic_replication_factor
    )
    registry = SchemaRegistry(config, cluster_id)
    registry.reader.start()
    try:
        await _read_all(registry)
        await _serve(registry, logins, sockets)
    finally:
        await registry.close()
        if compiler := sys.modules.get("broker.registry.protobuf.compiler"):
            await asyncio.to_thread(compiler.close)


async def _read_all(registry: SchemaRegistry) -> None:
    timeout_ms = registry.config.kafkastore_init_timeout_ms
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            await registry.reader.is_complete.wait()
    except TimeoutError:
        raise NotNowError(
            f"the topic {registry.config.kafkastore_topic} was not read within {timeout_ms} ms."
        ) from None
    _log.info("schemas read", versions=registry.store.version_count)


async def _serve(registry: SchemaRegistry, logins: ClientLogins | None, sockets: list[socket.socket]) -> None:
    config, app = registry.config, make_app(registry, logins)
    # A password, or a certificate that stands for the name, keeps pages of foreign names out already.
    plain = app if logins else OnlyOwnNames(app, config.names)
    servers = [
        _server(app, config.tls) if listener.scheme == "https" else _server(plain, None)
        for listener in config.listeners
    ]

    def end(number: int) -> None:
        log_stop(number)
        for server in servers:
            server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in stop_signals():
        loop.add_signal_handler(number, end, number)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    async with contextlib.AsyncExitStack() as stack:
        await _stand_for_election(registry, stack)
        for listener, taken in zip(config.listeners, sockets, strict=True):
            where = {"host": listener.host, "port": taken.getsockname()[1], "scheme": listener.scheme}
            _log.info("Server started, listening for requests...", **where)
        await asyncio.gather(*(server.serve([taken]) for server, taken in zip(servers, sockets, strict=True)))


def _server(app: ASGIApp, tls: RestTls | None) -> _RegistryServer:
    return _RegistryServer(
        uvicorn.Config(
            app,
            http=bounded_protocol(tls=tls.server if tls else None),
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=5,
        )
    )


async def _stand_for_election(registry: SchemaRegistry, stack: contextlib.AsyncExitStack) -> None:
    config = registry.config
    if not config.kafkastore_connection_url:
        registry.leadership.lead_alone()
        return
    digest = read_digest(Path(config.zookeeper_digest_file)) if config.zookeeper_digest_file else None
    tls = tls_settings(zookeeper_tls(config.values))
    timeout_ms = config.kafkastore_zk_session_timeout_ms
    session = ZooKeeperSession(config.kafkastore_connection_url, timeout_ms, digest, tls=tls)
    await session.connect(_ZOOKEEPER_TIMEOUT_MS)
    stack.push_async_callback(session.close)
    election = asyncio.create_task(
        registry.leadership.run(session, config.schema_registry_zk_namespace, is_eligible=config.leader_eligibility)
    )
    stack.callback(election.cancel)


def _listen(where: RestListener) -> socket.socket:
    """Raises NotNowError. Taken first: two registries with one file find out at once."""
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((where.host, where.port))
    except OSError as error:
        listener.close()
        raise NotNowError(
            f"cannot listen on {where.host}:{where.port}: {error.strerror}; choose another port in listeners."
        ) from None
    listener.listen(_BACKLOG)
    return listener
