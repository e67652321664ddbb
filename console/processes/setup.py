"""What a person may set about the cluster on this machine: how many brokers, which ports, what comes from elsewhere."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from console.kit.common.variables import RENAMED

BROKERS_MAX = 50
METRICS_PORT_DISTANCE = 100
#: Above the brokers' ports, and above those of their metrics.
SECOND_PORT_DISTANCE = 200


class SetupError(Exception):
    """A setting cannot be right; the message is one sentence that names it."""


@dataclass(frozen=True)
class Setup:
    """`zookeeper` is what brokers connect to, empty where no broker is started here and no ensemble is named.

    `zookeeper_port` is None when it comes from elsewhere, or there is none.
    """

    broker_count: int
    broker_port: int
    zookeeper: str
    zookeeper_port: int | None
    bootstrap_servers: str
    demo: bool
    documents: tuple[Path, ...]
    spark_master: str
    #: TLS, logins and access lists.
    is_secure: bool = False
    #: REST of the Connect worker, and of the schema registry; None: none is started.
    connect_port: int | None = None
    registry_port: int | None = None
    has_probe: bool = False
    #: A second cluster of one broker, and a mirror to it and back.
    has_mirror: bool = False
    #: The message audit's counter.
    has_audit: bool = False

    def port_of_broker(self, number: int) -> int:
        return self.broker_port + number - 1

    @property
    def probe_port(self) -> int:
        """Below those of the brokers' metrics."""
        return self.broker_port + METRICS_PORT_DISTANCE - 1

    @property
    def second_port(self) -> int:
        return self.broker_port + SECOND_PORT_DISTANCE

    def metrics_port_of_broker(self, number: int) -> int:
        return self.port_of_broker(number) + METRICS_PORT_DISTANCE


def read_setup(environment: Mapping[str, str], spark_master: str) -> Setup:
    """Return the setup the environment describes. Raises SetupError."""
    for old, new in RENAMED.items():
        if old in environment:
            raise SetupError(f"{old} is called {new} now. Set {new}={environment[old]} instead, or unset {old}.")
    broker_count = _number(environment, "BARNABAS_BROKERS", 3, 0, BROKERS_MAX)
    broker_port = _number(environment, "BARNABAS_BROKER_PORT", 9092, 1, 65_535 - BROKERS_MAX - SECOND_PORT_DISTANCE)
    zookeeper = environment.get("BARNABAS_ZOOKEEPER", "").strip()
    has_zookeeper = not zookeeper and (broker_count or environment.get("BARNABAS_ZOOKEEPER_PORT", "").strip())
    zookeeper_port = _number(environment, "BARNABAS_ZOOKEEPER_PORT", 2181, 1, 63_000) if has_zookeeper else None
    own_servers = ",".join(f"127.0.0.1:{broker_port + index}" for index in range(broker_count))
    bootstrap_servers = environment.get("BARNABAS_BOOTSTRAP_SERVERS", "").strip() or own_servers
    if not bootstrap_servers:
        raise SetupError("BARNABAS_BROKERS=0 needs BARNABAS_BOOTSTRAP_SERVERS: which brokers is the console for?")
    #: In a cluster from elsewhere nothing is made that was not asked for.
    demo_text = environment.get("BARNABAS_DEMO", "1" if broker_count else "0")
    demo = _is_on(demo_text)
    documents = tuple(_document(name) for name in _names(environment.get("BARNABAS_DOCUMENTS", "")))
    is_secure = bool(broker_count) and _is_on(environment.get("BARNABAS_SECURE", "0"))
    has_mirror = _is_on(environment.get("BARNABAS_MIRROR", "0"))
    if has_mirror and (is_secure or not broker_count):
        why = "has no TLS and logins: leave out --secure" if is_secure else "needs brokers that are started here"
        raise SetupError(f"BARNABAS_MIRROR=1 starts a second cluster, which {why}.")
    has_use = bool(broker_count or demo or documents)
    registry_port = _port_unless(environment, "BARNABAS_REGISTRY_PORT", 8081, "BARNABAS_SCHEMA_REGISTRY_URL")
    return Setup(
        broker_count,
        broker_port,
        f"127.0.0.1:{zookeeper_port}" if has_zookeeper else zookeeper,
        zookeeper_port,
        bootstrap_servers,
        demo,
        documents,
        spark_master,
        is_secure,
        _port_unless(environment, "BARNABAS_CONNECT_PORT", 8083, "BARNABAS_CONNECT") if has_use else None,
        registry_port if broker_count else None,
        _is_on(environment.get("BARNABAS_PROBE", demo_text)),
        has_mirror,
        _is_on(environment.get("BARNABAS_AUDIT", "0")),
    )


def _port_unless(environment: Mapping[str, str], name: str, default: int, elsewhere: str) -> int | None:
    """Return the port; None: there is such a server elsewhere, or 0 turns it off."""
    port = _number(environment, name, default, 0, 65_535)
    return None if environment.get(elsewhere, "").strip() else port or None


def _is_on(text: str) -> bool:
    return text.strip().lower() not in ("0", "false", "no", "off", "")


def _number(environment: Mapping[str, str], name: str, default: int, at_least: int, at_most: int) -> int:
    text = environment.get(name, "").strip() or str(default)
    if not text.isdecimal() or not at_least <= int(text) <= at_most:
        raise SetupError(f"{name}={text} must be a number from {at_least} to {at_most}.")
    return int(text)


def _names(text: str) -> list[str]:
    """Split as a shell does: a name with spaces stands in quotes."""
    try:
        return shlex.split(text)
    except ValueError:
        raise SetupError(f"BARNABAS_DOCUMENTS={text} has a quote that does not end.") from None


def _document(name: str) -> Path:
    path = Path(name).expanduser().absolute()
    if not path.is_file():
        raise SetupError(f"BARNABAS_DOCUMENTS names {name}, which is not a file.")
    if "," in str(path):
        raise SetupError(f"BARNABAS_DOCUMENTS names {name}; a name with a comma cannot be followed.")
    return path
