"""A blocking connection: versions are agreed on, and whatever the peer does, it ends with one sentence in time."""

import contextlib
import socket
import threading
from contextlib import contextmanager

import pytest

from broker.client.cluster import ClusterConnections
from broker.client.connection import RESPONSE_BYTES_MAX, BrokerConnection
from broker.client.errors import ApiNotServed, BrokerUnreachable, UnreadableAnswer
from broker.common.errors import ErrorCode, ProtocolError
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import decode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from broker.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from broker.protocol.messages.offset_commit import OffsetCommitRequest
from broker.protocol.messages.preview_retention import PreviewRetentionRequest
from broker.protocol.messages.produce import ProduceRequest
from tests.response_headers import encode_response_header


class Peer:
    """A broker of a few lines: serves one connection on a thread, answering what `script` says frame by frame."""

    def __init__(self, *script):
        self._script = script
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.received = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        connected, _ = self._listening.accept()
        with connected, connected.makefile("rb") as stream:
            for answer in self._script:
                size = stream.read(4)
                if len(size) < 4:
                    return
                frame = stream.read(int.from_bytes(size))
                header, at = decode_request_header(frame)
                request = decode(MESSAGES[header.api_key].request, frame[at:], header.api_version)
                self.received.append((header.api_version, request))
                connected.sendall(answer(header))
            with contextlib.suppress(ConnectionResetError):  # what the client had not read when it closed
                stream.read(1)

    def close(self):
        self._listening.close()
        self._thread.join(20)
        assert not self._thread.is_alive()


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


def answering(message):
    def answer(header):
        head = encode_response_header(header.api_key, header.api_version, header.correlation_id)
        return framed(head + encode(message, header.api_version))

    return answer


def garbled(header):
    return framed(encode_response_header(header.api_key, header.api_version, header.correlation_id) + b"\x7f" * 9)


def serving(**versions: tuple[int, int]):
    keys = [
        ApiVersion(api_key=ApiKey[name], min_version=first, max_version=last)
        for name, (first, last) in versions.items()
    ]
    return answering(ApiVersionsResponse(api_keys=keys))


@contextmanager
def connected(*script, timeout_s=20.0):
    peer = Peer(*script)
    try:
        with BrokerConnection("127.0.0.1", peer.port, timeout_s=timeout_s) as connection:
            yield connection, peer
    finally:
        peer.close()


def test_the_highest_version_both_know_is_spoken():
    cluster = answering(DescribeClusterResponse(cluster_id="c"))
    for theirs, spoken in (((0, 0), 0), ((0, 1), 1), ((0, 9), 2)):
        with connected(serving(DESCRIBE_CLUSTER=theirs), cluster) as (connection, peer):
            assert connection.ask(DescribeClusterRequest()).cluster_id == "c"
            assert [version for version, _ in peer.received] == [0, spoken]


@pytest.mark.parametrize(("request_class", "spoken"), [(ProduceRequest, 12), (OffsetCommitRequest, 9)])
def test_a_request_that_names_its_topics_keeps_to_versions_that_do(request_class, spoken):
    request = request_class()
    response = MESSAGES[request.api].response()
    with connected(serving(**{ApiKey(request.api).name: (3, 20)}), answering(response)) as (connection, peer):
        connection.ask(request)
        assert [version for version, _ in peer.received] == [0, spoken]


def test_a_broker_without_the_api_is_told_from_one_that_is_away():
    with (
        connected(serving(DESCRIBE_CLUSTER=(0, 1))) as (connection, _),
        pytest.raises(ApiNotServed, match="PREVIEW_RETENTION; is it a Barnabas broker"),
    ):
        connection.ask(PreviewRetentionRequest())


def test_a_version_nobody_here_knows_is_refused():
    with (
        connected(serving(PREVIEW_RETENTION=(5, 6))) as (connection, _),
        pytest.raises(ApiNotServed, match="versions 5 to 6"),
    ):
        connection.ask(PreviewRetentionRequest())


def test_nobody_listening_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(BrokerUnreachable, match=f"cannot connect to 127.0.0.1:{port}"):
        BrokerConnection("127.0.0.1", port)


def test_a_silent_peer_is_left_at_the_deadline():
    with (
        connected(serving(DESCRIBE_CLUSTER=(0, 1)), lambda header: b"") as (connection, _),
        pytest.raises(BrokerUnreachable, match="DESCRIBE_CLUSTER: timed out"),
    ):
        connection.ask(DescribeClusterRequest(), timeout_s=0.05)


def test_a_peer_that_is_no_broker_is_recognised():
    def http(header):
        return b"HTTP/1.1 400 Bad Request\r\n\r\n"

    with pytest.raises(ProtocolError, match="is it a Kafka broker"), connected(http):
        pass


@pytest.mark.parametrize("size", [-1, RESPONSE_BYTES_MAX + 1])
def test_an_answer_of_an_impossible_size_is_not_waited_for(size):
    def announce(header):
        return size.to_bytes(4, signed=True)

    with (
        connected(serving(DESCRIBE_CLUSTER=(0, 1)), announce) as (connection, _),
        pytest.raises(ProtocolError, match=f"an answer of {size} bytes"),
    ):
        connection.ask(DescribeClusterRequest())


def test_an_answer_that_breaks_the_protocol_is_told_with_who_said_it_to_what():
    with (
        connected(serving(DESCRIBE_CLUSTER=(0, 1)), garbled) as (connection, peer),
        pytest.raises(ProtocolError, match=f"what 127.0.0.1:{peer.port} answers to DESCRIBE_CLUSTER cannot be read: "),
    ):
        connection.ask(DescribeClusterRequest())


def test_a_cluster_of_garbled_answers_is_not_one_that_is_away():
    peer = Peer(serving(DESCRIBE_CLUSTER=(0, 1)), garbled)
    message = "cannot connect to .*; what .* answers to .* cannot be read"
    servers = [("127.0.0.1", 1), ("127.0.0.1", peer.port)]
    with ClusterConnections(servers) as cluster, pytest.raises(UnreadableAnswer, match=message):
        cluster.ask_any(DescribeClusterRequest())
    peer.close()


def test_an_answer_to_another_request_is_not_taken():
    def other(header):
        return answering(DescribeClusterResponse())(header._replace(correlation_id=77))

    with (
        connected(serving(DESCRIBE_CLUSTER=(0, 1)), other) as (connection, _),
        pytest.raises(ProtocolError, match="answers request 77"),
    ):
        connection.ask(DescribeClusterRequest())


def test_a_connection_that_breaks_in_an_answer_says_so():
    def half(header):
        return answering(DescribeClusterResponse(cluster_id="c"))(header)[:9]

    peer = Peer(serving(DESCRIBE_CLUSTER=(0, 1)), half)
    with BrokerConnection("127.0.0.1", peer.port) as connection:
        threading.Timer(0.05, lambda: connection._socket.shutdown(socket.SHUT_RD)).start()
        with pytest.raises(BrokerUnreachable, match="the connection was closed"):
            connection.ask(DescribeClusterRequest())
    peer.close()


def test_after_an_error_the_connection_is_not_used_again():
    with connected(serving(DESCRIBE_CLUSTER=(0, 1)), lambda header: b"") as (connection, _):
        for _ in range(2):
            with pytest.raises(BrokerUnreachable):
                connection.ask(DescribeClusterRequest(), timeout_s=0.05)


class RecordingMeter(list):
    """A Meter that keeps what it is told."""

    def turn(self, address, timeout_s):
        self.append(("turn", address, timeout_s > 0))
        return contextlib.nullcontext()

    def answered(self, address, api, sent, received, seconds, *, is_error):
        self.append((api.name, sent > 0, received > 0, seconds >= 0, is_error))

    def failed(self, address, api):
        self.append((api.name, "failed"))


def test_a_meter_is_told_of_every_request_and_of_those_that_fail():
    meter = RecordingMeter()
    refused = answering(DescribeClusterResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    peer = Peer(serving(DESCRIBE_CLUSTER=(0, 1)), answering(DescribeClusterResponse(cluster_id="c")), refused)
    try:
        with BrokerConnection("127.0.0.1", peer.port, timeout_s=1.0, meter=meter) as connection:
            connection.ask(DescribeClusterRequest())
            connection.ask(DescribeClusterRequest())
            with pytest.raises(BrokerUnreachable):
                connection.ask(DescribeClusterRequest())
    finally:
        peer.close()
    turn = ("turn", f"127.0.0.1:{peer.port}", True)
    well, badly = (("DESCRIBE_CLUSTER", True, True, True, is_error) for is_error in (False, True))
    versions = ("API_VERSIONS", True, True, True, False)
    assert meter == [versions, turn, well, turn, badly, turn, ("DESCRIBE_CLUSTER", "failed")]
