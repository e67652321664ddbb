"""Quotas as clients meet them: asked for, set, and felt, on a broker whose clock stands still."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry

from broker.common.errors import ApiError, ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, EntryData, OpData
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.describe_requests import DescribeRequestsRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.server.security_metrics import QuotaMetrics
from tests.broker.server.conftest import request_frame
from tests.eventually import eventually


def op(key, value=None):
    return OpData(key=key, value=value or 0.0, remove=value is None)


def entry(entity, *ops):
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    return EntryData(entity=parts, ops=list(ops))


async def alter(served, entity, *ops, validate_only=False):
    """The error of the one entry."""
    request = AlterClientQuotasRequest(entries=[entry(entity, *ops)], validate_only=validate_only)
    (result,) = (await (await served.member()).ask(request, 1)).entries
    return ErrorCode(result.error_code)


async def describe(served, *components, strict=False):
    datas = [ComponentData(entity_type=kind, match_type=how, match=name) for kind, how, name in components]
    return await (await served.client()).ask(DescribeClientQuotasRequest(components=datas, strict=strict), 1)


def entries_of(response):
    return [
        (
            {data.entity_type: data.entity_name for data in item.entity},
            {value.key: value.value for value in item.values},
        )
        for item in response.entries
    ]


def produce(size=1_000, acks=1):
    batch = build_batch([Record(0, 1, None, b"x" * size)])
    partition = PartitionProduceData(index=0, records=batch)
    topic = TopicProduceData(name="t", partition_data=[partition])
    return ProduceRequest(acks=acks, timeout_ms=1_000, topic_data=[topic])


def fetch(offset=0, session_id=0, session_epoch=-1, max_bytes=10**6):
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=10**6)
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=max_bytes,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic="t", partitions=[partition])],
    )


@pytest.fixture
async def leading(served):
    served.lead("t")
    served.tell_of("t")
    return served


async def test_a_key_that_stands_twice_changes_nothing(served):
    twice = [OpData(key="request_percentage", value=float(value), remove=False) for value in (10, 20)]
    assert await alter(served, {"user": "alice"}, *twice) == ErrorCode.INVALID_REQUEST
    assert entries_of(await describe(served)) == []


class TestApis:
    async def test_what_is_set_is_described_and_stands_where_kafka_has_it(self, served):
        user = {"user": "Ä b"}
        assert await alter(served, user, op("producer_byte_rate", 1024.0), op("request_percentage", 12.5)) == 0
        assert await alter(served, {**user, "client-id": "c"}, op("consumer_byte_rate", 5.0)) == 0
        assert await alter(served, {"client-id": None}, op("controller_mutation_rate", 0.5)) == 0
        assert await alter(served, {"ip": "::1"}, op("connection_creation_rate", 3.0)) == 0
        assert served.entity_configs.configs == {
            "users/%C3%84%20b": {"producer_byte_rate": "1024", "request_percentage": "12.5"},
            "users/%C3%84%20b/clients/c": {"consumer_byte_rate": "5"},
            "clients/<default>": {"controller_mutation_rate": "0.5"},
            "ips/%3A%3A1": {"connection_creation_rate": "3"},
        }
        assert entries_of(await describe(served)) == [
            ({"client-id": None}, {"controller_mutation_rate": 0.5}),
            ({"ip": "::1"}, {"connection_creation_rate": 3.0}),
            (user, {"producer_byte_rate": 1024.0, "request_percentage": 12.5}),
            ({**user, "client-id": "c"}, {"consumer_byte_rate": 5.0}),
        ]

    async def test_a_removed_quota_leaves_the_others_and_what_else_is_there(self, served):
        served.entity_configs.configs["users/u"] = {"SCRAM-SHA-256": "secret", "consumer_byte_rate": "9"}
        assert await alter(served, {"user": "u"}, op("producer_byte_rate", 1.0), op("consumer_byte_rate")) == 0
        assert served.entity_configs.configs["users/u"] == {"SCRAM-SHA-256": "secret", "producer_byte_rate": "1"}
        assert entries_of(await describe(served)) == [({"user": "u"}, {"producer_byte_rate": 1.0})]

    async def test_each_entry_is_answered_for_itself_and_nothing_is_written_where_it_is_wrong(self, served):
        request = AlterClientQuotasRequest(
            entries=[
                entry({"user": "u"}, op("producer_byte_rate", 1.0), op("nonsense", 1.0)),
                entry({"user": "v"}, op("producer_byte_rate", 2.0)),
            ]
        )
        results = (await (await served.client()).ask(request, 0)).entries
        assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST, 0]
        assert [result.entity[0].entity_name for result in results] == ["u", "v"]
        assert list(served.entity_configs.configs) == ["users/v"]

    async def test_a_trial_changes_nothing(self, served):
        assert await alter(served, {"user": "u"}, op("producer_byte_rate", 1.0), validate_only=True) == 0
        assert await alter(served, {"user": "u"}, op("producer_byte_rate", 1.5), validate_only=True) == 42
        assert served.entity_configs.configs == {}
        assert not served.quotas.clients.is_on

    async def test_an_address_that_cannot_be_is_refused(self, served):
        assert await alter(served, {"ip": "no host . at all"}, op("connection_creation_rate", 1.0)) == 42

    async def test_a_filter_that_contradicts_itself_is_refused_without_entries(self, served):
        response = await describe(served, ("user", 2, None), ("user", 2, None))
        assert (response.error_code, response.entries) == (ErrorCode.INVALID_REQUEST, None)
        assert (await describe(served, ("group", 2, None))).error_code == ErrorCode.UNSUPPORTED_VERSION


class TestProduce:
    async def test_who_exceeds_the_rate_is_answered_at_once_and_told_to_wait(self, leading):
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 10.0))
        client = await leading.client()
        answer = await client.ask(produce(), 9)
        assert answer.responses[0].partition_responses[0].error_code == 0
        size = len(request_frame(produce(), 9)) - 4
        # size bytes in 10 s, 10 a second allowed: ten times the excess over it by the second.
        assert answer.throttle_time_ms == round((size / 10 - 10) / 10 * 10_000)

    @pytest.mark.parametrize("version", [3, 5, 8, 9, 11])
    async def test_the_wait_stands_in_every_version_of_the_answer(self, leading, version):
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 10.0))
        assert (await (await leading.client()).ask(produce(), version)).throttle_time_ms > 60_000

    async def test_what_a_muted_client_sends_is_not_handled_before_its_time(self, leading):
        """However much it ignores what it was told."""
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 10.0))
        client = await leading.client()
        for number in range(50):
            await client.send_request(produce(), 9, number)
        await client.answer(ApiKey.PRODUCE, 9, 0)
        bystander = await leading.member()
        for _ in range(10):
            await bystander.ask(produce(), 9)
        # 1 of who is muted, 10 of a member, which is never limited.
        assert leading.replicas.get("t", 0).log.log_end_offset == 11

    async def test_acks_0_are_limited_too(self, leading):
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 10.0))
        client = await leading.client()
        for number in range(5):
            await client.send_request(produce(acks=0), 9, number)
        await eventually(lambda: leading.replicas.get("t", 0).log.log_end_offset, "the first one is appended")
        await (await leading.member()).ask(MetadataRequest(topics=[]), 9)
        assert leading.replicas.get("t", 0).log.log_end_offset == 1

    async def test_a_raised_quota_counts_for_what_was_sent_before(self, leading):
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 10.0))
        assert (await (await leading.client()).ask(produce(), 9)).throttle_time_ms > 0
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 150.0))
        client = await leading.client()
        assert (await client.ask(produce(size=100), 9)).throttle_time_ms == 0
        assert (await client.ask(produce(size=1_000), 9)).throttle_time_ms > 0
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate"))
        assert (await (await leading.client()).ask(produce(size=10_000), 9)).throttle_time_ms == 0
        assert not leading.quotas.clients.is_on

    async def test_who_waits_and_goes_frees_everything(self, leading, monkeypatch):
        monkeypatch.setattr("broker.net.throttle_mute.MUTED_LOOK_S", 0.05)
        await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 10.0))
        before = leading.listener.connection_count
        client = await leading.client()
        for number in range(20):
            await client.send_request(produce(), 9, number)
        await client.answer(ApiKey.PRODUCE, 9, 0)
        client.writer.close()
        await eventually(lambda: leading.listener.connection_count == before, "the muted connection is gone")


class TestFetch:
    async def test_more_than_the_rate_is_kept_back_and_the_session_goes_on(self, leading):
        producer = await leading.member()
        for _ in range(2):
            await producer.ask(produce(size=600), 9)
        await alter(leading, {"client-id": "tester"}, op("consumer_byte_rate", 100.0))
        client = await leading.client()
        first = await client.ask(fetch(session_epoch=0), 11)
        assert first.session_id
        assert len(first.responses[0].partitions[0].records) < 1_000
        assert first.throttle_time_ms == 0
        second = await client.ask(fetch(1, first.session_id, 1), 11)
        assert second.throttle_time_ms > 0
        assert (second.session_id, second.responses, second.error_code) == (first.session_id, [], 0)
        leading.quota_clock.advance(20_000)
        again = await leading.client()
        third = await again.ask(fetch(1, first.session_id, 2), 11)
        assert third.throttle_time_ms == 0
        assert third.responses[0].partitions[0].records

    async def test_no_more_is_read_than_the_window_can_hold(self, leading):
        producer = await leading.member()
        for _ in range(20):
            await producer.ask(produce(size=100), 9)
        await alter(leading, {"client-id": "tester"}, op("consumer_byte_rate", 50.0))
        answer = await (await leading.client()).ask(fetch(), 11)
        assert answer.throttle_time_ms == 0
        assert 0 < len(answer.responses[0].partitions[0].records) <= 500

    async def test_a_batch_larger_than_the_window_holds_is_given_and_waited_for(self, leading):
        await (await leading.member()).ask(produce(size=5_000), 9)
        await alter(leading, {"client-id": "tester"}, op("consumer_byte_rate", 50.0))
        answer = await (await leading.client()).ask(fetch(), 11)
        assert len(answer.responses[0].partitions[0].records) > 5_000
        assert answer.throttle_time_ms > 90_000


class TestMutations:
    async def test_a_new_client_is_refused_what_comes_after_the_debt_and_an_old_one_waits(self, served):
        served.tell_of("elsewhere")
        await alter(served, {"user": "ANONYMOUS"}, op("controller_mutation_rate", 1.0))
        topics = [CreatableTopic(name=f"n{number}", num_partitions=12, replication_factor=1) for number in range(2)]
        answer = await (await served.client()).ask(CreateTopicsRequest(topics=topics, timeout_ms=5_000), 6)
        assert sorted(topic.error_code for topic in answer.topics) == [0, ErrorCode.THROTTLING_QUOTA_EXCEEDED]
        assert answer.throttle_time_ms == 1_000
        more = CreateTopicsRequest(
            topics=[CreatableTopic(name="o", num_partitions=1, replication_factor=1)], timeout_ms=5_000
        )
        answer = await (await served.client()).ask(more, 5)
        assert (answer.topics[0].error_code, answer.throttle_time_ms) == (0, 2_000)


class TestRequestTime:
    @pytest.mark.parametrize(
        ("request_", "version"),
        [
            (MetadataRequest(topics=[]), 9),
            (FindCoordinatorRequest(key="g"), 3),
            (DescribeGroupsRequest(groups=["g"]), 5),
            (DescribeClientQuotasRequest(), 1),
        ],
    )
    async def test_an_answer_says_how_long_to_wait_and_never_more_than_a_window(self, served, request_, version):
        served.tell_of("t")
        await alter(served, {"user": "ANONYMOUS"}, op("request_percentage", 1e-9))
        assert (await (await served.client()).ask(request_, version)).throttle_time_ms == 1_000

    async def test_producers_without_acks_are_exempt_and_members_are(self, leading):
        await alter(leading, {"user": None}, op("request_percentage", 1e-9))
        assert (await (await leading.member()).ask(MetadataRequest(topics=[]), 9)).throttle_time_ms == 0
        client = await leading.client()
        for number in range(5):
            await client.send_request(produce(acks=0), 9, number)
        await eventually(lambda: leading.replicas.get("t", 0).log.log_end_offset == 5, "all are appended")

    async def test_who_is_refused_waits_too(self, served):
        await alter(served, {"user": None}, op("request_percentage", 1e-9))
        answer = await (await served.client()).ask(DescribeRequestsRequest(), 0)
        assert (answer.error_code, answer.throttle_time_ms) == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, 1_000)

    async def test_the_time_of_what_is_answered_later_is_counted_slice_by_slice(self, served):
        await alter(served, {"user": None}, op("request_percentage", 1e9))
        client = await served.client()
        await client.ask(DescribeClientQuotasRequest(), 1)
        (use,) = served.quotas.uses()
        assert use.rate > 0

    async def test_what_goes_wrong_later_goes_wrong_as_without_a_quota(self, served, monkeypatch):
        async def fail(_entity):
            await asyncio.sleep(0)
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT)

        await alter(served, {"user": None}, op("request_percentage", 1e9))
        monkeypatch.setattr(served.quotas, "described", fail)
        assert (await describe(served)).error_code == ErrorCode.REQUEST_TIMED_OUT


async def test_an_answer_that_waits_for_followers_says_it_too(served):
    served.lead_with_follower("t", 2)
    served.tell_of("t")
    await alter(served, {"client-id": "tester"}, op("producer_byte_rate", 10.0))
    request = produce(acks=-1)
    request.timeout_ms = 1
    answer = await (await served.client()).ask(request, 9)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert answer.throttle_time_ms > 0


async def test_the_use_beside_the_limit_is_told_to_members_and_to_prometheus(leading):
    await alter(leading, {"client-id": "tester"}, op("producer_byte_rate", 1_000.0))
    client = await leading.client()
    await client.ask(produce(), 9)
    (use,) = (await (await leading.member()).ask(DescribeRequestsRequest(), 2)).quota_uses
    assert (use.key, use.user, use.client_id, use.limit) == ("producer_byte_rate", "", "tester", 1_000)
    assert 0 < use.rate < 1_000
    registry = CollectorRegistry()
    registry.register(QuotaMetrics(leading.quotas))
    labels = {"quota": "producer_byte_rate", "user": "", "client_id": "tester"}
    assert registry.get_sample_value("barnabas_broker_quota_limit", labels) == 1_000
    assert registry.get_sample_value("barnabas_broker_quota_throttled_ms_total", labels) == 0


async def test_so_is_that_of_addresses_and_the_connections_they_open(leading):
    await alter(leading, {"ip": "127.0.0.1"}, op("connection_creation_rate", 1_000.0))
    leading.quotas.delay_s("127.0.0.1")
    (use,) = (await (await leading.member()).ask(DescribeRequestsRequest(), 2)).quota_uses
    assert (use.key, use.ip, use.limit) == ("connection_creation_rate", "127.0.0.1", 1_000)
    assert (use.user, use.client_id) == ("", "")
    assert use.rate > 0


async def test_without_a_quota_nothing_is_measured(leading):
    await (await leading.client()).ask(produce(), 9)
    assert leading.dispatcher._metering is None
    assert leading.quotas.uses() == []
