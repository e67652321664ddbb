"""What is told when no broker tells its groups."""

from itertools import islice

import pytest

from broker.client.errors import BrokerUnreachable
from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsResponse
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from broker.protocol.messages.offset_fetch import OffsetFetchResponse, OffsetFetchResponseGroup
from broker.protocol.messages.share_group_describe import DescribedShareGroup, ShareGroupDescribeResponse
from console.kit.gateway.connection.at_once import BrokerResponses
from console.kit.gateway.errors import ClientRefusedError, ClusterUnreachableError, GatewayError, RefusedError
from console.kit.gateway.groups import wire as group_wire
from console.kit.gateway.groups.kafka import KafkaGroups

READERS = (
    ListGroupsResponse(groups=[ListedGroup(group_id="readers")]),
    DescribeGroupsResponse(groups=[DescribedGroup(group_id="readers", group_state="Empty")]),
    OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="readers")]),
)
MOVED_AWAY = (
    READERS[0],
    DescribeGroupsResponse(groups=[DescribedGroup(group_id="readers", error_code=ErrorCode.NOT_COORDINATOR)]),
    READERS[2],
)
LOADING = (ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),)
AWAY = BrokerUnreachable("connection refused")


@pytest.fixture
def groups(monkeypatch):
    """Of brokers each of which gives these answers in turn, or cannot be reached."""

    def made(*brokers) -> KafkaGroups:
        addresses = [(broker_id, "broker", broker_id) for broker_id in range(len(brokers))]
        left = [broker if isinstance(broker, Exception) else iter(broker) for broker in brokers]

        def ask_at_once(_client, questions, _timeout_seconds):
            return {address: heard(left[address[1]], len(requests)) for address, requests in questions.items()}

        monkeypatch.setattr(group_wire, "ask_at_once", ask_at_once)
        return KafkaGroups(None, lambda: addresses, 1.0)

    return made


def heard(broker, questions: int) -> BrokerResponses:
    return (
        BrokerResponses(error=broker)
        if isinstance(broker, Exception)
        else BrokerResponses(list(islice(broker, questions)))
    )


@pytest.mark.parametrize(
    ("answers", "code"), [(LOADING, "COORDINATOR_LOAD_IN_PROGRESS"), (MOVED_AWAY, "NOT_COORDINATOR")]
)
@pytest.mark.parametrize("other", [[], [AWAY]])
def test_what_a_broker_answered_instead_of_its_groups_is_told(groups, answers, code, other):
    """That nobody answered would send whoever reads it to look at a network that is well."""
    with pytest.raises(RefusedError) as raised:
        groups(*other, answers).describe()
    assert (raised.value.code, str(raised.value)) == (code, ErrorCode[code].meaning)


@pytest.mark.parametrize("brokers", [[], [AWAY], [AWAY, AWAY]])
def test_that_no_broker_answers_is_told_as_such(groups, brokers):
    with pytest.raises(ClusterUnreachableError, match="No broker answered in time"):
        groups(*brokers).describe()


@pytest.mark.parametrize("failure", [AWAY, LOADING, MOVED_AWAY])
def test_groups_of_those_that_tell_them_are_told_whatever_the_others_say(groups, failure):
    view = groups(failure, READERS).describe()
    assert ([group.group_id for group in view.groups], view.answered) == (["readers"], {1})


def test_that_the_console_is_not_let_in_is_told_though_others_answer(groups):
    with pytest.raises(GatewayError, match="not let in"):
        groups(READERS, ClientRefusedError("not let in")).describe()


def test_offsets_of_share_groups_that_do_not_come_cost_no_other_group(monkeypatch):
    served = dict.fromkeys((ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS), (0, 1))
    names = [ListedGroup(group_id="readers"), ListedGroup(group_id="shared", group_type="share")]
    described = ShareGroupDescribeResponse(groups=[DescribedShareGroup(group_id="shared", group_state="Stable")])
    answers = iter([[ListGroupsResponse(groups=names)], [*READERS[1:], described], AWAY])

    def ask_at_once(_client, questions, _timeout_seconds):
        result = next(answers)
        heard = (
            BrokerResponses(error=result) if isinstance(result, Exception) else BrokerResponses(result, served=served)
        )
        return dict.fromkeys(questions, heard)

    monkeypatch.setattr(group_wire, "ask_at_once", ask_at_once)
    view = KafkaGroups(None, lambda: [(1, "broker", 1)], 1.0).describe()
    assert {group.group_id: group.state for group in view.groups} == {"readers": "Empty", "shared": "Unknown"}
