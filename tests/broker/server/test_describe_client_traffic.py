"""DescribeClientTraffic over a socket: which client wrote and read what, by which library, and who is told of it."""

from broker.common.errors import ErrorCode
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.describe_client_traffic import DescribeClientTrafficRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.traffic_sweep import TrafficSweep
from broker.security.client_traffic import SAMPLED, Direction

PRODUCE, FETCH = Direction.PRODUCE, Direction.FETCH


def batch_of(records: int) -> bytes:
    return bytes(build_batch([Record(number, 1, None, b"x") for number in range(records)]))


def produce(topic: str, batch: bytes, acks: int = 1) -> ProduceRequest:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    return ProduceRequest(acks=acks, timeout_ms=1_000, topic_data=[data])


def fetch(topic: str, offset: int = 0, max_bytes: int = 100_000) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    return FetchRequest(
        max_wait_ms=100, min_bytes=1, max_bytes=max_bytes, topics=[FetchTopic(topic=topic, partitions=[partition])]
    )


async def described(served) -> dict[str, dict[tuple[str, Direction], tuple[int, int]]]:
    """By client id: what was counted for topic and direction, in records and bytes."""
    response = await (await served.member()).ask(DescribeClientTrafficRequest(), 0)
    return {
        client.client_id: {
            (topic.name, Direction(topic.direction)): (topic.records, topic.bytes_count) for topic in client.topics
        }
        for client in response.clients
    }


async def test_records_and_bytes_are_counted_by_client_topic_and_direction(served):
    for topic in ("orders", "invoices"):
        served.lead(topic)
    client, batch = await served.client(), batch_of(40)
    for _ in range(2):
        await client.ask(produce("orders", batch), 9)
    await client.ask(produce("invoices", batch), 9)
    await client.ask(fetch("orders", offset=1), 11)
    assert await described(served) == {
        "tester": {
            ("orders", PRODUCE): (80, 2 * len(batch)),
            ("invoices", PRODUCE): (40, len(batch)),
            ("orders", FETCH): (79, 2 * len(batch)),
        }
    }


async def test_the_first_request_in_a_window_is_counted_as_it_is_in_every_partition(served):
    """None of its offsets is sampled; other partitions than the first were not counted at all."""
    served.lead("orders", partitions=3)
    client, batch = await served.client(), batch_of(1)
    data = [PartitionProduceData(index=index, records=batch) for index in range(3)]
    written = ProduceRequest(
        acks=1, timeout_ms=1_000, topic_data=[TopicProduceData(name="orders", partition_data=data)]
    )
    await client.ask(written, 9)
    assert await described(served) == {"tester": {("orders", PRODUCE): (3, 3 * len(batch))}}
    served.client_traffic.sweep(served.client_traffic.clients()[0], 10**9)
    parts = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=100_000) for index in range(3)]
    read = FetchRequest(
        max_wait_ms=100, min_bytes=1, max_bytes=10**6, topics=[FetchTopic(topic="orders", partitions=parts)]
    )
    await client.ask(read, 11)
    assert (await described(served))["tester"]["orders", FETCH] == (3, 3 * len(batch))


async def test_who_it_is_and_by_which_library_and_how_fast(served):
    served.lead("orders")
    client = await served.client()
    await client.ask(ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.16.0"), 3)
    await client.ask(produce("orders", batch_of(40)), 9)
    (traffic,) = (await (await served.member()).ask(DescribeClientTrafficRequest(), 0)).clients
    assert (traffic.principal, traffic.host) == ("User:ANONYMOUS", "127.0.0.1")
    assert (traffic.software_name, traffic.software_version) == ("librdkafka", "2.16.0")
    (orders,) = traffic.topics
    assert (orders.records_per_second, orders.bytes_per_second > 0, orders.idle_ms) == (40, True, 0)


async def test_what_is_refused_is_not_counted(served):
    served.lead("orders")
    client = await served.client()
    await client.ask(produce("missing", batch_of(1)), 9)
    await client.ask(produce("orders", b"garbage" * 20), 9)
    await client.ask(fetch("missing"), 11)
    assert await described(served) == {}


async def test_a_producer_that_wants_no_answer_is_counted_too(served):
    served.lead("orders")
    client, batch = await served.client(), batch_of(40)
    await client.send_request(produce("orders", batch, acks=0), 9)
    await client.ask(produce("orders", batch), 9)
    assert await described(served) == {"tester": {("orders", PRODUCE): (80, 2 * len(batch))}}


async def test_a_fetch_that_waited_is_counted_once(served):
    served.lead("orders")
    consumer, producer, batch = await served.client(), await served.client(), batch_of(40)
    await consumer.send_request(fetch("orders"), 11)
    await producer.ask(produce("orders", batch), 9)
    await consumer.answer(fetch("orders").api, 11)
    assert (await described(served))["tester"]["orders", FETCH] == (40, len(batch))


async def test_small_requests_are_sampled_and_all_of_a_partition_add_up(served):
    served.lead("orders")
    first, second, batch = await served.client(), await served.client(), batch_of(1)
    await first.ask(produce("orders", batch), 9)
    for number in range(319):
        await (first, second)[number % 2].ask(produce("orders", batch), 9)
    records, size = (await described(served))["tester"]["orders", PRODUCE]
    assert (records, size) == (2 + 10 * SAMPLED, (2 + 10 * SAMPLED) * len(batch))


async def test_a_client_that_writes_a_record_in_a_while_is_counted_exactly(served):
    served.lead("orders")
    client, sweep = await served.client(), TrafficSweep(served.client_traffic, served.services.turns)
    for _ in range(40):
        await client.ask(produce("orders", batch_of(1)), 9)
        await sweep.sweep()
    assert (await described(served))["tester"]["orders", PRODUCE][0] == 40


async def test_what_is_left_for_want_of_room_is_not_counted(served):
    served.lead("orders")
    client, batch = await served.client(), batch_of(40)
    for _ in range(3):
        await client.ask(produce("orders", batch), 9)
    await client.ask(fetch("orders", max_bytes=2 * len(batch)), 11)
    assert (await described(served))["tester"]["orders", FETCH] == (80, 2 * len(batch))


async def test_a_broker_that_follows_is_no_client(served):
    served.lead_with_follower("orders", follower=2)
    await (await served.client()).ask(produce("orders", batch_of(1)), 9)
    follower = await served.member()
    request = fetch("orders")
    request.replica_id = 2
    await follower.ask(request, 11)
    assert set((await described(served))["tester"]) == {("orders", PRODUCE)}


async def test_only_members_and_administrators_are_told_because_addresses_are_named(served):
    served.lead("orders")
    client = await served.client()
    await client.ask(produce("orders", batch_of(1)), 9)
    refused = await client.ask(DescribeClientTrafficRequest(), 0)
    assert refused.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert refused.clients == []


async def test_the_sweep_ends_the_windows_of_clients_and_of_the_others(served):
    served.lead("orders")
    await (await served.client()).ask(produce("orders", batch_of(1)), 9)
    traffic = served.client_traffic
    traffic.others.produced["orders"].records += 1
    counters = [client.produced["orders"] for client in (*traffic.clients(), traffic.others)]
    before = [counter._newer for counter in counters]
    await TrafficSweep(traffic, served.services.turns).sweep()
    assert len(counters) == 2
    assert all(counter._newer[1] == 1 and counter._newer != was for counter, was in zip(counters, before, strict=True))


async def test_a_sweep_that_is_stopped_is_over(served):
    sweep = TrafficSweep(served.client_traffic, served.services.turns)
    sweep.start()
    await sweep.stop()
    assert sweep._task.done()
