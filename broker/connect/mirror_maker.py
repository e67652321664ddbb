"""Kafka's dedicated mirror: the connectors of each flow on a worker that only this process has, as long as it may.

Started on several machines one process works on a flow and the others wait; nothing of a configuration, which may hold
passwords, is written anywhere.
"""

import threading
from collections.abc import Mapping

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.security.properties import read_security
from broker.client.turn import TurnThread
from broker.common.errors import ApiError, BarnabasError, StartupError
from broker.common.logs import logger
from broker.connect.api import ConnectError
from broker.connect.herder.herder import Herder
from broker.connect.herder.validation import require_valid
from broker.connect.mirror_flows import MirrorFlow, read_flows
from broker.connect.settings import STANDALONE, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.logs import MemoryLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States

_log = logger("broker.connect")
_LOOK_S = 0.5
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"


def run_mirror_maker(props: Mapping[str, str], only_to: list[str], stop: threading.Event) -> None:
    """Run the flows until `stop` is set. Raises StartupError."""
    flows = read_flows(props, only_to)
    herders = [_herder(flow) for flow in flows]
    threads = [
        threading.Thread(target=_run, args=[flow, herder, stop], name=flow.name)
        for flow, herder in zip(flows, herders, strict=True)
    ]
    for thread in threads:
        thread.start()
    _log.info("mirror started", flows=", ".join(flow.name for flow in flows))
    for thread in threads:
        thread.join()


def _herder(flow: MirrorFlow) -> Herder:
    """Return a herder that checks the flow's connectors and does not run yet."""
    try:
        parse_bootstrap_servers(flow.target_client["bootstrap.servers"])
    except ApiError as error:
        raise StartupError(f"{flow.target}.bootstrap.servers: {error}.") from None
    worker = {
        **flow.target_client,
        "key.converter": _BYTES,
        "value.converter": _BYTES,
        "offset.storage.file.filename": "none",
        # Nothing is produced by it: mirrors write by themselves, and tell what is away.
        "producer.log_level": "0",
    }
    settings = read_settings(worker, STANDALONE)
    configurations, states, offsets = Configurations(), States(), StoredOffsets()
    herder = Herder(settings, flow.name, configurations, states, offsets)
    herder.config_log = MemoryLog(herder.on_config)
    herder.state_log = MemoryLog(states.apply)
    herder.offset_log = MemoryLog(offsets.apply)
    for name, config in flow.connectors.items():
        try:
            require_valid(config, settings)
        except ConnectError as error:
            raise StartupError(f"{flow.name}, {name}: {error}") from None
    return herder


def _run(flow: MirrorFlow, herder: Herder, stop: threading.Event) -> None:
    servers = parse_bootstrap_servers(flow.target_client["bootstrap.servers"])
    with ClusterConnections(servers, client_id="mirror", security=read_security(flow.target_client)) as cluster:
        turn = TurnThread(cluster, f"barnabas-mirror-{flow.name}")
        turn.start()
        try:
            herder.start()
            begun = False
            while not stop.wait(_LOOK_S):
                if turn.holds() and not begun:
                    begun = True
                    _begin(flow, herder)
                elif begun and not turn.holds():
                    begun = False
                    for name in flow.connectors:
                        herder.delete(name)
        finally:
            herder.stop()
            turn.stop()


def _begin(flow: MirrorFlow, herder: Herder) -> None:
    for name, config in flow.connectors.items():
        try:
            herder.put_config(name, config, target=None, may_exist=True)
        except BarnabasError as error:
            _log.error("connector not made", flow=flow.name, connector=name, reason=str(error))
