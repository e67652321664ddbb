"""What headers of batches in a fetched piece of log say, whole or cut."""

from broker.protocol.messages.fetch import PartitionData
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record
from console.kit.gateway.records.batches import batches_in
from console.kit.gateway.records.interface import BatchView


def batch(first: int, count: int, **more) -> bytes:
    return bytes(build_batch([Record(first + n, 1, None, b"v" * 100) for n in range(count)], base_offset=first, **more))


def fetched(data: bytes, error_code: int = 0) -> PartitionData:
    return PartitionData(partition_index=3, error_code=error_code, high_watermark=99, records=data)


def test_each_batch_has_its_codec_records_and_size_and_markers_are_none():
    plain, packed = batch(10, 2), batch(12, 5, compression=Compression.GZIP)
    marker = bytes(build_marker(EndMarker(MarkerType.COMMIT, 0), 7, 0, 1_000))
    assert batches_in(fetched(plain + packed + marker), 10) == [
        BatchView(3, 10, 2, len(plain), "none"),
        BatchView(3, 12, 5, len(packed), "gzip"),
    ]


def test_what_ends_before_the_place_or_is_cut_off_is_left_out():
    data = batch(10, 2) + batch(12, 5) + batch(17, 1)[:-1]
    assert [item.base_offset for item in batches_in(fetched(data), 12)] == [12]
    assert batches_in(fetched(b""), 0) == batches_in(fetched(data, error_code=6), 0) == []
