"""A worker's properties: Kafka's names and defaults, and what clients of connectors are made of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.logins import ClientLogins, read_logins
from broker.client.security.errors import ClientConfigError
from broker.client.security.librdkafka import librdkafka_settings
from broker.client.security.properties import ClientSecurity, is_of_security, read_security
from broker.common.errors import StartupError
from broker.config.definition import (
    REQUIRED,
    ByAttribute,
    ConfigError,
    Key,
    parse_boolean,
    parse_int,
    parse_list,
    read_values,
)
from broker.connect.group.session_key import ALGORITHMS, KEY_BITS_MAX, KEY_BITS_MIN
from broker.connect.overrides import (
    ALLOWLIST,
    DEFAULT_POLICY,
    POLICY,
    SERVERS,
    TUNING,
    OverridePolicy,
    is_of_login,
    read_policy,
)
from broker.connect.providers import Providers

_EVERY_WORKER = (
    Key("bootstrap.servers", str, "localhost:9092", "Brokers to ask for the cluster."),
    Key("key.converter", str, REQUIRED, "Between Connect's values and the bytes of keys."),
    Key("value.converter", str, REQUIRED, "Between Connect's values and the bytes of values."),
    Key("header.converter", str, "SimpleHeaderConverter", "Between Connect's values and the bytes of headers."),
    Key("offset.flush.interval.ms", parse_int, 60_000, "How often offsets are committed.", at_least=1),
    Key("offset.flush.timeout.ms", parse_int, 5_000, "How long a task waits for that.", at_least=1),
    Key("task.shutdown.graceful.timeout.ms", parse_int, 5_000, "How long a task may take to stop.", at_least=0),
    Key("listeners", parse_list, ("http://127.0.0.1:8083",), "Where REST listens, http://host:port or https://…"),
    Key(
        "admin.listeners",
        parse_list,
        None,
        "Listeners of the loggers' API; unset: the worker's listeners, empty: none.",
    ),
    Key(
        "rest.advertised.listener", str, "", "By which listener workers ask one another.", choices=("", "http", "https")
    ),
    Key(
        "access.control.allow.origin",
        parse_list,
        (),
        "Origins of web pages that may call REST (CORS); * is every origin.",
    ),
    Key("access.control.allow.methods", parse_list, (), "And by which methods; else GET, POST and HEAD."),
    Key("response.http.headers.config", str, "", "Headers of every answer: set, add, setDate or addDate, name: value."),
    Key(
        "rest.allowed.hosts",
        parse_list,
        (),
        "Further host names for REST without a login; * is all. Addresses and configured names always work.",
    ),
    Key("rest.advertised.host.name", str, "", "Under which host other workers find this one."),
    Key("rest.advertised.port", parse_int, 0, "And under which port."),
    Key("authentication.method", str, "NONE", "BASIC asks for a name and password.", choices=("NONE", "BASIC")),
    Key(
        "authentication.file",
        str,
        "",
        "Names and passwords, `name: password` on a line; a file of mode 600. The workers of a group share it.",
    ),
    Key("connector.file.roots", parse_list, (), "Directories that connectors may read and write; empty: everywhere."),
    Key("connector.file.write.roots", parse_list, (), "Those of them that connectors may write to; empty: all."),
    Key(
        POLICY,
        str,
        DEFAULT_POLICY,
        "What connectors may set of their clients: Allowlist, None, Principal (how they log in) or All.",
    ),
    Key(ALLOWLIST, parse_list, TUNING, "With Allowlist: these options of clients, and no others."),
    Key("config.providers", parse_list, (), "Names of what resolves `${name:path:key}`; each with its class."),
    Key("topic.creation.enable", parse_boolean, True, "Whether sources may say how topics are made."),
    Key("audit.enable", parse_boolean, False, "Whether sinks tell the message audit what they have put and flushed."),
    Key("topic.tracking.enable", parse_boolean, True, "Whether the topics a connector uses are reported."),
    Key("topic.tracking.allow.reset", parse_boolean, True, "Whether they may be forgotten."),
)
STANDALONE = (
    *_EVERY_WORKER,
    Key("offset.storage.file.filename", str, REQUIRED, "The file that keeps source offsets."),
)
DISTRIBUTED = (
    *_EVERY_WORKER,
    Key("group.id", str, REQUIRED, "The workers of one group share its connectors."),
    Key("config.storage.topic", str, REQUIRED, "The topic of configurations."),
    Key("offset.storage.topic", str, REQUIRED, "The topic of source offsets."),
    Key("status.storage.topic", str, REQUIRED, "The topic of states."),
    Key("config.storage.replication.factor", parse_int, 3, "Copies; -1: the brokers' default.", at_least=-1),
    Key("offset.storage.replication.factor", parse_int, 3, "Copies; -1: the brokers' default.", at_least=-1),
    Key("status.storage.replication.factor", parse_int, 3, "Copies; -1: the brokers' default.", at_least=-1),
    Key("offset.storage.partitions", parse_int, 25, "Partitions of the topic of source offsets.", at_least=1),
    Key("status.storage.partitions", parse_int, 5, "Partitions of the topic of states.", at_least=1),
    Key("session.timeout.ms", parse_int, 10_000, "Silence after which a worker is given up.", at_least=1),
    Key("heartbeat.interval.ms", parse_int, 3_000, "How often a worker says it is there.", at_least=1),
    Key("rebalance.timeout.ms", parse_int, 60_000, "How long others wait for a worker to join.", at_least=1),
    Key(
        "exactly.once.source.support",
        str,
        "disabled",
        "Whether sources write each record once; on all workers `preparing` first, then on all `enabled`.",
        choices=("disabled", "preparing", "enabled"),
    ),
    Key("worker.sync.timeout.ms", parse_int, 3_000, "How long a worker reads to catch up.", at_least=1),
    Key("worker.unsync.backoff.ms", parse_int, 300_000, "And rests when that failed.", at_least=1),
    Key(
        "connect.protocol",
        str,
        "sessioned",
        "What the group's workers speak: sessioned signs their requests to one another, compatible does not.",
        choices=("sessioned", "compatible"),
    ),
    Key("inter.worker.key.generation.algorithm", str, "HmacSHA256", "What session keys are for.", choices=ALGORITHMS),
    Key(
        "inter.worker.key.size",
        parse_int,
        None,
        "Bits of a session key; unset: the algorithm's own.",
        at_least=KEY_BITS_MIN,
        at_most=KEY_BITS_MAX,
    ),
    Key(
        "inter.worker.key.ttl.ms", parse_int, 3_600_000, "How old a session key gets; 0: as old as it may.", at_least=0
    ),
    Key("inter.worker.signature.algorithm", str, "HmacSHA256", "What signs requests.", choices=ALGORITHMS),
    Key(
        "inter.worker.verification.algorithms",
        parse_list,
        ("HmacSHA256",),
        "What requests may be signed with; that of our own signatures must be among them.",
    ),
    Key("scheduled.rebalance.max.delay.ms", parse_int, 300_000, "How long work waits for its worker.", at_least=0),
)
#: Promised to sources: nothing overtakes, nothing is given up (A3).
_SOURCE_PRODUCER = {
    "acks": "all",
    "max.in.flight.requests.per.connection": 1,
    "message.timeout.ms": 0,
    "enable.idempotence": False,
    # As Java's: who reads a key by its partition finds it, whichever worker wrote it.
    "partitioner": "murmur2_random",
    "linger.ms": 5,
    "queue.buffering.max.messages": 100_000,
    "queue.buffering.max.kbytes": 65_536,
}
#: librdkafka would rest for a second whenever it is ahead of who reads.
_SINK_CONSUMER = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "fetch.queue.backoff.ms": 10}
#: What librdkafka calls otherwise, or leaves to its user.
_JAVA_ONLY = {
    "key.serializer", "value.serializer", "key.deserializer", "value.deserializer", "max.poll.records", "buffer.memory",
    "max.block.ms", "delivery.timeout.ms", "interceptor.classes", "retries",
}  # fmt: skip
_IN_LIBRDKAFKA = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}


@dataclass(frozen=True)
class WorkerSettings(ByAttribute):
    """`values` by attribute (dots are underscores), `props` as they were written."""

    values: Mapping[str, Any]
    props: Mapping[str, str]
    security: ClientSecurity
    providers: Providers
    policy: OverridePolicy

    def client(self) -> dict[str, Any]:
        """Return the settings of the worker's own clients."""
        return self._settings(self.security)

    def cluster(self, overrides: Mapping[str, str] | None = None) -> ClusterConnections:
        """Return an admin connection for the worker, or with a connector's `admin.override.…`.

        Raises ConnectError, ClientConfigError.
        """
        own = self._own("admin", overrides) if overrides is not None else {}
        servers = next((own[server] for server in SERVERS if server in own), self.values["bootstrap_servers"])
        security = self.security if overrides is None else self.security_of("admin", overrides)
        return ClusterConnections(parse_bootstrap_servers(servers), security=security)

    def cluster_of(self, kind: str, overrides: Mapping[str, str]) -> ClusterConnections:
        """Return a connection of our own client with a connector's settings for that kind of client.

        Raises as `consumer`.
        """
        own = self._own(kind, overrides)
        servers = next((own[server] for server in SERVERS if server in own), self.values["bootstrap_servers"])
        return ClusterConnections(
            parse_bootstrap_servers(servers), client_id=f"connect-{kind}", security=self.security_of(kind, overrides)
        )

    def logins(self) -> ClientLogins | None:
        """Return who may use REST; None: everybody. Raises StartupError."""
        if self.values["authentication_method"] == "NONE":
            return None
        if not self.values["authentication_file"]:
            raise StartupError("authentication.method=BASIC needs authentication.file.")
        return read_logins(Path(self.values["authentication_file"]))

    @property
    def is_exactly_once(self) -> bool:
        return bool(self.values.get("exactly_once_source_support") == "enabled")

    @property
    def has_fenced_leaders(self) -> bool:
        """Whether leaders write in transactions: on all workers before sources are exactly once on any (KIP-618)."""
        return bool(self.values.get("exactly_once_source_support", "disabled") != "disabled")

    @property
    def leaders_transactional_id(self) -> str:
        """The leader's transactional id, named as Kafka's, so that Kafka's workers can be in the same group."""
        return f"connect-cluster-{self.values['group_id']}"

    def transactional_id(self, connector: str, task: int) -> str:
        return f"{self.values['group_id']}-{connector}-{task}"

    def transactional_producer(self, connector: str, task: int, overrides: Mapping[str, str]) -> dict[str, Any]:
        ours = {"enable.idempotence": True, "transactional.id": self.transactional_id(connector, task)}
        return self.producer(connector, task, overrides) | ours

    def producer(self, connector: str, task: int, overrides: Mapping[str, str]) -> dict[str, Any]:
        """Return the producer's settings.

        Raises ConnectError for an override that the policy forbids, ClientConfigError.
        """
        ours = {**_SOURCE_PRODUCER, "client.id": f"connector-producer-{connector}-{task}"}
        return self._client("producer", overrides, ours)

    def consumer(self, connector: str, task: int, overrides: Mapping[str, str]) -> dict[str, Any]:
        ours = {"group.id": f"connect-{connector}", "client.id": f"connector-consumer-{connector}-{task}"}
        return self._client("consumer", overrides, _SINK_CONSUMER | ours)

    def admin(self, connector: str, task: int, overrides: Mapping[str, str]) -> dict[str, Any]:
        return self._client("admin", overrides, {"client.id": f"connector-adminclient-{connector}-{task}"})

    def offsets_client(self, overrides: Mapping[str, str]) -> dict[str, Any]:
        """Return the settings of the client for a source's offset topic, which is in its producer's cluster.

        Raises as `producer`.
        """
        own = self._own("producer", overrides)
        made = self._settings(self.security_of("producer", overrides))
        return made | {
            "bootstrap.servers": next((own[server] for server in SERVERS if server in own), self.bootstrap_servers)
        }

    def _client(self, kind: str, overrides: Mapping[str, str], ours: dict[str, Any]) -> dict[str, Any]:
        return self._settings(self.security_of(kind, overrides)) | ours | _plain(self._own(kind, overrides))

    def _own(self, kind: str, overrides: Mapping[str, str]) -> dict[str, str]:
        return _named(self.props, f"{kind}.") | self.policy.allowed(kind, overrides)

    def security_of(self, kind: str, overrides: Mapping[str, str]) -> ClientSecurity:
        """Return a client's security; the worker's login is used only for the worker's own cluster."""
        allowed = self.policy.allowed(kind, overrides)
        if any(server in allowed for server in SERVERS):
            return read_security(allowed)
        own = _named(self.props, f"{kind}.") | allowed
        return read_security({**self.props, **own}) if is_of_login(own) else self.security

    def _settings(self, security: ClientSecurity) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.values["bootstrap_servers"],
            "log.connection.close": False,
            **librdkafka_settings(security),
        }


def _check_algorithms(values: Mapping[str, Any]) -> None:
    """Raises ConfigError."""
    accepted = values.get("inter_worker_verification_algorithms", ())
    if unknown := [item for item in accepted if item not in ALGORITHMS]:
        raise ConfigError(f"inter.worker.verification.algorithms: {unknown[0]} is none of {', '.join(ALGORITHMS)}")
    signs = values.get("inter_worker_signature_algorithm")
    if signs is not None and signs not in accepted:
        raise ConfigError(f"inter.worker.signature.algorithm={signs} must be in inter.worker.verification.algorithms")


def read_settings(props: Mapping[str, str], keys: tuple[Key, ...]) -> WorkerSettings:
    """Raises StartupError. References are resolved, also in `props`."""
    try:
        providers = Providers(props)
        props = providers.resolve(props)
        values = read_values(keys, props)
        _check_algorithms(values)
        policy_name = values["connector_client_config_override_policy"]
        policy = read_policy(policy_name, values["connector_client_config_override_allowlist"])
        return WorkerSettings(values, props, read_security(props), providers, policy)
    except (ConfigError, ClientConfigError) as error:
        raise StartupError(f"{error}.") from None


def _named(props: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {
        key.removeprefix(prefix): value
        for key, value in props.items()
        if key.startswith(prefix) and not key.startswith(f"{prefix}override.")
    }


def _plain(own: Mapping[str, str]) -> dict[str, str]:
    return {_IN_LIBRDKAFKA.get(k, k): v for k, v in own.items() if k not in _JAVA_ONLY and not is_of_security(k)}
