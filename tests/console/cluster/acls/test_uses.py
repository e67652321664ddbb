"""What a kind of client needs, and nothing else: as rules, and on the page as one plan."""

import pytest

from console.cluster.acls.uses import USES, AclClient, names_in
from console.kit.gateway.acls.interface import OPERATIONS, rule_refusal
from tests.console.cluster.acls.rules import allow
from tests.console.cluster.acls.test_change import CHANGE, effects_of, posted

USE = "/access-lists/+use/"
NAMES = {
    "writes": "orders, billing.*",
    "reads": "clicks",
    "groups": "the readers",
    "transactional_ids": "orders-*",
    "application": "counts",
    "keeps": "connect-configs, connect-offsets, connect-status",
}


def rules_of(use: str, **more) -> set:
    return set(USES[use].rules(AclClient("User:alice", NAMES, **more)))


def test_a_producer_writes_to_its_topics_and_no_other():
    billing = allow("User:alice", "WRITE", "billing.", pattern="PREFIXED")
    assert rules_of("producer") == {allow("User:alice", "WRITE"), billing}
    assert allow("User:alice", "CREATE") in rules_of("producer", creates=True)


def test_a_consumer_reads_topics_and_its_group_whose_name_may_have_spaces():
    group = allow("User:alice", "READ", "the readers", "GROUP")
    assert rules_of("consumer") == {allow("User:alice", "READ", "clicks"), group}


def test_who_copies_in_transactions_has_the_rights_of_both():
    transactional = allow("User:alice", "WRITE", "orders-", "TRANSACTIONAL_ID", "PREFIXED")
    assert rules_of("copier") == rules_of("consumer") | rules_of("producer") | {transactional}


@pytest.mark.parametrize("use", USES)
def test_nothing_is_given_on_the_cluster_nor_on_everything(use):
    for rule in rules_of(use, creates=True, host="10.0.0.1"):
        assert rule.resource != "CLUSTER"
        assert rule.name not in ("*", "")
        assert rule.host == "10.0.0.1"
        assert rule.operation in (*OPERATIONS[rule.resource], "ALL")
        assert not rule_refusal(rule)


def test_names_are_separated_by_commas():
    assert names_in(" a,, b c ,*") == ["a", "b c", "*"]
    assert [rule.pattern for rule in AclClient("User:a", {"reads": "*"}).rules("TOPIC", "reads", "READ")] == ["LITERAL"]


def test_a_consumer_is_given_its_rules_by_one_plan_and_one_undo(acls, administrator, client_of):
    client = client_of(administrator)
    assert "Consumer" in client.get(USE).content.decode()
    shown = client.get(f"{USE}?use=consumer&principal=User:bob&reads=orders&groups=readers")
    assert "User:bob gains Read, Describe on Topic orders" in effects_of(shown)
    client.post(CHANGE, posted(shown))
    assert set(acls.look().rules) >= {
        allow("User:bob", "READ"),
        allow("User:bob", "READ", "readers", "GROUP"),
    }
    again = client.get(f"{USE}?use=consumer&principal=User:bob&reads=orders&groups=readers")
    assert "Nothing would change" in again.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "principal=bob&reads=orders&groups=readers",
        "principal=User:bob&reads=,&groups=readers",
        "principal=User:bob&reads=orders&groups=",
    ],
)
def test_what_cannot_be_right_is_said_beside_its_field(acls, administrator, client_of, query):
    shown = client_of(administrator).get(f"{USE}?use=consumer&{query}")
    assert shown.status_code == 422
    assert 'class="wrong" role="alert"' in shown.content.decode()
    assert "plan" not in shown.context


def test_an_unknown_use_is_the_list_of_those_there_are(acls, administrator, client_of):
    page = client_of(administrator).get(f"{USE}?use=<script>").content.decode()
    assert "Kafka Streams application" in page
    assert "<script>" not in page
