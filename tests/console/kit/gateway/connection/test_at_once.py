"""Brokers are asked at one time: each answers for itself, over a connection that is used again while all is well."""

import contextlib
import socket
import threading

import pytest

from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import decode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from broker.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from console.kit.gateway.connection.at_once import ask_at_once
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.own_requests import own_requests
from tests.response_headers import encode_response_header
from tests.zookeeper_server import free_ports


class Broker:
    """Answers ApiVersions, and DescribeCluster with a number that grows; after `answers` of them it says no more."""

    def __init__(self, answers: int = 1_000):
        self._left, self.met = answers, 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = self._listening.getsockname()
        self._connected: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connected, _ = self._listening.accept()
                self.met += 1
                self._connected.append(connected)
                threading.Thread(target=self._talk, args=(connected,), daemon=True).start()

    def _talk(self, connected: socket.socket) -> None:
        stream = connected.makefile("rb")
        with contextlib.suppress(OSError):
            while len(size := stream.read(4)) == 4:
                frame = stream.read(int.from_bytes(size))
                header, at = decode_request_header(frame)
                request = decode(MESSAGES[header.api_key].request, frame[at:], header.api_version)
                answer = self._answer(request)
                if answer is not None:
                    head = encode_response_header(header.api_key, header.api_version, header.correlation_id)
                    body = head + encode(answer, header.api_version)
                    connected.sendall(len(body).to_bytes(4) + body)

    def _answer(self, request):
        if isinstance(request, ApiVersionsRequest):
            keys = (ApiKey.API_VERSIONS, ApiKey.DESCRIBE_CLUSTER)
            return ApiVersionsResponse(api_keys=[ApiVersion(api_key=key, min_version=0, max_version=0) for key in keys])
        self._left -= 1
        return None if self._left < 0 else DescribeClusterResponse(cluster_id=str(self._left))

    def close(self) -> None:
        for item in (self._listening, *self._connected):
            with contextlib.suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)
            item.close()


class TakesNothingBeforeItsAnswerIsGone(Broker):
    """As every broker: what it does not read stays with who asks."""

    def _answer(self, request):
        if isinstance(request, ApiVersionsRequest):
            served = [(ApiKey.API_VERSIONS, 0), (ApiKey.LIST_GROUPS, 4)]
            versions = [ApiVersion(api_key=key, min_version=0, max_version=newest) for key, newest in served]
            return ApiVersionsResponse(api_keys=versions)
        return ListGroupsResponse(groups=[ListedGroup(group_id=LONG_NAME)] * 4)


@pytest.fixture
def brokers():
    """`brokers(answers)`: one more."""
    made: list[Broker] = []

    def make(answers: int = 1_000, kind: type[Broker] = Broker) -> Broker:
        made.append(kind(answers))
        return made[-1]

    yield make
    for item in made:
        item.close()


@pytest.fixture
def client():
    return ClusterClient("127.0.0.1:1")


QUESTION = DescribeClusterRequest()
LONG_NAME = "x" * 32_000


def _ids_of(heard) -> list[str]:
    assert heard.error is None
    return [answer.cluster_id for answer in heard.answers]


def test_each_answers_in_the_order_of_its_questions_and_stays_connected(brokers, client):
    one, other = brokers(10), brokers(5)
    questions = {one.address: [QUESTION] * 3, other.address: [QUESTION]}
    answers = ask_at_once(client, questions, 10.0)
    assert {address: _ids_of(heard) for address, heard in answers.items()} == {
        one.address: ["9", "8", "7"],
        other.address: ["4"],
    }
    assert list(answers) == [one.address, other.address]
    assert answers[one.address].served.keys() == {ApiKey.API_VERSIONS, ApiKey.DESCRIBE_CLUSTER}
    assert _ids_of(ask_at_once(client, {one.address: [QUESTION]}, 10.0)[one.address]) == ["6"]
    assert (one.met, other.met) == (1, 1)
    assert not own_requests()._under_way


def test_one_that_is_silent_and_one_that_is_gone_cost_nobody_else_his_answer(brokers, client):
    silent, well, gone = brokers(1), brokers(), ("127.0.0.1", free_ports(1)[0])
    questions = {silent.address: [QUESTION, QUESTION], gone: [QUESTION], well.address: [QUESTION]}
    answers = ask_at_once(client, questions, 0.5)
    assert isinstance(answers[silent.address].error, BrokerUnreachable)
    assert isinstance(answers[gone].error, BrokerUnreachable)
    assert (answers[silent.address].answers, answers[gone].answers) == ([], [])
    assert _ids_of(answers[well.address]) == ["999"]
    assert not own_requests()._under_way


def test_a_connection_on_which_an_answer_is_missing_is_not_used_again(brokers, client):
    broker = brokers(1)
    assert ask_at_once(client, {broker.address: [QUESTION, QUESTION]}, 0.2)[broker.address].error
    broker._left = 1
    assert _ids_of(ask_at_once(client, {broker.address: [QUESTION]}, 10.0)[broker.address]) == ["0"]
    assert broker.met == 2


def test_who_does_not_know_the_question_says_what_he_does_and_is_asked_again(brokers, client):
    broker = brokers()
    heard = ask_at_once(client, {broker.address: [ListGroupsRequest()]}, 10.0)[broker.address]
    assert isinstance(heard.error, ApiNotServed)
    assert ApiKey.DESCRIBE_CLUSTER in heard.served
    assert _ids_of(ask_at_once(client, {broker.address: [QUESTION]}, 10.0)[broker.address]) == ["999"]
    assert broker.met == 1


def test_nobody_waits_for_who_is_asked_nothing(brokers, client):
    assert ask_at_once(client, {}, 10.0) == {}


def test_more_questions_and_answers_than_lie_on_the_way_are_no_deadlock(brokers, client):
    """As of a hundred thousand partitions of one leader."""
    broker = brokers(kind=TakesNothingBeforeItsAnswerIsGone)
    questions = [ListGroupsRequest(states_filter=[LONG_NAME] * 4)] * 200
    heard = ask_at_once(client, {broker.address: questions}, 20.0)[broker.address]
    assert (heard.error, len(heard.answers)) == (None, 200)
