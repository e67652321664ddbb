"""Keys of Kafka 3.8 to 4.4 that this broker has no use for: files and tools set them, so they are accepted and told of.

Most count threads, buffers or windows of a machine that is built otherwise. What would promise something that is not
there (security, quotas, tiered storage) does not belong here.
"""

from broker.common.java.numbers import parse_double
from broker.config.definition import Key, parse_boolean, parse_int, parse_int32, parse_list, without_effect

BROKER_KEYS: tuple[Key, ...] = (
    without_effect("alter.log.dirs.replication.quota.window.num", parse_int32, 11, 1),
    without_effect("alter.log.dirs.replication.quota.window.size.seconds", parse_int32, 1, 1),
    without_effect("auto.include.jmx.reporter", parse_boolean, True),
    without_effect("background.threads", parse_int32, 10, 1),
    without_effect("broker.id.generation.enable", parse_boolean, True),
    without_effect("controller.socket.timeout.ms", parse_int32, 30_000),
    without_effect("delete.records.purgatory.purge.interval.requests", parse_int32, 1),
    without_effect("fetch.purgatory.purge.interval.requests", parse_int32, 1_000),
    without_effect("inter.broker.protocol.version", str, "3.8-IV0"),
    without_effect("log.cleaner.io.buffer.load.factor", parse_double, 0.9),
    without_effect("log.cleaner.io.buffer.size", parse_int32, 524_288, 0),
    without_effect("log.cleaner.threads", parse_int32, 1, 0),
    without_effect("log.flush.start.offset.checkpoint.interval.ms", parse_int32, 60_000, 0),
    without_effect("log.local.retention.bytes", parse_int, -2, -2),
    without_effect("log.local.retention.ms", parse_int, -2, -2),
    without_effect("log.message.downconversion.enable", parse_boolean, True),
    without_effect("log.message.format.version", str, "3.0-IV1"),
    without_effect("log.preallocate", parse_boolean, False),
    without_effect("log.remote.copy.lag.bytes", parse_int, -1, -1),
    without_effect("log.remote.copy.lag.ms", parse_int, 0, -1),
    without_effect("log.roll.jitter.hours", parse_int32, 0, 0),
    without_effect("log.roll.jitter.ms", parse_int, None),
    without_effect("max.incremental.fetch.session.cache.slots", parse_int32, 1_000, 0),
    without_effect("metric.reporters", parse_list, ()),
    without_effect("metrics.num.samples", parse_int32, 2, 1),
    without_effect("metrics.recording.level", str, "INFO"),
    without_effect("metrics.sample.window.ms", parse_int, 30_000, 1),
    without_effect("num.io.threads", parse_int32, 8, 1),
    without_effect("num.network.threads", parse_int32, 3, 1),
    without_effect("num.recovery.threads.per.data.dir", parse_int32, 2, 1),
    without_effect("num.replica.alter.log.dirs.threads", parse_int32, None),
    without_effect("num.replica.fetchers", parse_int32, 1),
    without_effect("offsets.commit.required.acks", parse_int32, -1),
    without_effect("offsets.load.buffer.size", parse_int32, 5_242_880, 1),
    without_effect("offsets.topic.compression.codec", parse_int32, 0),
    without_effect("producer.purgatory.purge.interval.requests", parse_int32, 1_000),
    without_effect("queued.max.requests", parse_int32, 500, 1),
    without_effect("replica.fetch.min.bytes", parse_int32, 1),
    without_effect("replica.socket.receive.buffer.bytes", parse_int32, 65_536),
    without_effect("replication.quota.window.num", parse_int32, 11, 1),
    without_effect("replication.quota.window.size.seconds", parse_int32, 1, 1),
    without_effect("reserved.broker.max.id", parse_int32, 1_000, 0),
    Key(
        "sasl.mechanism.inter.broker.protocol",
        str,
        "GSSAPI",
        "Accepted as Kafka does, without effect here: brokers know each other by the cluster's secret.",
        has_effect=False,
    ),
    without_effect("socket.listen.backlog.size", parse_int32, 50, 1),
    without_effect("transaction.abort.timed.out.transaction.cleanup.interval.ms", parse_int32, 10_000, 1),
    without_effect("transaction.remove.expired.transaction.cleanup.interval.ms", parse_int32, 3_600_000, 1),
    without_effect("transaction.state.log.load.buffer.size", parse_int32, 5_242_880, 1),
    without_effect("zookeeper.max.in.flight.requests", parse_int32, 10, 1),
)

#: Those Kafka changes while it runs.
DYNAMIC = frozenset(
    {
        "background.threads",
        "log.cleaner.io.buffer.load.factor",
        "log.cleaner.io.buffer.size",
        "log.cleaner.threads",
        "log.local.retention.bytes",
        "log.local.retention.ms",
        "log.message.downconversion.enable",
        "log.preallocate",
        "log.remote.copy.lag.bytes",
        "log.remote.copy.lag.ms",
        "log.roll.jitter.ms",
        "metric.reporters",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
    }
)

TOPIC_KEYS: tuple[Key, ...] = (
    without_effect("local.retention.bytes", parse_int, -2, -2),
    without_effect("local.retention.ms", parse_int, -2, -2),
    without_effect("message.downconversion.enable", parse_boolean, True),
    without_effect("message.format.version", str, "3.0-IV1"),
    without_effect("preallocate", parse_boolean, False),
    without_effect("remote.copy.lag.bytes", parse_int, -1, -1),
    without_effect("remote.copy.lag.ms", parse_int, 0, -1),
    without_effect("remote.log.copy.disable", parse_boolean, False),
    without_effect("remote.log.delete.on.disable", parse_boolean, False),
    without_effect("segment.jitter.ms", parse_int, 0, 0),
)
