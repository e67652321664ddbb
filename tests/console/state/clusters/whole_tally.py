"""The figures of all topics together, counted from the first to the last: what a tally has to come to as well."""

from collections import Counter

from console.state.clusters.broker_rows import ReplicaCounts


def counted_anew(topics) -> dict[int, ReplicaCounts]:
    partitions = [partition for topic in topics for partition in topic.partitions]
    led = Counter(partition.leader for partition in partitions if partition.leader is not None)
    held = Counter(broker for partition in partitions for broker in partition.replicas)
    out_of_sync = Counter(broker for partition in partitions for broker in partition.out_of_sync)
    copying = Counter(broker for partition in partitions for broker in partition.copying)
    first = Counter(partition.replicas[0] for partition in partitions)
    first_led = Counter(partition.leader for partition in partitions if partition.leader == partition.replicas[0])
    return {
        broker: ReplicaCounts(
            led[broker],
            held[broker],
            out_of_sync[broker],
            copying[broker],
            first[broker],
            first_led[broker],
            _sum(partition.records_per_second for partition in partitions if partition.leader == broker),
        )
        for broker in led.keys() | held.keys()
    }


def rate_anew(topics) -> float | None:
    return _sum(topic.records_per_second for topic in topics if not topic.is_internal)


def _sum(rates) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return round(sum(known), 1) if known else None
