"""What must hold when a run is over and everything is whole again. They look at the history, at the replicas' files and
at ZooKeeper, never at what the brokers believe about themselves.
"""

from collections import Counter

from broker.common.types import TopicPartition
from broker.records.record import Record
from tests.simulation.committed_reads import committed_records, whole_batches
from tests.simulation.history import History
from tests.simulation.producers import key_of
from tests.simulation.topics import COMPACTED, SHORTENED

Values = dict[int, str]


def check_acknowledged(
    history: History, readable: dict[TopicPartition, Values], begins: dict[TopicPartition, int]
) -> None:
    """Each record acknowledged with acks=all is where its producer was told, and nowhere else, unless retention,
    DeleteRecords or compaction had to remove it. `begins`: where the logs begin.
    """
    places = {where: _places(values) for where, values in readable.items()}
    for entry in history.of("acknowledged"):
        where = entry.facts["partition"]
        if where not in readable or entry.facts["acks"] != -1:
            continue
        for index, value in enumerate(entry.facts["values"]):
            offset = entry.facts["offset"] + index
            if readable[where].get(offset) != value and not _may_be_gone(where, offset, value, readable[where], begins):
                history.violate(
                    f"{value} was acknowledged at offset {offset} of {where}, where there is "
                    f"{readable[where].get(offset)} now; it is at {places[where].get(value, 'no offset at all')}"
                )


def _may_be_gone(
    where: TopicPartition, offset: int, value: str, values: Values, begins: dict[TopicPartition, int]
) -> bool:
    """Its log begins behind it, or there is a later record of its key."""
    if where.topic in SHORTENED:
        return offset < begins[where]
    key = key_of(where.topic, value)
    return key is not None and any(at > offset and key_of(where.topic, later) == key for at, later in values.items())


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
        for name in [item for item in sources if item.startswith(f"{source}@")]:
            history.violate(f"{name} was copied, but the group has committed {end} only")


def check_replicas_agree(history: History, partition: TopicPartition, logs: dict[str, tuple[int, bytes]]) -> None:
    """`logs`: of each replica where its log begins, and its batches from there, below the high watermark."""
    if not logs:
        history.violate(f"{partition}: no replica is there")
        return
    begin = max(begins_at for begins_at, _ in logs.values())
    view = _latest_by_key if partition.topic in COMPACTED else _batches_from
    views = {name: view(data, begin) for name, (_, data) in logs.items()}
    first, *others = views.items()
    for name, entry in others:
        if entry != first[1]:
            differing = sorted(str(item[0]) for item in entry.items() ^ first[1].items())[:3]
            history.violate(f"{partition}: the logs of {first[0]} and {name} differ at {differing}")


def _batches_from(data: bytes, begin: int) -> dict[int, bytes]:
    return {header.base_offset: bytes(batch) for header, batch in whole_batches(data) if header.base_offset >= begin}


def _latest_by_key(data: bytes, _begin: int) -> dict[bytes, tuple[int, bytes]]:
    """What compaction must leave alone: tombstones, and records of aborted transactions, may be there or not."""
    committed, _ = committed_records(whole_batches(data))
    latest = {record.key: (record.offset, record.value) for record in committed}
    return {key: item for key, item in latest.items() if item[1] is not None}
