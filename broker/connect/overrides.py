"""Which settings of its clients a connector may set by itself: `producer.override.…`, `consumer.override.…`,
`admin.override.…` (KIP-458, KIP-1188).

Clients run in the worker's process: by them one could log in elsewhere with the worker's password, have the worker read
its files, or load a library into it. So a policy says what is allowed, and nothing allows what is of the process.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from broker.client.security.properties import is_of_security
from broker.common.errors import StartupError
from broker.connect.api import ConfigError, ConnectError
from broker.connect.plugins.paths import check_option

KINDS = ("producer", "consumer", "admin")
POLICY = "connector.client.config.override.policy"
ALLOWLIST = "connector.client.config.override.allowlist"
DEFAULT_POLICY = "Allowlist"
#: What only tunes: it says neither whom a client asks nor as whom, names no file, and takes nothing from a promise.
TUNING = (
    "auto.offset.reset", "batch.num.messages", "batch.size", "buffer.memory", "client.dns.lookup", "client.id",
    "client.rack", "compression.level", "compression.type", "connections.max.idle.ms", "delivery.timeout.ms",
    "fetch.max.bytes", "fetch.max.wait.ms", "fetch.message.max.bytes", "fetch.min.bytes", "fetch.wait.max.ms",
    "heartbeat.interval.ms", "isolation.level", "linger.ms", "max.block.ms", "max.partition.fetch.bytes",
    "max.poll.interval.ms", "max.poll.records", "max.request.size", "message.max.bytes", "metadata.max.age.ms",
    "partition.assignment.strategy", "queue.buffering.max.kbytes", "queue.buffering.max.messages",
    "receive.buffer.bytes", "reconnect.backoff.max.ms", "reconnect.backoff.ms", "request.timeout.ms",
    "retry.backoff.ms", "send.buffer.bytes", "session.timeout.ms",
)  # fmt: skip
SERVERS = ("bootstrap.servers", "metadata.broker.list")

_PRINCIPAL = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
_POLICIES = ("Allowlist", "All", "None", "Principal")
_CLASS, _PACKAGE = "ConnectorClientConfigOverridePolicy", "org.apache.kafka.connect.connector.policy."
#: Of the process, or of what the worker promises. A mock cluster would take records and keep none.
_NOBODYS = frozenset(
    {
        "debug",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "log_level",
        "offset.store.path",
        "plugin.library.paths",
    }
)
_NOBODYS_PREFIX = "test.mock."


@dataclass(frozen=True)
class OverridePolicy:
    name: str
    listed: frozenset[str] = frozenset()

    def objection(self, option: str, value: str) -> str | None:
        """Return why a connector may not override this option of a client; None if it may."""
        if option in _NOBODYS or option.startswith(_NOBODYS_PREFIX):
            return f"'{option}' is for no connector to override: it is of the worker's process, or of its promises."
        if not self._allows(option):
            return (
                f"The '{self.name}' policy does not allow '{option}' to be overridden in the connector configuration."
            )
        try:
            check_option(option, value)
        except ConfigError as error:
            return str(error)
        return None

    def _allows(self, option: str) -> bool:
        if self.name == "Principal":
            return option in _PRINCIPAL
        return self.name == "All" or option in self.listed

    def allowed(self, kind: str, props: Mapping[str, Any]) -> dict[str, str]:
        """Return the connector's overrides for that kind of client.

        Raises ConnectError for one the policy does not allow.
        """
        prefix = f"{kind}.override."
        overrides = {key.removeprefix(prefix): str(value) for key, value in props.items() if key.startswith(prefix)}
        for option, value in overrides.items():
            if objection := self.objection(option, value):
                raise ConnectError(f"Client Config Overrides not allowed {prefix}{option}: {objection}")
        return overrides


def overrides_of(props: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield key, option and value of each override."""
    for key, value in props.items():
        kind, separator, option = key.partition(".override.")
        if separator and kind in KINDS and value is not None:
            yield key, option, str(value)


def read_policy(policy: str, listed: tuple[str, ...]) -> OverridePolicy:
    """Return the policy of Kafka's name or class. Raises StartupError."""
    name = policy.strip().removeprefix(_PACKAGE).removesuffix(_CLASS)
    if name not in _POLICIES:
        raise StartupError(f"{POLICY}={policy} must be one of {', '.join(_POLICIES)}.")
    return OverridePolicy(name, frozenset(listed) if name == "Allowlist" else frozenset())


def is_of_login(options: Mapping[str, str]) -> bool:
    """Return whether anything is said of how a client gets in."""
    return any(map(is_of_security, options))
