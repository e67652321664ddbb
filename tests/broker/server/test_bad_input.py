"""What a broken or hostile client gets, and that nobody else notices."""

import resource
import struct
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ErrorCode
from broker.common.limits import PRODUCE_ENTRIES_MAX, PRODUCED_DECOMPRESSED_BYTES_MAX, RECORDS_PER_BATCH_MAX
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, encode_request_header
from broker.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.replication.replica_manager import ProduceResult
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.broker.server.conftest import FRAME_BYTES_MAX, frame, request_frame
from tests.eventually import eventually

HEADER = encode_request_header(RequestHeader(ApiKey.METADATA, 9, 1, "x"))

BROKEN = {
    "garbage": b"\x00\x00\x00\x08" + b"\xde\xad\xbe\xef" * 2,
    "http": b"GET / HTTP/1.1\r\n\r\n",
    "tls": bytes.fromhex("16030100c8010000c40303"),
    "a frame longer than the limit": struct.pack(">i", FRAME_BYTES_MAX + 1),
    "a negative length": struct.pack(">i", -1),
    "an empty frame": frame(b""),
    "an unknown api": frame(struct.pack(">hhih", 999, 0, 1, -1)),
    "an api between brokers in a version nobody has": frame(struct.pack(">hhih", ApiKey.LEADER_AND_ISR, 3, 1, -1)),
    "an unknown version": frame(struct.pack(">hhih", ApiKey.METADATA, 99, 1, -1)),
    "a body cut short": frame(HEADER + encode(MetadataRequest(topics=None), 9)[:-1]),
    "an array longer than its frame": frame(HEADER + b"\xff\xff\xff\xff\x07"),
}


def produce(batch: bytes, acks: int = 1, topic: str = "t", index: int = 0) -> ProduceRequest:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=index, records=batch)])
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[data])


def batch_of(*values: bytes) -> bytearray:
    return build_batch([Record(0, 1_700_000_000_000, None, value) for value in values])


async def test_clients_of_before_zstd_do_not_write_it(served):
    """KIP-110: who reads by the same client could not unpack it."""
    served.lead("t")
    client = await served.client()
    sent = build_batch([Record(0, 1_700_000_000_000, None, b"v")], compression=Compression.ZSTD)
    for version, code in ((6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), (7, ErrorCode.NONE)):
        (topic,) = (await client.ask(produce(sent), version)).responses
        assert topic.partition_responses[0].error_code == code


async def test_an_answer_of_the_log_names_its_first_offset(served):
    """By it a producer sees whether what it wrote before was deleted (KIP-360)."""
    served.lead("t")
    client = await served.client()
    sent = build_batch([Record(0, 1_700_000_000_000, None, b"v")], producer_id=7, producer_epoch=0, base_sequence=0)
    await client.ask(produce(sent), 9)
    gap = build_batch([Record(0, 1_700_000_000_000, None, b"v")], producer_id=7, producer_epoch=0, base_sequence=9)
    (topic,) = (await client.ask(produce(gap), 9)).responses
    (refused,) = topic.partition_responses
    assert (refused.error_code, refused.log_start_offset) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
async def test_what_breaks_the_protocol_closes_that_connection_only(served, data):
    bystander = await served.client()
    await bystander.ask(ApiVersionsRequest(), 0)
    client = await served.client()
    await client.send(data)
    assert await client.is_closed()
    assert (await bystander.ask(ApiVersionsRequest(), 0)).error_code == ErrorCode.NONE


@pytest.mark.parametrize("bad", [BROKEN["a negative length"], BROKEN["a body cut short"]], ids=["frame", "body"])
async def test_what_was_asked_before_the_breach_is_answered(served, bad):
    """Also what takes a moment: a fetch that waits, with records that come later."""
    served.lead("t")
    client, producer = await served.client(), await served.client()
    fetch = FetchRequest(
        max_wait_ms=60_000,
        min_bytes=1,
        max_bytes=1000,
        topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition_max_bytes=1000)])],
    )
    await client.send(request_frame(ApiVersionsRequest(), 0) + request_frame(fetch, 12, correlation_id=2) + bad)
    assert (await client.answer(ApiKey.API_VERSIONS, 0)).api_keys
    await producer.ask(produce(batch_of(b"late")), 9)
    answer = await client.answer(ApiKey.FETCH, 12, correlation_id=2)
    assert len(answer.responses[0].partitions[0].records) > 0
    assert await client.is_closed()


async def test_one_log_line_says_who_and_why(served):
    client = await served.client()
    with capture_logs() as lines:
        await client.send(BROKEN["an unknown api"])
        await client.is_closed()
    assert [(line["event"], line["reason"]) for line in lines] == [
        ("connection closed", "api 999 version 0 is not served")
    ]
    assert lines[0]["peer"].startswith("127.0.0.1:")


async def test_an_unknown_apiversions_version_is_answered_in_version_0(served):
    client = await served.client()
    await client.send(frame(struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 5, -1)))
    data = await client.frame()
    response = decode(ApiVersionsResponse, data[4:], 0)
    assert struct.unpack(">i", data[:4]) == (5,)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(key.api_key, key.max_version) for key in response.api_keys] == [(ApiKey.API_VERSIONS, 5)]


async def test_bytes_behind_a_request_are_ignored_as_kafka_does(served):
    client = await served.client()
    await client.send(frame(HEADER + encode(MetadataRequest(topics=None), 9) + b"\x01\x00\x00"))
    assert (await client.answer(ApiKey.METADATA, 9)).topics == []


async def test_a_corrupt_batch_is_refused_and_nothing_is_written(served):
    served.lead("t")
    client = await served.client()
    batch = batch_of(b"hello")
    batch[-1] ^= 1
    answer = (await client.ask(produce(batch), 9)).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.CORRUPT_MESSAGE
    assert answer.base_offset == -1
    assert served.replicas.get("t", 0).log.log_end_offset == 0
    assert served.replicas.get("t", 0).log.size_bytes == 0


async def test_a_corrupt_batch_beside_a_good_one_harms_only_itself(served):
    served.lead("t", partitions=2)
    client = await served.client()
    corrupt = batch_of(b"x")
    corrupt[20] ^= 0xFF
    request = produce(corrupt)
    request.topic_data[0].partition_data.append(PartitionProduceData(index=1, records=batch_of(b"y")))
    first, second = (await client.ask(request, 9)).responses[0].partition_responses
    assert first.error_code == ErrorCode.CORRUPT_MESSAGE
    assert (second.error_code, second.base_offset) == (ErrorCode.NONE, 0)


@pytest.mark.parametrize("version", [3, 9, 11])
@pytest.mark.parametrize("are_topics", [True, False])
async def test_more_partitions_than_a_produce_may_name_close_the_connection(served, version, are_topics):
    """Half a kilobyte each, from six bytes, and a frame has room for 16 million."""
    empty = PartitionProduceData(index=0, records=None)
    request = produce(b"", acks=0)
    if are_topics:
        request.topic_data = [TopicProduceData(name="t", partition_data=[])] * (PRODUCE_ENTRIES_MAX + 1)
    else:
        request.topic_data[0].partition_data = [empty] * PRODUCE_ENTRIES_MAX
    client = await served.client()
    with capture_logs() as lines:
        await client.send_request(request, version)
        assert await client.is_closed()
    (line,) = (line for line in lines if line["event"] == "connection closed")
    assert f"more than {PRODUCE_ENTRIES_MAX} elements" in line["reason"]


async def test_as_many_partitions_as_a_produce_may_name_are_answered(served):
    request = produce(b"")
    empty = PartitionProduceData(index=0, records=None)
    request.topic_data[0].partition_data = [empty] * (PRODUCE_ENTRIES_MAX - 1)
    answer = await (await served.client()).ask(request, 9)
    assert len(answer.responses[0].partition_responses) == PRODUCE_ENTRIES_MAX - 1


@pytest.mark.parametrize("acks", [2, -2])
async def test_acks_that_mean_nothing_are_refused(served, acks):
    served.lead("t")
    client = await served.client()
    answer = (await client.ask(produce(batch_of(b"x"), acks=acks), 9)).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.INVALID_REQUIRED_ACKS


async def test_a_failure_with_acks_0_can_only_close(served):
    client = await served.client()
    await client.send_request(produce(batch_of(b"x"), acks=0, topic="nowhere"), 9)
    assert await client.is_closed()


async def test_acks_0_is_written_and_not_answered(served):
    served.lead("t")
    client = await served.client()
    await client.send_request(produce(batch_of(b"x"), acks=0), 9)
    await client.ask(ApiVersionsRequest(), 0)
    assert served.replicas.get("t", 0).log.log_end_offset == 1


async def test_a_fault_of_ours_closes_the_connection_and_leaves_the_broker_alive(served, monkeypatch):
    monkeypatch.setattr(served.replicas, "append", lambda *_: 1 / 0)
    client = await served.client()
    await client.send_request(produce(batch_of(b"x")), 9)
    assert await client.is_closed()
    assert served.counted("failed_requests") == 1
    assert (await (await served.client()).ask(ApiVersionsRequest(), 0)).error_code == ErrorCode.NONE


async def test_connections_beyond_the_limit_are_closed_at_once(served):
    clients = [await served.client() for _ in range(20)]
    for client in clients:
        await client.ask(ApiVersionsRequest(), 0)
    assert await (await served.client()).is_closed()
    clients[0].writer.close()
    await clients[0].writer.wait_closed()
    await clients[1].ask(ApiVersionsRequest(), 0)
    assert (await (await served.client()).ask(ApiVersionsRequest(), 0)).error_code == ErrorCode.NONE


async def test_memory_stays_flat_under_garbage(served):
    async def round_of_garbage():
        for data in BROKEN.values():
            client = await served.client()
            await client.send(data)
            assert await client.is_closed()
            client.writer.close()

    await round_of_garbage()
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):
        await round_of_garbage()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 4_096
    assert served.listener.connection_count == 0


async def test_an_answer_that_cannot_be_encoded_closes_the_connection(served, monkeypatch):
    monkeypatch.setattr(served.replicas, "append", lambda *_: ProduceResult("no number", 0))
    client = await served.client()
    await client.send_request(produce(batch_of(b"x")), 9)
    assert await client.is_closed()
    assert served.counted("failed_requests") == 1


async def test_a_join_that_was_parked_in_a_connections_last_moment_is_given_up(served):
    served.lead(OFFSETS_TOPIC)
    served.tell_of(OFFSETS_TOPIC)
    cancelled = []
    coordinator = served.groups.shard(0).coordinator
    coordinator.cancel = cancelled.append
    protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
    join = JoinGroupRequest(
        group_id="g", session_timeout_ms=10_000, protocol_type="consumer", protocols=[protocol], member_id=""
    )
    header = encode_request_header(RequestHeader(ApiKey.JOIN_GROUP, 0, 1, "x"))
    await (await served.client()).ask(join, 0)  # for whom the next one has to wait
    client = await served.client()
    await client.send(frame(header, encode(join, 0)) + BROKEN["an unknown api"])
    assert await client.is_closed()
    await eventually(lambda: cancelled, "the parked join is cancelled")
    await eventually(lambda: not served.groups._waiting, "nobody waits for it any more")


def bomb(records: int, value_bytes: int) -> bytearray:
    return build_batch([Record(0, 1_700_000_000_000, b"k", bytes(value_bytes))] * records, compression=Compression.ZSTD)


BOMBS = {
    "more bytes than are unpacked": lambda: bomb(2, PRODUCED_DECOMPRESSED_BYTES_MAX),
    "more records than are looked at": lambda: bomb(RECORDS_PER_BATCH_MAX + 1, 0),
}


@pytest.mark.parametrize("make_bomb", BOMBS.values(), ids=BOMBS.keys())
async def test_a_decompression_bomb_is_refused_where_batches_are_unpacked(served, make_bomb):
    served.lead("t")
    log = served.replicas.get("t", 0).log
    log.config = replace(log.config, cleanup_policy=("compact",))
    client = await served.client()
    packed = make_bomb()
    assert len(packed) < 64 * 1024
    answer = (await client.ask(produce(packed), 9)).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.CORRUPT_MESSAGE
    assert log.log_end_offset == 0
    small = (await client.ask(produce(bomb(2, 1_000)), 9)).responses[0].partition_responses[0]
    assert small.error_code == ErrorCode.NONE


async def test_a_client_that_asks_and_never_reads_does_not_fill_the_memory(served):
    served.lead("t")
    served.memory._answers_max = 1024 * 1024
    client = await served.client()
    for _ in range(4):
        await client.ask(produce(batch_of(*[b"x" * 1_000] * 200)), 9)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=200_000,
        topics=[
            FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=200_000)])
        ],
    )
    deaf = [await served.client() for _ in range(40)]  # the kernel takes what it likes of each answer of 200 kB
    for item in deaf:
        item.writer.write(request_frame(request, 12) * 200)
    await eventually(lambda: served.listener.connection_count < 41, "somebody who does not read is closed")
    assert served.memory.answer_bytes <= 1024 * 1024
    assert (await client.ask(request, 12)).responses[0].partitions[0].error_code == ErrorCode.NONE
    for item in deaf:
        item.writer.transport.abort()
