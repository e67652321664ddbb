"""Topic configuration: Kafka's keys that this broker knows, and the check that CreateTopics makes."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from broker.common.java.numbers import parse_double
from broker.config.definition import ConfigError, Key, accepting, parse_boolean, parse_int, parse_int32, parse_list
from broker.config.without_effect import TOPIC_KEYS as KEYS_WITHOUT_EFFECT

#: What Kafka writes for "no limit" where -1 is not allowed.
UNLIMITED = 2**63 - 1
#: Default of max.decompressed.message.bytes, the length of Java's longest array: it limits nothing.
RECORD_BYTES_UNLIMITED = 2**31 - 9
#: Default of message.timestamp.after.max.ms (KIP-1030): a producer whose clock is an hour wrong hears of it.
AHEAD_MS_MAX = 3_600_000
CLEANUP_POLICIES = ("delete", "compact")
COMPRESSION_TYPES = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")

#: Value of the throttled replicas' keys that means each of them.
ALL_REPLICAS = ("*",)
_THROTTLED = re.compile(r"(?P<partition>\d{1,9}):(?P<broker>\d{1,9})")


class ThrottledReplica(NamedTuple):
    """One entry of a list of throttled replicas."""

    partition: int
    broker_id: int

    def __str__(self) -> str:
        return f"{self.partition}:{self.broker_id}"


@accepting(
    "a list as 0:1,1:1 of partitions and brokers, or * for all",
    is_list=True,
    kafkas_sentence=(
        "{name} must be the literal '*' or a list of replicas in the following format: "
        "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
    ),
)
def parse_throttled_replicas(text: str) -> tuple[ThrottledReplica | str, ...]:
    """Parse `partition:broker,…`, `*` for all replicas of the topic, or nothing for none."""
    parts = parse_list(text)
    if parts == ALL_REPLICAS:
        return parts
    matches = [match for part in parts if (match := _THROTTLED.fullmatch(part))]
    if len(matches) < len(parts):
        raise ValueError(text)
    return tuple(ThrottledReplica(int(one["partition"]), int(one["broker"])) for one in matches)


@accepting("a level from 1 to 9, or -1", kafkas_sentence="Value must be between 1 and 9 or equal to -1")
def parse_gzip_level(text: str) -> int:
    """Parse the level as Java parses an int: 1 to 9, or -1 for the codec's default; 0 would be no compression."""
    level = parse_int32(text)
    if level != -1 and not 1 <= level <= 9:
        raise ValueError(text)
    return level


@accepting("true or false")
def parse_remote_storage(text: str) -> bool:
    """Parse the value; only false is accepted, as in a Kafka without remote.log.storage.system.enable."""
    if parse_boolean(text):
        raise ConfigError("remote.storage.enable=true: there is no tiered storage, all that a topic keeps is local")
    return False


@accepting("true or false")
def parse_dead_letter_queue(text: str) -> bool:
    """Parse the value; only false is accepted: no share group writes to the topic (KIP-1191)."""
    if parse_boolean(text):
        raise ConfigError("errors.deadletterqueue.group.enable=true: there are no share groups, whose records it takes")
    return False


@accepting("2147483647, the size of the largest record")
def parse_decompressed_limit(text: str) -> int:
    """Parse the limit as Java parses an int; only the one that limits nothing is accepted."""
    limit = parse_int32(text)
    if limit < RECORD_BYTES_UNLIMITED:
        raise ConfigError(
            f"max.decompressed.message.bytes={limit}: brokers do not unpack batches to measure their records; "
            "max.message.bytes limits the batch as it is sent"
        )
    return limit


#: Levels of the codecs (KIP-390): what a topic and a broker accept.
COMPRESSION_LEVELS: tuple[Key, ...] = (
    Key("compression.gzip.level", parse_gzip_level, -1, "Level of compression.type gzip."),
    Key("compression.lz4.level", parse_int32, 9, "Level of compression.type lz4.", at_least=1, at_most=17),
    Key("compression.zstd.level", parse_int32, 3, "Level of compression.type zstd.", at_least=-131_072, at_most=22),
)

KEYS: tuple[Key, ...] = (
    Key("barnabas.audit.enable", parse_boolean, False, "Brokers count what they append, for the message audit."),
    Key("cleanup.policy", parse_list, ("delete",), "What happens to old segments.", choices=CLEANUP_POLICIES),
    *COMPRESSION_LEVELS,
    Key(
        "compression.type",
        str,
        "producer",
        "How batches are packed; producer keeps what the client sent.",
        choices=COMPRESSION_TYPES,
    ),
    Key("delete.retention.ms", parse_int, 86_400_000, "How long a tombstone stays after compaction.", at_least=0),
    Key(
        "errors.deadletterqueue.group.enable",
        parse_dead_letter_queue,
        False,
        "Dead-letter queue of share groups, which are not there: only false.",
    ),
    Key("file.delete.delay.ms", parse_int, 60_000, "How long a deleted file stays on disk.", at_least=0),
    Key("flush.messages", parse_int, UNLIMITED, "Records between two fsyncs.", at_least=1),
    Key("flush.ms", parse_int, UNLIMITED, "Milliseconds between two fsyncs.", at_least=0),
    Key("index.interval.bytes", parse_int32, 4096, "Bytes of log between two index entries.", at_least=0),
    Key(
        "follower.replication.throttled.replicas",
        parse_throttled_replicas,
        (),
        "Replicas that copy no faster than follower.replication.throttled.rate: partition:broker,… or * for all.",
    ),
    Key(
        "leader.replication.throttled.replicas",
        parse_throttled_replicas,
        (),
        "Replicas that are copied from no faster than leader.replication.throttled.rate: partition:broker,… or *.",
    ),
    Key("max.compaction.lag.ms", parse_int, UNLIMITED, "A record is compacted at the latest after this.", at_least=1),
    Key(
        "max.decompressed.message.bytes",
        parse_decompressed_limit,
        RECORD_BYTES_UNLIMITED,
        "Largest unpacked record, which is not measured: only 2147483639.",
    ),
    Key("max.message.bytes", parse_int32, 1_048_588, "Largest record batch accepted.", at_least=0),
    Key(
        "message.timestamp.type",
        str,
        "CreateTime",
        "Whose time a record carries.",
        choices=TIMESTAMP_TYPES,
    ),
    Key("message.timestamp.before.max.ms", parse_int, UNLIMITED, "How old a record may be.", at_least=0),
    Key("message.timestamp.after.max.ms", parse_int, AHEAD_MS_MAX, "How far ahead a record may be.", at_least=0),
    Key(
        "message.timestamp.difference.max.ms",
        parse_int,
        UNLIMITED,
        "How old a record may be, or how far ahead, unless message.timestamp.before.max.ms or .after.max.ms says it.",
        at_least=0,
    ),
    Key("min.cleanable.dirty.ratio", parse_double, 0.5, "Dirty share that starts compaction.", at_least=0, at_most=1),
    Key("min.compaction.lag.ms", parse_int, 0, "A record stays uncompacted at least this long.", at_least=0),
    Key("min.insync.replicas", parse_int32, 1, "In-sync replicas that acks=all needs.", at_least=1),
    Key("remote.storage.enable", parse_remote_storage, False, "Tiered storage, which is not there: only false."),
    Key("retention.bytes", parse_int, -1, "Size of a partition at which old segments go; -1 is no limit.", at_least=-1),
    Key("retention.ms", parse_int, 604_800_000, "Age at which old segments go; -1 is no limit.", at_least=-1),
    Key("segment.bytes", parse_int32, 1_073_741_824, "Size at which a new segment starts.", at_least=14),
    Key("segment.index.bytes", parse_int32, 10_485_760, "Size of an index at which a new segment starts.", at_least=4),
    Key("segment.ms", parse_int, 604_800_000, "Age at which a new segment starts.", at_least=1),
    Key("unclean.leader.election.enable", parse_boolean, False, "May a replica outside the ISR lead."),
    *KEYS_WITHOUT_EFFECT,
)
BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}


def check_topic_configs(texts: Mapping[str, str]) -> None:
    """Raise ConfigError for an unknown key or a value that its key does not accept."""
    for name, text in texts.items():
        if name not in BY_NAME:
            raise ConfigError(f"Unknown topic config name: {name}")
        BY_NAME[name].read(text)
