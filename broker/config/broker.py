"""Broker configuration: the keys of `server.properties` this broker understands, with Kafka's names and defaults.

Where Kafka's own have changed over the years, the defaults are those of Kafka up to 2.4: a follower may lag for 10 s, a
broker be silent for 6 s.

A key that Kafka has and nothing here reads is accepted and reported once at start, so that an existing file works; a
value that cannot be right stops the start with one sentence. Which keys may change while brokers run is told in
`dynamic`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from broker.common.errors import StartupError
from broker.common.java.numbers import parse_double
from broker.config.authorizer import AuthorizerKeys
from broker.config.definition import (
    REQUIRED,
    ConfigError,
    ConfigSource,
    Key,
    parse_boolean,
    parse_int,
    parse_int16,
    parse_int32,
    parse_list,
    read_values,
    render_value,
    setting,
    take_keys,
)
from broker.config.delegation_tokens import DelegationTokenKeys
from broker.config.groups import GroupKeys
from broker.config.kraft import without_kraft
from broker.config.listener_settings import BY_NAME as LISTENER_KEYS
from broker.config.listener_settings import (
    OF_MECHANISM_ONLY,
    ListenerKeys,
    ListenerSettings,
    prefixed,
    prefixed_key,
    settings_of_listener,
)
from broker.config.listeners import ListenerAddresses, check_listeners, inter_broker_listener, protocol_of
from broker.config.network import NetworkSettings
from broker.config.properties import parse_properties
from broker.config.tls_versions import old_versions
from broker.config.topic import (
    AHEAD_MS_MAX,
    CLEANUP_POLICIES,
    COMPRESSION_LEVELS,
    COMPRESSION_TYPES,
    TIMESTAMP_TYPES,
    UNLIMITED,
)
from broker.config.without_effect import BROKER_KEYS as KEYS_WITHOUT_EFFECT
from broker.config.zookeeper import KEYS as ZOOKEEPER_TLS_KEYS
from broker.config.zookeeper import ZooKeeperTlsKeys, zookeeper_tls

#: The one replica selector there is, by the name Kafka's has.
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class BrokerSettings:
    """What a broker can be told, by attribute: `log_dirs` is `log.dirs`. A value is read of a `BrokerConfig`."""

    broker_id = setting(parse_int32, REQUIRED, "the number of this broker, unique in its cluster", at_least=0)
    node_id = setting(parse_int32, REQUIRED, "the same number by Kafka's newer name", at_least=0)
    broker_rack = setting(str, "", "Where this broker stands; placement spreads replicas over racks.")
    log_dirs = setting(parse_list, ("/tmp/kafka-logs",), "Directories for partitions, comma separated.")
    zookeeper_connect = setting(str, REQUIRED, "ZooKeeper's addresses, host:port,…[/chroot]")
    zookeeper_session_timeout_ms = setting(parse_int32, 6_000, "Silence after which a broker is dead.", at_least=1)
    zookeeper_connection_timeout_ms = setting(parse_int32, 18_000, "How long to wait for it at the start.", at_least=1)
    # Kafka has nothing like it: its brokers trust by principal, ours by a secret that another Kafka's do not know.
    kafka_cluster_join = setting(
        parse_boolean, False, "Start in a chroot that holds another Kafka's cluster, whose own brokers are stopped."
    )
    zookeeper_set_acl = setting(parse_boolean, False, "Whether znodes may be changed by the brokers' user only.")
    # Kafka has its user in a JAAS file, for SASL. Named after ZooKeeper's scheme `digest`, which needs none.
    zookeeper_digest_file = setting(str, "", "File of mode 600 with the brokers' ZooKeeper user, user:password.")
    controlled_shutdown_enable = setting(parse_boolean, True, "Move leaderships away before stopping.")
    controlled_shutdown_max_retries = setting(
        parse_int32, 3, "How many times the controller is asked to move them.", at_least=0
    )
    controlled_shutdown_retry_backoff_ms = setting(parse_int, 5_000, "Pause before asking again.", at_least=0)
    max_partitions = setting(
        parse_int,
        10_000,
        "Partitions there may be in the cluster (KIP-578); each costs ZooKeeper some kilobytes.",
        at_least=1,
    )
    num_partitions = setting(parse_int32, 1, "Partitions of a topic created without a number.", at_least=1)
    default_replication_factor = setting(parse_int32, 1, "Replicas of a topic created without a number.", at_least=1)
    auto_create_topics_enable = setting(parse_boolean, True, "Create a topic when a client first asks for it.")
    delete_topic_enable = setting(parse_boolean, True, "Whether topics may be deleted.")
    log_segment_bytes = setting(parse_int32, 1_073_741_824, "Size at which a new segment starts.", at_least=14)
    log_index_interval_bytes = setting(parse_int32, 4096, "Bytes of log between two index entries.", at_least=0)
    log_index_size_max_bytes = setting(
        parse_int32, 10_485_760, "Size of an index at which a new segment starts.", at_least=4
    )
    log_roll_ms = setting(parse_int, None, "Age at which a new segment starts; before log.roll.hours.", at_least=1)
    log_roll_hours = setting(parse_int32, 168, "Age in hours at which a new segment starts.", at_least=1)
    log_retention_ms = setting(parse_int, None, "Age at which old segments go; -1 is no limit.", at_least=-1)
    log_retention_minutes = setting(parse_int32, None, "The same in minutes; after log.retention.ms.", at_least=-1)
    log_retention_hours = setting(parse_int32, 168, "The same in hours; after log.retention.minutes.", at_least=-1)
    log_retention_bytes = setting(parse_int, -1, "Size of a partition at which old segments go.", at_least=-1)
    log_retention_check_interval_ms = setting(parse_int, 300_000, "How often retention looks.", at_least=1)
    log_cleanup_policy = setting(parse_list, ("delete",), "What happens to old segments.", choices=CLEANUP_POLICIES)
    log_segment_delete_delay_ms = setting(parse_int, 60_000, "How long a deleted file stays on disk.", at_least=0)
    log_flush_interval_messages = setting(parse_int, UNLIMITED, "Records between two fsyncs.", at_least=1)
    log_flush_interval_ms = setting(parse_int, None, "Milliseconds between two fsyncs.", at_least=0)
    log_message_timestamp_type = setting(str, "CreateTime", "Whose time a record carries.", choices=TIMESTAMP_TYPES)
    log_message_timestamp_before_max_ms = setting(parse_int, UNLIMITED, "How old a record may be.", at_least=0)
    log_message_timestamp_after_max_ms = setting(parse_int, AHEAD_MS_MAX, "How far ahead a record may be.", at_least=0)
    log_message_timestamp_difference_max_ms = setting(
        parse_int,
        UNLIMITED,
        "How old a record may be, or how far ahead, unless one of the two keys before says it.",
        at_least=0,
    )
    log_cleaner_min_cleanable_ratio = setting(
        parse_double, 0.5, "Dirty share that starts compaction.", at_least=0, at_most=1
    )
    log_cleaner_delete_retention_ms = setting(parse_int, 86_400_000, "How long a tombstone stays.", at_least=0)
    log_cleaner_min_compaction_lag_ms = setting(
        parse_int, 0, "The shortest time a record stays uncompacted.", at_least=0
    )
    log_cleaner_max_compaction_lag_ms = setting(parse_int, UNLIMITED, "A record is compacted after this.", at_least=1)
    log_cleaner_enable = setting(parse_boolean, True, "Whether compacted topics are compacted.")
    log_cleaner_backoff_ms = setting(parse_int, 15_000, "Pause of the cleaner when no log is due.", at_least=0)
    log_cleaner_dedupe_buffer_size = setting(
        parse_int, 33_554_432, "Memory for the keys of one pass.", at_least=1_048_576
    )
    log_cleaner_io_max_bytes_per_second = setting(
        parse_double, UNLIMITED, "What a pass may read and write.", at_least=1
    )
    log_initial_task_delay_ms = setting(parse_int, 30_000, "How long upkeep waits after the start.", at_least=0)
    log_flush_scheduler_interval_ms = setting(parse_int, 3_000, "How often due flushes are looked for.", at_least=1)
    log_flush_offset_checkpoint_interval_ms = setting(parse_int32, 60_000, "How often offsets are noted.", at_least=1)
    replica_high_watermark_checkpoint_interval_ms = setting(
        parse_int, 5_000, "How often replicated offsets are noted.", at_least=1
    )
    compression_type = setting(
        str,
        "producer",
        "How batches are packed; producer keeps what the client sent.",
        choices=COMPRESSION_TYPES,
    )
    replica_lag_time_max_ms = setting(
        parse_int, 10_000, "A follower that has not caught up for this time leaves the ISR.", at_least=1
    )
    replica_selector_class = setting(
        str,
        "",
        "Set, it sends a consumer with client.rack to an in-sync replica in its rack.",
        choices=("", RACK_AWARE_SELECTOR),
    )
    replica_socket_timeout_ms = setting(
        parse_int32,
        30_000,
        "The connection to a leader that answers no fetch for this time is reopened.",
        at_least=1,
    )
    replica_fetch_wait_max_ms = setting(parse_int32, 500, "How long a follower's fetch waits for records.", at_least=1)
    replica_fetch_max_bytes = setting(
        parse_int32, 1_048_576, "Bytes a follower fetches of a partition at once.", at_least=1
    )
    replica_fetch_response_max_bytes = setting(
        parse_int32,
        10_485_760,
        "Bytes a follower fetches of all partitions at once.",
        at_least=1,
    )
    replica_fetch_backoff_ms = setting(
        parse_int32,
        100,
        "How long a follower waits before it asks again for a partition that was refused.",
        at_least=1,
    )
    barnabas_audit_enable = setting(
        parse_boolean, False, "Brokers count what they append, for the message audit; of topics that say nothing else."
    )
    barnabas_audit_interval_ms = setting(
        parse_int, 5_000, "How often brokers tell the message audit what they counted.", at_least=100
    )
    telemetry_max_bytes = setting(
        parse_int32, 1_048_576, "Largest metrics a client may push at once, as they are sent.", at_least=1
    )
    min_insync_replicas = setting(parse_int32, 1, "In-sync replicas that acks=all needs.", at_least=1)
    unclean_leader_election_enable = setting(parse_boolean, False, "May a replica outside the ISR lead.")
    leader_replication_throttled_rate = setting(
        parse_int,
        UNLIMITED,
        "Bytes per second that throttled replicas copy from this broker.",
        at_least=0,
    )
    follower_replication_throttled_rate = setting(
        parse_int,
        UNLIMITED,
        "Bytes per second that throttled replicas of this broker copy from others.",
        at_least=0,
    )
    replica_alter_log_dirs_io_max_bytes_per_second = setting(
        parse_int,
        UNLIMITED,
        "Bytes per second that are copied between log directories of this broker.",
        at_least=0,
    )
    auto_leader_rebalance_enable = setting(parse_boolean, True, "Whether preferred replicas get leadership back.")
    leader_imbalance_check_interval_seconds = setting(parse_int, 300, "How often that is checked.", at_least=1)
    leader_imbalance_per_broker_percentage = setting(
        parse_int,
        10,
        "Share of a broker's preferred partitions that may be led elsewhere.",
        at_least=0,
    )
    message_max_bytes = setting(parse_int32, 1_048_588, "Largest record batch accepted.", at_least=0)
    fetch_max_bytes = setting(parse_int32, 57_671_680, "Bytes one fetch answers at most.", at_least=1024)
    offsets_topic_num_partitions = setting(parse_int32, 50, "Partitions of __consumer_offsets.", at_least=1)
    offsets_topic_replication_factor = setting(parse_int16, 3, "Replicas of __consumer_offsets.", at_least=1)
    offsets_topic_segment_bytes = setting(parse_int32, 104_857_600, "Segment size of __consumer_offsets.", at_least=14)
    producer_id_expiration_ms = setting(
        parse_int32, 86_400_000, "Silence after which a producer is forgotten.", at_least=1
    )
    producer_id_expiration_check_interval_ms = setting(parse_int, 600_000, "How often that is checked.", at_least=1)
    transaction_partition_verification_enable = setting(
        parse_boolean,
        True,
        "Ask the coordinator before a batch opens a transaction.",
    )
    request_timeout_ms = setting(
        parse_int32,
        30_000,
        "How long a transaction's request waits for the replicas of its state.",
        at_least=1,
    )
    transaction_two_phase_commit_enable = setting(
        parse_boolean, False, "Serve InitProducerId 6: transactions without a timeout, ended from outside (KIP-939)."
    )
    transaction_max_timeout_ms = setting(parse_int32, 900_000, "Longest timeout of a transaction.", at_least=1)
    transactional_id_expiration_ms = setting(
        parse_int32,
        604_800_000,
        "How long an unused transactional id is remembered.",
        at_least=1,
    )
    transaction_state_log_num_partitions = setting(parse_int32, 50, "Partitions of __transaction_state.", at_least=1)
    transaction_state_log_replication_factor = setting(parse_int16, 3, "Replicas of __transaction_state.", at_least=1)
    transaction_state_log_min_isr = setting(parse_int32, 2, "In-sync replicas a transaction's state needs.", at_least=1)
    transaction_state_log_segment_bytes = setting(
        parse_int32,
        104_857_600,
        "Segment size of __transaction_state.",
        at_least=14,
    )
    offset_metadata_max_bytes = setting(parse_int32, 4096, "Longest metadata of a commit.", at_least=0)
    offsets_commit_timeout_ms = setting(parse_int32, 5_000, "How long a commit waits for its replicas.", at_least=1)
    offsets_retention_minutes = setting(parse_int32, 10_080, "How long offsets outlive their use.", at_least=1)
    offsets_retention_check_interval_ms = setting(
        parse_int, 600_000, "How often old offsets are looked for.", at_least=1
    )
    quota_window_num = setting(parse_int32, 11, "Samples that quotas of clients are measured by.", at_least=1)
    quota_window_size_seconds = setting(parse_int32, 1, "How long each of these samples is.", at_least=1)
    controller_quota_window_num = setting(
        parse_int32, 11, "Samples that the quota of changes to topics may be saved up for.", at_least=1
    )
    controller_quota_window_size_seconds = setting(parse_int32, 1, "How long each of these is.", at_least=1)


KEYS: tuple[Key, ...] = (
    *take_keys(ListenerAddresses),
    *LISTENER_KEYS.values(),
    *take_keys(NetworkSettings),
    *take_keys(BrokerSettings),
    *take_keys(AuthorizerKeys),
    *take_keys(DelegationTokenKeys),
    *take_keys(GroupKeys),
    *ZOOKEEPER_TLS_KEYS,
    *COMPRESSION_LEVELS,
    *KEYS_WITHOUT_EFFECT,
)
BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}


def key_of(name: str) -> Key | None:
    """Return the key of that name, with or without a listener's prefix; None if there is none."""
    return BY_NAME.get(name) or prefixed_key(name)


class BrokerConfig(
    BrokerSettings,
    AuthorizerKeys,
    DelegationTokenKeys,
    GroupKeys,
    ZooKeeperTlsKeys,
    NetworkSettings,
    ListenerAddresses,
    ListenerKeys,
):
    """What counts now, by attribute: `config.broker_id` for `broker.id`.

    One object for the life of a broker, whose values change with `set_dynamic`: who reads a value when it is needed
    always has the one that counts. `given` are the known keys of the file, `unused` all those of it that nothing reads,
    known or not; `of_listeners` the values of the file with a listener's prefix, by full name.
    """

    def __init__(
        self,
        values: dict[str, Any],
        given: frozenset[str] = frozenset(),
        unused: tuple[str, ...] = (),
        of_listeners: Mapping[str, Any] = MappingProxyType({}),
    ):
        self.given = given
        self.unused = unused
        #: By key of the file, versions of TLS that it names and nobody is offered.
        self.old_tls_versions: Mapping[str, str] = {}
        #: What the file says, or else the default, by attribute; never changes.
        self.at_start: Mapping[str, Any] = values
        self.values = values
        self._of_listeners_at_start = self._of_listeners = of_listeners
        self.layers: dict[ConfigSource, Mapping[str, Any]] = {}
        self.set_dynamic({}, {})

    def set_dynamic(self, own: Mapping[str, Any], cluster_wide: Mapping[str, Any]) -> bool:
        """Set the dynamic values of this broker and of the cluster, which precede the file's; return whether anything
        changed.

        `layers` then holds every value by source and key, the source that counts first, and so the texts of keys that
        nobody knows; for the owner's thread.
        """
        before = self.values, self._of_listeners
        from_file = dict.fromkeys((name for name in self.unused if name not in BY_NAME), "")
        from_file |= {name: self.at_start[BY_NAME[name].attribute] for name in self.given}
        from_file |= self._of_listeners_at_start
        self.layers = {
            ConfigSource.BROKER: dict(own),
            ConfigSource.CLUSTER: dict(cluster_wide),
            ConfigSource.BROKER_FILE: from_file,
        }
        both = {**cluster_wide, **own}
        changed = {BY_NAME[name].attribute: value for name, value in both.items() if name in BY_NAME}
        self.values = {**self.at_start, **changed}
        self._of_listeners = {
            **self._of_listeners_at_start,
            **{name: value for name, value in both.items() if prefixed(name)},
        }
        # Attributes of its own for each value: reading one on the request path costs no call.
        vars(self).update(self.values)
        return (self.values, self._of_listeners) != before

    def with_dynamic(self, own: Mapping[str, Any], cluster_wide: Mapping[str, Any]) -> "BrokerConfig":
        """Return the configuration that would be in effect with these dynamic values."""
        then = BrokerConfig(dict(self.at_start), self.given, self.unused, self._of_listeners_at_start)
        then.set_dynamic(own, cluster_wide)
        return then

    def check_listeners(self) -> None:
        """ConfigError with one sentence if a broker could not listen so."""
        check_listeners(self.values, self.given)

    @property
    def of_listeners(self) -> Mapping[str, Any]:
        """The settings with a listener's prefix, by full name."""
        return self._of_listeners

    def text(self, name: str) -> str | None:
        """Return the value of the key `name` as it would be written; a secret is hidden."""
        return render_value(self.values[BY_NAME[name].attribute])

    def of_listener(self, listener: str) -> ListenerSettings:
        """Return the settings in effect for the listener; KeyError if it has no security protocol."""
        return settings_of_listener(listener, protocol_of(listener, self.values), self.values, self._of_listeners)

    @property
    def inter_broker_listener(self) -> str:
        """Name of the listener by which brokers reach each other."""
        return inter_broker_listener(self.values)


def read_broker_config(text: str, overrides: Mapping[str, str] = MappingProxyType({})) -> BrokerConfig:
    """Return the configuration in a `server.properties`, of which `overrides` say some keys otherwise; StartupError
    with one sentence when it cannot be right.
    """
    texts = {**parse_properties(text), **overrides}
    try:
        texts = without_kraft(texts)
        values = read_values(KEYS, texts)
        of_listeners = {name: key.read(texts[name]) for name in texts if (key := prefixed_key(name))}
        check_listeners(values, texts)
        _check_together(values)
    except ConfigError as error:
        raise StartupError(str(error)) from None
    unused = tuple(sorted(name for name in texts if not _is_read(name, values)))
    config = BrokerConfig(values, frozenset(texts) & BY_NAME.keys(), unused, of_listeners)
    config.old_tls_versions = old_versions(texts)
    return config


def _check_together(values: dict[str, Any]) -> None:
    zookeeper_tls(values)
    if values["zookeeper_set_acl"] and not values["zookeeper_digest_file"]:
        raise ConfigError("zookeeper.set.acl=true needs zookeeper.digest.file: the user that owns the znodes.")
    if values["max_connections_per_ip"] == 0 and not values["max_connections_per_ip_overrides"]:
        raise ConfigError(
            "max.connections.per.ip=0 refuses every connection: raise it, or name exceptions in "
            "max.connections.per.ip.overrides"
        )
    delay_ms, idle_ms = values["connection_failed_authentication_delay_ms"], values["connections_max_idle_ms"]
    if delay_ms >= idle_ms:
        raise ConfigError(
            f"connection.failed.authentication.delay.ms={delay_ms} must be less than connections.max.idle.ms={idle_ms}"
        )


def _is_read(name: str, values: dict[str, Any]) -> bool:
    if parsed := prefixed(name):
        return parsed.has_effect and parsed.listener in {listener.listener.lower() for listener in values["listeners"]}
    return name in BY_NAME and BY_NAME[name].has_effect and name not in OF_MECHANISM_ONLY
