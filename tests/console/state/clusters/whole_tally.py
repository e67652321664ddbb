"""The figures of all topics together, counted from the first to the last: what a tally has to come to as well."""

from collections import Counter

from console.state.clusters.broker_rows import ReplicaCounts


def counted_anew(topics) -> dict[int, ReplicaCounts]:
    partitions = [each for topic in topics for each in topic.partitions]
    led = Counter(each.leader for each in partitions if each.leader is not None)
    held = Counter(broker for each in partitions for broker in each.replicas)
    out_of_sync = Counter(broker for each in partitions for broker in each.out_of_sync)
    copying = Counter(broker for each in partitions for broker in each.copying)
    first = Counter(each.replicas[0] for each in partitions)
    first_led = Counter(each.leader for each in partitions if each.leader == each.replicas[0])
    return {
        broker: ReplicaCounts(
            led[broker],
            held[broker],
            out_of_sync[broker],
            copying[broker],
            first[broker],
            first_led[broker],
            _sum(each.records_per_second for each in partitions if each.leader == broker),
        )
        for broker in led.keys() | held.keys()
    }


def rate_anew(topics) -> float | None:
    return _sum(topic.records_per_second for topic in topics if not topic.is_internal)


def _sum(rates) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return round(sum(known), 1) if known else None
