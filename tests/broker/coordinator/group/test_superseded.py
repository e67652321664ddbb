"""What OffsetFetch tells while newer offsets are in the log and could still be lost."""

from hypothesis import given
from hypothesis.strategies import integers, lists, none, tuples

from broker.common.types import TopicPartition
from broker.coordinator.group.records import CommittedOffset, OffsetKey
from broker.coordinator.group.superseded import Superseded


def nested(offsets: dict[int, int]) -> dict[str, dict[int, CommittedOffset]]:
    """All of one topic, which is missing when there are none."""
    return {"t": {index: CommittedOffset(offset) for index, offset in offsets.items()}} if offsets else {}


@given(lists(tuples(integers(0, 2), none() | integers(0, 9))), integers(0, 20), integers(0, 20))
def test_it_is_what_the_committed_records_say(records, first, more):
    """Partition and offset of each record, None for a tombstone; the high watermark comes twice."""
    newest: dict[int, int] = {}
    superseded, states = Superseded(), [{}]
    for end_offset, (index, offset) in enumerate(records, 1):
        before = CommittedOffset(newest[index]) if index in newest else None
        superseded.add(OffsetKey("g", TopicPartition("t", index)), before, end_offset)
        if offset is None:
            newest.pop(index, None)
        else:
            newest[index] = offset
        states.append(dict(newest))
    for high_watermark in (min(first, len(records)), min(first + more, len(records))):
        superseded.committed(high_watermark)
        assert superseded.instead_of(nested(newest), "g") == nested(states[high_watermark])
    superseded.committed(len(records))
    assert not superseded.has_group("g")
