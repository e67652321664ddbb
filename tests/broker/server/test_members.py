"""What only members of the cluster may ask, who is one, and what everybody else hears."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import PARTITIONS_PER_FETCH, REFUSED_REQUEST_BYTES_MAX
from broker.common.security_limits import SASL_TOKEN_BYTES_MAX
from broker.common.types import TopicPartition
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.headers import RequestHeader, encode_request_header
from broker.protocol.messages.controlled_shutdown import ControlledShutdownRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.preview_retention import PreviewRetentionRequest, PreviewRetentionTopic
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from broker.security.membership import ClusterMembership
from broker.security.scram import MECHANISM, AuthenticationError
from tests.broker.server.conftest import INTRODUCTION, TOPIC_ID, frame
from tests.broker.server.test_bad_input import batch_of, produce
from tests.members import MEMBERSHIP, new_nonce

FOR_MEMBERS = {
    ApiKey.LEADER_AND_ISR: 7,
    ApiKey.STOP_REPLICA: 4,
    ApiKey.UPDATE_METADATA: 8,
    ApiKey.CONTROLLED_SHUTDOWN: 3,
    ApiKey.ADD_PARTITIONS_TO_TXN: 4,
    ApiKey.WRITE_TXN_MARKERS: 0,
    ApiKey.PREVIEW_RETENTION: 0,
    ApiKey.DESCRIBE_REQUESTS: 0,
    ApiKey.DESCRIBE_CLIENT_TRAFFIC: 0,
}
#: Whose answers have a place for an error at their top.
REFUSED_UNREAD = [
    pytest.param(handler.api, version, id=f"{handler.api.name} {version}")
    for handler in HANDLERS
    for version in range(handler.served[0], handler.served[1] + 1)
    if handler.is_for_members(version) and handler.refuse is None
]
MARKERS = WriteTxnMarkersRequest(
    markers=[
        WritableTxnMarker(
            producer_id=7, producer_epoch=0, topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0, 1])]
        )
    ]
)


def test_it_is_declared_which_apis_are_for_members():
    """Whoever adds an API decides that; what is served and not advertised is for members, but for the login itself."""
    assert {item.api: item.members_from for item in HANDLERS if item.members_from is not None} == FOR_MEMBERS
    unadvertised = {item.api for item in HANDLERS if item.advertised is None}
    assert unadvertised - FOR_MEMBERS.keys() == {ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}


@pytest.mark.parametrize(("api", "version"), REFUSED_UNREAD)
async def test_what_only_members_may_ask_is_refused_before_it_is_read(served, api, version):
    client = await served.client()
    header = encode_request_header(RequestHeader(api, version, 1, "tester"))
    await client.send(frame(header, b"\xff no body of any request \xff" * 1000))
    assert (await client.answer(api, version)).error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert (await client.ask(MetadataRequest(topics=[]), 9)).cluster_id == "cluster"


async def test_who_is_refused_and_what_is_logged_once_in_a_while(served, capsys):
    client = await served.client()
    for _ in range(20):
        await client.ask(ControlledShutdownRequest(broker_id=1, broker_epoch=1), 3)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "requests refused" in line]
    assert "CONTROLLED_SHUTDOWN" in line
    assert "127.0.0.1" in line


@pytest.mark.parametrize("version", [0, 1])
async def test_markers_of_a_stranger_are_refused_partition_by_partition(served, version):
    served.lead("t", 2)
    response = await (await served.client()).ask(MARKERS, version)
    (marker,) = response.markers
    codes = [partition.error_code for topic in marker.topics for partition in topic.partitions]
    assert codes == [ErrorCode.CLUSTER_AUTHORIZATION_FAILED] * 2
    assert served.replicas.get("t", 0).log.log_end_offset == 0


async def test_a_preview_is_refused_topic_by_topic(served):
    served.lead("t")
    request = PreviewRetentionRequest(topics=[PreviewRetentionTopic(name="t", partitions=None)])
    (topic,) = (await (await served.client()).ask(request, 0)).topics
    assert (topic.name, topic.error_code) == ("t", ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


async def test_a_large_request_is_not_read_to_refuse_its_parts(served):
    client = await served.client()
    header = encode_request_header(RequestHeader(ApiKey.WRITE_TXN_MARKERS, 1, 1, "tester"))
    await client.send(frame(header, bytes(REFUSED_REQUEST_BYTES_MAX)))
    assert await client.is_closed()


@pytest.mark.parametrize("version", [4, 11, 12, 13, 15, 17])
async def test_a_strangers_word_that_it_holds_records_commits_none(served, version):
    """CVE-2018-1288."""
    served.lead_with_follower("t", 2)
    served.tell_of("t")
    client = await served.client()
    await client.ask(produce(batch_of(b"x")), 9)
    request = FetchRequest(
        replica_id=2 if version < 15 else -1,
        replica_state=ReplicaState(replica_id=2) if version >= 15 else ReplicaState(),
        topics=[FetchTopic(topic="t", topic_id=TOPIC_ID, partitions=[FetchPartition(partition=0, fetch_offset=1)])],
    )
    (topic,) = (await client.ask(request, version)).responses
    (partition,) = topic.partitions
    assert partition.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert not partition.records
    assert served.replicas.get("t", 0).partition.high_watermark == 0


@pytest.mark.parametrize("version", [4, 12, 17])
@pytest.mark.parametrize("who", ["client", "member"])
async def test_who_follows_very_much_at_once_is_not_answered(served, version, who):
    """Found by the fuzzer: to answer each of 20,000 partitions took a tenth of a second, in everybody's way."""
    client = await getattr(served, who)()
    partitions = [FetchPartition(partition=number) for number in range(4 * PARTITIONS_PER_FETCH)]
    request = FetchRequest(
        replica_id=2 if version < 15 else -1,
        replica_state=ReplicaState(replica_id=2) if version >= 15 else ReplicaState(),
        topics=[FetchTopic(topic="t", topic_id=TOPIC_ID, partitions=partitions)],
    )
    await client.send_request(request, version)
    assert await client.is_closed()


async def test_a_member_is_served_on_the_connection_it_logged_in_on_and_on_no_other(served):
    member, stranger = await served.member(), await served.client()
    request = ControlledShutdownRequest(broker_id=2, broker_epoch=7)
    assert (await member.ask(request, 3)).error_code == ErrorCode.NONE
    assert (await stranger.ask(request, 3)).error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


async def test_clients_are_not_told_of_the_login(served):
    versions = {key.api_key for key in (await (await served.client()).ask(INTRODUCTION, 3)).api_keys}
    assert not versions & {ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE, ApiKey.LEADER_AND_ISR}
    assert ApiKey.METADATA in versions


async def test_who_has_another_secret_is_refused_and_the_connection_closed(served):
    client = await served.client()
    other = ClusterMembership(bytes(32), new_nonce)
    with pytest.raises(AuthenticationError, match="another secret"):
        await client.log_in(other.dial("127.0.0.1", served.listener.port))
    # It goes on all the same, with keys of its own.
    await client.ask(SaslAuthenticateRequest(auth_bytes=b"c=biws,r=1,p=AAAA"), 2)
    assert await client.is_closed()


@pytest.mark.parametrize(
    ("token", "words"),
    [
        (b"n,,n=__cluster,r=abc", "meant another broker"),
        (b"n,,n=__cluster,r=abc,address=127.0.0.1:1", "meant another broker"),
        (b"\0nobody\0password", "not a message of SCRAM"),
        (b"n" * (SASL_TOKEN_BYTES_MAX + 1), "a token of"),
        (b"", "not a message of SCRAM"),
    ],
)
async def test_a_login_that_fails_is_answered_and_the_connection_closed(served, capsys, token, words):
    client = await served.client()
    assert (await client.ask(SaslHandshakeRequest(mechanism=MECHANISM), 1)).error_code == ErrorCode.NONE
    answer = await client.ask(SaslAuthenticateRequest(auth_bytes=token), 2)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert not answer.auth_bytes
    assert await client.is_closed()
    assert words in capsys.readouterr().out


async def test_a_login_that_was_overheard_cannot_be_said_again(served):
    messages = []
    listening = await served.client()
    ask = listening.ask

    async def overhear(request, version):
        messages.append((request, version))
        return await ask(request, version)

    listening.ask = overhear
    await listening.log_in(MEMBERSHIP.dial("127.0.0.1", served.listener.port))
    client = await served.client()
    answers = [await client.ask(*item) for item in messages]
    assert [answer.error_code for answer in answers] == [ErrorCode.NONE] * 2 + [ErrorCode.SASL_AUTHENTICATION_FAILED]
    assert await client.is_closed()


async def test_another_mechanism_is_refused_with_what_is_offered(served):
    client = await served.client()
    answer = await client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert (answer.error_code, answer.mechanisms) == (ErrorCode.UNSUPPORTED_SASL_MECHANISM, [MECHANISM])
    assert await client.is_closed()


async def test_another_user_is_answered_as_if_there_were_more_than_one(served):
    client = await served.client()
    await client.ask(SaslHandshakeRequest(mechanism=MECHANISM), 1)
    answer = await client.ask(SaslAuthenticateRequest(auth_bytes=b"n,,n=admin,r=abc"), 2)
    assert (answer.error_code, bytes(answer.auth_bytes[:5])) == (ErrorCode.NONE, b"r=abc")


async def test_a_token_out_of_turn_is_refused(served):
    client = await served.client()
    for _ in range(2):
        answer = await client.ask(SaslAuthenticateRequest(auth_bytes=b"n,,n=__cluster,r=abc"), 2)
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert answer.error_message == "SaslAuthenticate request received after successful authentication"


async def test_a_member_logs_in_once_and_is_served_on(served):
    client = await served.member()
    assert (await client.ask(SaslHandshakeRequest(mechanism=MECHANISM), 1)).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert (await client.ask(MetadataRequest(topics=[]), 9)).cluster_id == "cluster"


async def test_a_login_within_a_login_ends_both(served):
    client = await served.client()
    await client.ask(SaslHandshakeRequest(mechanism=MECHANISM), 1)
    answer = await client.ask(SaslHandshakeRequest(mechanism=MECHANISM), 1)
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert await client.is_closed()


async def test_who_has_begun_a_login_is_nobody_yet(served):
    client = await served.client()
    await client.ask(SaslHandshakeRequest(mechanism=MECHANISM), 1)
    first = MEMBERSHIP.dial("127.0.0.1", served.listener.port).first()
    await client.ask(SaslAuthenticateRequest(auth_bytes=first), 2)
    answer = await client.ask(ControlledShutdownRequest(broker_id=2, broker_epoch=7), 3)
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert await client.is_closed()
    assert TopicPartition("t", 0) not in served.replicas.high_watermarks()
