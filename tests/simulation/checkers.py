"""What must hold when a run is over and everything is whole again. They look at the history, at the replicas' files and
at ZooKeeper, never at what the brokers believe about themselves.
"""

from collections import Counter

from broker.common.types import TopicPartition
from broker.records.record import Record
from tests.simulation.history import History

Values = dict[int, str]


def check_acknowledged(history: History, readable: dict[TopicPartition, Values]) -> None:
    """Each record acknowledged with acks=all is where its producer was told, and nowhere else."""
    places = {where: _places(values) for where, values in readable.items()}
    for entry in history.of("acknowledged"):
        where = entry.facts["partition"]
        if where not in readable or entry.facts["acks"] != -1:
            continue
        for index, value in enumerate(entry.facts["values"]):
            offset = entry.facts["offset"] + index
            if readable[where].get(offset) != value:
                history.violate(
                    f"{value} was acknowledged at offset {offset} of {where}, where there is "
                    f"{readable[where].get(offset)} now; it is at {places[where].get(value, 'no offset at all')}"
                )


def _places(values: Values) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for offset, value in values.items():
        places.setdefault(value, []).append(offset)
    return places


def check_exactly_once(history: History, readable: dict[TopicPartition, Values]) -> None:
    """What an idempotent producer sent is there once at most, and in the order it was sent in."""
    for where, values in readable.items():
        for value, count in Counter(values.values()).items():
            if count > 1:
                history.violate(f"{value} is {count} times in {where}")
        last: dict[str, int] = {}
        for offset in sorted(values):
            producer, number = values[offset].partition("/")[0], int(values[offset].rpartition("/")[2])
            if number < last.get(producer, -1):
                history.violate(f"{values[offset]} stands in {where} behind number {last[producer]} of its producer")
            last[producer] = number


def check_only_what_was_sent(history: History, readable: dict[TopicPartition, Values]) -> None:
    sent = {value for entry in history.of("sends") for value in entry.facts["values"]}
    for where, values in readable.items():
        for offset, value in values.items():
            if value not in sent:
                history.violate(f"offset {offset} of {where} holds {value}, which nobody sent")


def check_copies(history: History, committed: dict[TopicPartition, list[Record]]) -> None:
    """A copier's output is its input up to where its group has committed, each record once. A copy's key names it."""
    sources = Counter(record.key.decode() for records in committed.values() for record in records if record.key)
    for entry in history.of("has copied"):
        source, end = entry.facts["source"], entry.facts["up_to"]
        for offset in range(end):
            count = sources.pop(f"{source}@{offset}", 0)
            if count != 1:
                history.violate(f"offset {offset} of {source} was copied {count} times, the group has committed {end}")
        for name in [each for each in sources if each.startswith(f"{source}@")]:
            history.violate(f"{name} was copied, but the group has committed {end} only")


def check_replicas_agree(history: History, partition: TopicPartition, logs: dict[str, bytes]) -> None:
    """`logs`: the bytes of each replica below the high watermark."""
    if not logs:
        history.violate(f"{partition}: no replica is there")
        return
    first, *others = logs.items()
    for name, data in others:
        if data != first[1]:
            at = next((i for i, (a, b) in enumerate(zip(data, first[1], strict=False)) if a != b), "the end")
            sizes = f"{first[0]} ({len(first[1])} bytes) and {name} ({len(data)} bytes)"
            history.violate(f"{partition}: the logs of {sizes} part at {at}")
