"""Broker configuration: the keys of `server.properties` this broker understands, with Kafka's names and defaults.

Where Kafka's own have changed over the years, the defaults are those of Kafka up to 2.4: a follower may lag for 10 s, a
broker be silent for 6 s.

A key that Kafka has and nothing here reads is accepted and reported once at start, so that an existing file works; a
value that cannot be right stops the start with one sentence. Which keys may change while brokers run is told in
`dynamic`.
"""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, NamedTuple

from broker.common.errors import StartupError
from broker.common.limits import CONNECTIONS_MAX, HELD_REQUEST_BYTES_MAX
from broker.config.definition import (
    REQUIRED,
    ConfigError,
    ConfigSource,
    Key,
    parse_boolean,
    parse_int,
    parse_int32,
    parse_list,
    read_values,
    render_value,
)
from broker.config.properties import parse_properties
from broker.config.topic import CLEANUP_POLICIES, COMPRESSION_LEVELS, COMPRESSION_TYPES, TIMESTAMP_TYPES, UNLIMITED
from broker.config.without_effect import BROKER_KEYS as KEYS_WITHOUT_EFFECT


class Endpoint(NamedTuple):
    """One listener: name, host and port. Port 0 asks the system for a free one."""

    listener: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.listener}://{self.host}:{self.port}"


_ENDPOINT = re.compile(r"(?P<listener>[A-Za-z_]+)://(?P<host>\[[0-9A-Fa-f:]+\]|[^:/]*):(?P<port>\d{1,5})")


def parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    matches = [_ENDPOINT.fullmatch(part) for part in parse_list(text)]
    if not matches or None in matches or any(int(match["port"]) > 65_535 for match in matches):
        raise ValueError(text)
    return tuple(Endpoint(m["listener"].upper(), m["host"].strip("[]"), int(m["port"])) for m in matches)


class HostPort(NamedTuple):
    """One address; an empty host is none."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.host else ""


def parse_host_port(text: str) -> HostPort:
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdigit() or int(port) > 65_535:
        raise ValueError(text)
    return HostPort(host.strip("[]"), int(port))


class HostLimit(NamedTuple):
    """How many connections one address may have."""

    address: str
    connections: int

    def __str__(self) -> str:
        return f"{self.address}:{self.connections}"


def parse_host_limits(text: str) -> tuple[HostLimit, ...]:
    limits = []
    for part in parse_list(text):
        address, _, count = part.rpartition(":")
        limits.append(HostLimit(str(ip_address(address.strip("[]"))), parse_int32(count)))
    if any(limit.connections < 0 for limit in limits):
        raise ValueError(text)
    return tuple(limits)


#: The one replica selector there is, by the name Kafka's has.
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"

KEYS: tuple[Key, ...] = (
    Key("broker.id", parse_int, REQUIRED, "the number of this broker, unique in its cluster", at_least=0),
    Key("broker.rack", str, "", "Where this broker stands; placement spreads replicas over racks."),
    Key(
        "listeners",
        parse_endpoints,
        (Endpoint("PLAINTEXT", "127.0.0.1", 9092),),
        "Addresses the broker listens on, NAME://host:port, comma separated.",
    ),
    Key("advertised.listeners", parse_endpoints, None, "Addresses clients are told; default: the listeners."),
    Key("log.dirs", parse_list, ("/tmp/kafka-logs",), "Directories for partitions, comma separated."),
    Key("zookeeper.connect", str, REQUIRED, "ZooKeeper's addresses, host:port,…[/chroot]"),
    Key("zookeeper.session.timeout.ms", parse_int, 6_000, "Silence after which a broker counts as dead.", at_least=1),
    Key("zookeeper.connection.timeout.ms", parse_int, 18_000, "How long to wait for ZooKeeper at start.", at_least=1),
    Key("zookeeper.set.acl", parse_boolean, False, "Whether znodes may be changed by the brokers' user only."),
    # Kafka has its user in a JAAS file, for SASL. Named after ZooKeeper's scheme `digest`, which needs none.
    Key("zookeeper.digest.file", str, "", "File of mode 600 with the brokers' ZooKeeper user, user:password."),
    Key("controlled.shutdown.enable", parse_boolean, True, "Move leaderships away before stopping."),
    Key("controlled.shutdown.max.retries", parse_int, 3, "How often the controller is asked to move them.", at_least=0),
    Key("controlled.shutdown.retry.backoff.ms", parse_int, 5_000, "Pause before asking again.", at_least=0),
    Key(
        "max.partitions",
        parse_int,
        10_000,
        "Partitions there may be in the cluster (KIP-578); each costs ZooKeeper some kilobytes.",
        at_least=1,
    ),
    Key("num.partitions", parse_int, 1, "Partitions of a topic created without a number.", at_least=1),
    Key("default.replication.factor", parse_int, 1, "Replicas of a topic created without a number.", at_least=1),
    Key("auto.create.topics.enable", parse_boolean, True, "Create a topic when a client first asks for it."),
    Key("delete.topic.enable", parse_boolean, True, "Whether topics may be deleted."),
    Key("log.segment.bytes", parse_int32, 1_073_741_824, "Size at which a new segment starts.", at_least=14),
    Key("log.index.interval.bytes", parse_int32, 4096, "Bytes of log between two index entries.", at_least=0),
    Key(
        "log.index.size.max.bytes",
        parse_int32,
        10_485_760,
        "Size of an index at which a new segment starts.",
        at_least=4,
    ),
    Key("log.roll.ms", parse_int, None, "Age at which a new segment starts; before log.roll.hours.", at_least=1),
    Key("log.roll.hours", parse_int, 168, "Age in hours at which a new segment starts.", at_least=1),
    Key("log.retention.ms", parse_int, None, "Age at which old segments go; -1 is no limit.", at_least=-1),
    Key("log.retention.minutes", parse_int, None, "The same in minutes; after log.retention.ms.", at_least=-1),
    Key("log.retention.hours", parse_int, 168, "The same in hours; after log.retention.minutes.", at_least=-1),
    Key("log.retention.bytes", parse_int, -1, "Size of a partition at which old segments go.", at_least=-1),
    Key("log.retention.check.interval.ms", parse_int, 300_000, "How often retention looks.", at_least=1),
    Key("log.cleanup.policy", parse_list, ("delete",), "What happens to old segments.", choices=CLEANUP_POLICIES),
    Key("log.segment.delete.delay.ms", parse_int, 60_000, "How long a deleted file stays on disk.", at_least=0),
    Key("log.flush.interval.messages", parse_int, UNLIMITED, "Records between two fsyncs.", at_least=1),
    Key("log.flush.interval.ms", parse_int, None, "Milliseconds between two fsyncs.", at_least=0),
    Key("log.message.timestamp.type", str, "CreateTime", "Whose time a record carries.", choices=TIMESTAMP_TYPES),
    Key("log.message.timestamp.before.max.ms", parse_int, UNLIMITED, "How old a record may be.", at_least=0),
    Key("log.message.timestamp.after.max.ms", parse_int, UNLIMITED, "How far ahead a record may be.", at_least=0),
    Key(
        "log.message.timestamp.difference.max.ms",
        parse_int,
        UNLIMITED,
        "How old a record may be, or how far ahead, unless one of the two keys before says it.",
        at_least=0,
    ),
    Key("log.cleaner.min.cleanable.ratio", float, 0.5, "Dirty share that starts compaction.", at_least=0, at_most=1),
    Key("log.cleaner.delete.retention.ms", parse_int, 86_400_000, "How long a tombstone stays.", at_least=0),
    Key("log.cleaner.min.compaction.lag.ms", parse_int, 0, "A record stays uncompacted so long.", at_least=0),
    Key("log.cleaner.max.compaction.lag.ms", parse_int, UNLIMITED, "A record is compacted after this.", at_least=1),
    Key("log.cleaner.enable", parse_boolean, True, "Whether compacted topics are compacted."),
    Key("log.cleaner.backoff.ms", parse_int, 15_000, "Pause of the cleaner when no log is due.", at_least=0),
    Key(
        "log.cleaner.dedupe.buffer.size", parse_int, 33_554_432, "Memory for the keys of one pass.", at_least=1_048_576
    ),
    Key("log.cleaner.io.max.bytes.per.second", float, UNLIMITED, "What a pass may read and write.", at_least=1),
    Key("log.initial.task.delay.ms", parse_int, 30_000, "How long upkeep waits after the start.", at_least=0),
    Key("log.flush.scheduler.interval.ms", parse_int, 3_000, "How often due flushes are looked for.", at_least=1),
    Key("log.flush.offset.checkpoint.interval.ms", parse_int, 60_000, "How often offsets are noted.", at_least=1),
    Key(
        "replica.high.watermark.checkpoint.interval.ms",
        parse_int,
        5_000,
        "How often replicated offsets are noted.",
        at_least=1,
    ),
    Key(
        "compression.type",
        str,
        "producer",
        "How batches are packed; producer keeps what the client sent.",
        choices=COMPRESSION_TYPES,
    ),
    *COMPRESSION_LEVELS,
    Key(
        "replica.lag.time.max.ms",
        parse_int,
        10_000,
        "A follower that has not been caught up for so long leaves the ISR.",
        at_least=1,
    ),
    Key(
        "replica.selector.class",
        str,
        "",
        "Set, it sends a consumer with client.rack to an in-sync replica in its rack.",
        choices=("", RACK_AWARE_SELECTOR),
    ),
    Key(
        "replica.socket.timeout.ms",
        parse_int,
        30_000,
        "A leader that answers no fetch for so long is connected to anew.",
        at_least=1,
    ),
    Key("replica.fetch.wait.max.ms", parse_int, 500, "How long a follower's fetch may wait for records.", at_least=1),
    Key(
        "replica.fetch.max.bytes", parse_int, 1_048_576, "Bytes a follower fetches of a partition at once.", at_least=1
    ),
    Key(
        "replica.fetch.response.max.bytes",
        parse_int,
        10_485_760,
        "Bytes a follower fetches of all partitions at once.",
        at_least=1,
    ),
    Key(
        "replica.fetch.backoff.ms",
        parse_int,
        100,
        "How long a follower waits before it asks again for a partition that was refused.",
        at_least=1,
    ),
    Key("min.insync.replicas", parse_int32, 1, "In-sync replicas that acks=all needs.", at_least=1),
    Key("unclean.leader.election.enable", parse_boolean, False, "May a replica outside the ISR lead."),
    Key(
        "leader.replication.throttled.rate",
        parse_int,
        UNLIMITED,
        "Bytes per second that throttled replicas copy from this broker.",
        at_least=0,
    ),
    Key(
        "follower.replication.throttled.rate",
        parse_int,
        UNLIMITED,
        "Bytes per second that throttled replicas of this broker copy from others.",
        at_least=0,
    ),
    Key("auto.leader.rebalance.enable", parse_boolean, True, "Whether preferred replicas get leadership back."),
    Key("leader.imbalance.check.interval.seconds", parse_int, 300, "How often that is looked at.", at_least=1),
    Key(
        "leader.imbalance.per.broker.percentage",
        parse_int,
        10,
        "Share of a broker's preferred partitions that may be led elsewhere.",
        at_least=0,
    ),
    Key("message.max.bytes", parse_int32, 1_048_588, "Largest record batch accepted.", at_least=0),
    Key("socket.request.max.bytes", parse_int, 104_857_600, "Largest request accepted.", at_least=1),
    Key(
        "queued.max.request.bytes",
        parse_int,
        HELD_REQUEST_BYTES_MAX,
        "Half-received requests of all connections.",
        at_least=1,
    ),
    Key(
        "socket.send.buffer.bytes",
        parse_int32,
        102_400,
        "The kernel's buffer for what a client has not read yet; -1: the system's choice.",
        at_least=-1,
    ),
    Key(
        "socket.receive.buffer.bytes",
        parse_int32,
        -1,
        "The kernel's buffer for what the broker has not read yet; -1: the system's choice.",
        at_least=-1,
    ),
    Key("max.connections", parse_int32, CONNECTIONS_MAX, "Connections one listener accepts at a time.", at_least=0),
    Key("max.connections.per.ip", parse_int32, 1_000, "Connections from one address at a time.", at_least=0),
    Key("max.connections.per.ip.overrides", parse_host_limits, (), "The same for single addresses: address:count,…"),
    Key("connections.max.idle.ms", parse_int, 600_000, "Silence after which a connection is closed.", at_least=1),
    Key("fetch.max.bytes", parse_int, 57_671_680, "Bytes one fetch answers at most.", at_least=1024),
    Key("offsets.topic.num.partitions", parse_int, 50, "Partitions of __consumer_offsets.", at_least=1),
    Key("offsets.topic.replication.factor", parse_int, 3, "Replicas of __consumer_offsets.", at_least=1),
    Key("offsets.topic.segment.bytes", parse_int32, 104_857_600, "Segment size of __consumer_offsets.", at_least=14),
    Key("producer.id.expiration.ms", parse_int, 86_400_000, "Silence after which a producer is forgotten.", at_least=1),
    Key("producer.id.expiration.check.interval.ms", parse_int, 600_000, "How often that is looked at.", at_least=1),
    Key(
        "transaction.partition.verification.enable",
        parse_boolean,
        True,
        "Ask the coordinator before a batch opens a transaction.",
    ),
    Key(
        "request.timeout.ms",
        parse_int32,
        30_000,
        "How long a transaction's request waits for the replicas of its state.",
        at_least=1,
    ),
    Key("transaction.max.timeout.ms", parse_int32, 900_000, "Longest timeout of a transaction.", at_least=1),
    Key(
        "transactional.id.expiration.ms",
        parse_int32,
        604_800_000,
        "How long an unused transactional id is remembered.",
        at_least=1,
    ),
    Key("transaction.state.log.num.partitions", parse_int, 50, "Partitions of __transaction_state.", at_least=1),
    Key("transaction.state.log.replication.factor", parse_int, 3, "Replicas of __transaction_state.", at_least=1),
    Key("transaction.state.log.min.isr", parse_int32, 2, "In-sync replicas a transaction's state needs.", at_least=1),
    Key(
        "transaction.state.log.segment.bytes",
        parse_int32,
        104_857_600,
        "Segment size of __transaction_state.",
        at_least=14,
    ),
    Key("offset.metadata.max.bytes", parse_int, 4096, "Longest metadata of a commit.", at_least=0),
    Key("offsets.commit.timeout.ms", parse_int32, 5_000, "How long a commit waits for its replicas.", at_least=1),
    Key("offsets.retention.minutes", parse_int32, 10_080, "How long offsets outlive their use.", at_least=1),
    Key("offsets.retention.check.interval.ms", parse_int, 600_000, "How often old offsets are looked for.", at_least=1),
    Key("group.min.session.timeout.ms", parse_int, 6_000, "Shortest session timeout of a member.", at_least=0),
    Key("group.max.session.timeout.ms", parse_int, 1_800_000, "Longest session timeout of a member.", at_least=0),
    Key("group.initial.rebalance.delay.ms", parse_int, 3_000, "How long a new group waits for members.", at_least=0),
    Key(
        "group.max.size",
        parse_int,
        1_000,
        "Members one group may have. A record of 1 MB has to hold all of them; Kafka has no limit by default.",
        at_least=1,
    ),
    Key("metrics.listener", parse_host_port, HostPort("", 0), "host:port of /metrics and /healthz; unset: not served."),
    *KEYS_WITHOUT_EFFECT,
)
BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}


class BrokerConfig:
    """What counts now, by attribute: `config.broker_id` for `broker.id`.

    One object for the life of a broker, whose values change with `set_dynamic`: who reads a value when it is needed
    always has the one that counts. `given` are the known keys of the file, `unused` all those of it that nothing reads,
    known or not.
    """

    def __init__(self, values: dict[str, Any], given: frozenset[str] = frozenset(), unused: tuple[str, ...] = ()):
        self.given = given
        self.unused = unused
        #: What the file says, or else the default, by attribute; never changes.
        self.at_start: Mapping[str, Any] = values
        self.values = values
        self.layers: dict[ConfigSource, Mapping[str, Any]] = {}
        self.set_dynamic({}, {})

    def set_dynamic(self, own: Mapping[str, Any], cluster_wide: Mapping[str, Any]) -> bool:
        """Values by key that count before the file's: for this broker, and for all; whether anything is different.

        `layers` then holds every value by source and key, the source that counts first, and so the texts of keys that
        nobody knows; for the owner's thread.
        """
        before = self.values
        from_file = dict.fromkeys((name for name in self.unused if name not in BY_NAME), "")
        from_file |= {name: self.at_start[BY_NAME[name].attribute] for name in self.given}
        self.layers = {
            ConfigSource.BROKER: dict(own),
            ConfigSource.CLUSTER: dict(cluster_wide),
            ConfigSource.BROKER_FILE: from_file,
        }
        both = {**cluster_wide, **own}
        changed = {BY_NAME[name].attribute: value for name, value in both.items() if name in BY_NAME}
        self.values = {**self.at_start, **changed}
        # Attributes of its own for each value: reading one on the request path costs no call.
        vars(self).update(self.values)
        return self.values != before

    def text(self, name: str) -> str | None:
        """The value of the key `name` as it would be written."""
        return render_value(self.values[BY_NAME[name].attribute])


def read_broker_config(text: str) -> BrokerConfig:
    """The configuration in a `server.properties`; StartupError with one sentence when it cannot be right."""
    texts = parse_properties(text)
    try:
        values = read_values(KEYS, texts)
        _check_listeners(values)
        if values["zookeeper_set_acl"] and not values["zookeeper_digest_file"]:
            raise ConfigError("zookeeper.set.acl=true needs zookeeper.digest.file: whose shall the znodes be?")
    except ConfigError as error:
        raise StartupError(str(error)) from None
    unused = sorted(name for name in texts if name not in BY_NAME or not BY_NAME[name].has_effect)
    return BrokerConfig(values, frozenset(texts) & BY_NAME.keys(), tuple(unused))


def _check_listeners(values: dict[str, Any]) -> None:
    for endpoint in (*values["listeners"], *(values["advertised_listeners"] or ())):
        if endpoint.listener != "PLAINTEXT":
            raise ConfigError(f"listener {endpoint}: only PLAINTEXT is served; security comes with a later release")
    for endpoint in values["advertised_listeners"] or ():
        if endpoint.host in ("", "0.0.0.0", "::"):
            raise ConfigError(f"advertised.listeners={endpoint} must name a host that clients can reach")
    if not values["advertised_listeners"]:
        for endpoint in values["listeners"]:
            if endpoint.host in ("", "0.0.0.0", "::"):
                raise ConfigError(
                    f"listeners={endpoint} listens everywhere: set advertised.listeners to a reachable host"
                )
