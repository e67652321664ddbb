"""What a file may say, and which line is named where it cannot be meant."""

import pytest

from console.automation.declared.declaration import OBJECTS_MAX, DeclarationError
from console.automation.declared.parsing import FILES_MAX, parse
from console.kit.gateway.acls.interface import AclRule
from console.kit.gateway.quotas.interface import QuotaEntity

WHOLE = """\
scope:
  topics: shop.*
  groups: [shop-*, tills-*]
topics:
  shop.orders:
    partitions: 6
    replication_factor: 3
    settings:
      retention.ms: 7 d
      cleanup.policy: [compact, delete]
      segment.bytes: default
  shop.old:
    absent: true
acls:
  - principal: User:shop
    allow: [Read, describe_configs]
    topic: shop.
    prefixed: true
  - principal: User:shop
    deny: ClusterAction
    cluster: true
    host: 10.0.0.1
quotas:
  - user: shop
    client_id: null
    producer_byte_rate: 1 MB
    request_percentage: null
groups:
  shop-billing:
    starts:
      shop.orders: earliest
connectors:
  shop-in:
    config:
      connector.class: FileStreamSource
      tasks.max: 1
"""


def problems(*texts: str) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        parse([(f"f{number}.yaml", text) for number, text in enumerate(texts)])
    return [str(problem) for problem in caught.value.problems]


def test_everything_there_is():
    result = parse([("shop.yaml", WHOLE)])
    orders, old = result.topics
    assert (orders.partitions, orders.replication_factor) == (6, 3)
    assert orders.settings == {
        "retention.ms": "604800000",
        "cleanup.policy": "compact,delete",
        "segment.bytes": None,
    }
    assert (str(orders.place), old.is_absent) == ("shop.yaml, line 5", True)
    assert result.acls[0].rules == (
        AclRule("TOPIC", "shop.", "PREFIXED", "User:shop", "ALLOW", "READ"),
        AclRule("TOPIC", "shop.", "PREFIXED", "User:shop", "ALLOW", "DESCRIBE_CONFIGS"),
    )
    assert result.acls[1].rules[0].host == "10.0.0.1"
    (quota,) = result.quotas
    assert quota.entity == QuotaEntity(user="shop", client_id="<default>")
    assert quota.values == {"producer_byte_rate": 1_000_000.0, "request_percentage": None}
    assert result.groups[0].starts == {"shop.orders": "earliest"}
    assert result.connectors[0].config == {"connector.class": "FileStreamSource", "tasks.max": "1"}
    assert (result.within("topics", "shop.x"), result.within("topics", "tills.x")) == (True, False)
    assert result.within("groups", "tills-1")


def test_several_files_are_one_declaration():
    result = parse([("a", "topics: {a: {partitions: 1}}"), ("b", "topics: {b: }\n---\ntopics: {c: }")])
    assert [topic.name for topic in result.topics] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("topic: {}", "line 1: A declaration has no 'topic'; it has scope, topics"),
        ("topics:\n  a:\n    partition: 3", "line 3: The topic a has no 'partition'; it has partitions"),
        ("topics:\n  a: {partitions: many}", "line 2: partitions has to be a whole number from 1"),
        ("topics:\n  a: {partitions: 0}", "line 2: partitions has to be a whole number from 1"),
        ("topics:\n  a: {partitions: 1e3}", "line 2: partitions has to be"),
        ("topics:\n  a: {partitions: ١}", "line 2: partitions has to be"),
        ("topics:\n  a/b: {}", "line 2: 'a/b' cannot be the name of a topic"),
        ("topics:\n  ..: {}", "line 2: '..' cannot be the name"),
        (f"topics:\n  {'x' * 250}: {{}}", "cannot be the name of a topic: at most 249"),
        ("topics: [a]", "line 1: topics has to be a table"),
        ("topics:\n  a: {absent: later, partitions: 3}", "line 2: The topic a is to be absent, so it has no"),
        ("groups:\n  a: {absent: later}", "line 2: absent has to be true or false"),
        ("topics:\n  a: {absent: maybe}", "line 2: absent has to be true or false"),
        ("topics:\n  a:\n    absent: true\n    partitions: 3", "line 4: The topic a is to be absent, so it has no"),
        ("topics:\n  a:\n    settings: {x: {y: z}}", "line 3: x has to have one value"),
        ("acls: {a: b}", "line 1: acls has to be a list"),
        ("acls:\n  - principal: User:a\n    allow: Read", "line 2: An access rule says what it is about once"),
        ("acls:\n  - {principal: User:a, topic: x}", "line 2: An access rule says what it does once"),
        ("acls:\n  - {topic: x, allow: Read}", "line 2: An access rule needs a principal"),
        ("acls:\n  - {principal: alice, topic: x, allow: Read}", "A principal is a type and a name"),
        ("acls:\n  - principal: User:a\n    topic: x\n    allow: Fly", "line 4: 'Fly' cannot be done with a topic"),
        ("quotas:\n  - {producer_byte_rate: 1}", "line 2: A quota is for a user"),
        ("quotas:\n  - {user: a, ip: 10.0.0.1}", "line 2: A quota is for a user"),
        ("quotas:\n  - user: a\n    connection_creation_rate: 1", "line 3: Such a quota has no connection"),
        ("quotas:\n  - user: a\n    producer_byte_rate: much", "line 3: producer_byte_rate: This is no amount"),
        ("groups:\n  g: {starts: {t: yesterday}}", "line 2: A group starts at earliest or latest"),
        ("connectors:\n  c: {config: {tasks.max: 1}}", "line 2: The connector c needs a config"),
        ("connectors:\n  c:\n    config: {name: d, connector.class: X}", "line 3: The connector is called c above"),
        ("scope: {topics: '*'}", "line 1: The scope '*' is everything there is"),
        ("scope: {topics: '*?.*'}", "line 1: The scope '*?.*' is everything there is"),
        ("scope: {topics: a*b*c*d*}", "line 1: A scope has at most"),
        ("scope: {topic: a*}", "line 1: scope has no 'topic'"),
        ("scope: {topics: a.*}\ntopics: {b: }", "line 2: b is beyond the scope of these files, topics: a.*"),
        ("scope: {principals: 'User:a*'}\nacls: [{principal: 'User:b', topic: x, allow: Read}]", "User:b is beyond"),
        ("- a", "line 1: A declaration has to be a table"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, says):
    assert any(says in problem for problem in problems(text)), problems(text)


def test_all_that_is_wrong_is_said_at_once():
    assert len(problems("topics:\n  a: {partitions: x}\n  b: {partitions: y}", "groups: [")) == 3


def test_what_is_declared_twice_names_both_places():
    assert problems("topics:\n  a: {}", "topics:\n\n  a: {}") == [
        "f1.yaml, line 3: The topic is declared a second time; the first is in f0.yaml, line 2."
    ]
    rule = "- {principal: 'User:a', topic: x, allow: [Read, Write]}"
    assert "The rule is declared a second time" in problems(f"acls:\n  {rule}\n  {rule}")[0]
    assert "The quota is declared a second time" in problems("quotas: [{user: a}, {user: a}]")[0]


def test_there_is_an_end_to_it():
    assert "apply at most" in problems("topics:\n" + "".join(f"  t{n}:\n" for n in range(OBJECTS_MAX + 1)))[0]
    assert "more than 50 files" in problems(*[""] * (FILES_MAX + 1))[0]
    assert "characters together" in problems(*["x" * 1024 * 512] * 3)[0]
