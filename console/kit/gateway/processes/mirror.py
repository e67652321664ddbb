"""What mirrors say of their work, and where what a group has read goes on in the other cluster, in the words of who
writes it.
"""

import time
from collections.abc import Mapping

from broker.common.types import TopicPartition as Partition
from broker.mirror.groups import MovedOffset, move, places_of, ways_back, ways_there
from broker.mirror.mirror_state import MirrorState
from broker.mirror.records import TOPIC
from broker.mirror.status import STATUS_TOPIC, WHOLE_TOPIC, MirrorStatus, understood
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.interface import ClusterGateway

__all__ = [
    "STATUS_TOPIC",
    "WHOLE_TOPIC",
    "MirrorStatus",
    "MovedOffset",
    "go_on",
    "places_of",
    "read_mirror_state",
    "understood",
]

_READ_SECONDS = 10.0
_WAIT_S = 0.3
_AT_ONCE = 2_000


def read_mirror_state(gateway: ClusterGateway) -> MirrorState:
    """Return what mirrors into that cluster have committed by now. Raises GatewayError, also if it takes too long."""
    book = MirrorState()
    try:
        spans = gateway.record_spans(TOPIC, True)
    except RefusedError as error:
        if error.code == "UNKNOWN_TOPIC_OR_PARTITION":
            return book
        raise
    stream = gateway.open_records(TOPIC, {partition: span.first for partition, span in spans.items()}, True)
    try:
        end_s = time.monotonic() + _READ_SECONDS
        while any(stream.positions[partition] < span.next for partition, span in spans.items()):
            if time.monotonic() > end_s:
                raise GatewayError(f"{TOPIC} was not read to its end within {_READ_SECONDS:.0f} s. Try again.")
            for record in stream.read(_WAIT_S, _AT_ONCE):
                book.apply(record.key, record.value)
    finally:
        stream.close()
    return book


def go_on(
    committed: Mapping[TopicPartition, int], flow: str, of_source: MirrorState, of_target: MirrorState
) -> list[MovedOffset]:
    """Return the offsets in the flow's target for a group with these commits in its source."""
    source, _, target = flow.partition("->")
    read = {Partition(*place): offset for place, offset in committed.items()}
    return move(read, ways_there(of_target, flow), ways_back(of_source, f"{target}->{source}"))
