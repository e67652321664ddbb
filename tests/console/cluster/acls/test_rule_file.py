"""Rules as a file: ours and Kafka Security Manager's, in and out, and what is wrong with one."""

import csv
import io
from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import assume, given
from hypothesis import strategies as st

from console.cluster.acls.export import RULE_TITLES, rule_rows
from console.cluster.acls.plan import LOCK_OUT
from console.cluster.acls.rule_file import ROWS_MAX, RuleFileError, rules_in
from console.kit.common.csv_table import csv_chunks
from console.kit.gateway.acls.interface import rule_refusal
from tests.console.cluster.acls.rules import CONSOLE, allow, deny, on_cluster
from tests.console.cluster.acls.test_change import CHANGE, posted

FILE = "/access-lists/+file/"
OURS = "Resource,Name,Pattern,Principal,Permission,Operation,Host\r\n"
MANAGER = """KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host
User:alice,Topic,LITERAL,orders,Read,Allow,*
User:alice,Group,PREFIXED,readers-,Read,Allow,10.0.0.1
User:bob,TransactionalId,LITERAL,orders,Write,Deny,*
User:bob,Cluster,LITERAL,kafka-cluster,DescribeConfigs,Allow,*
"""


def test_the_file_of_kafka_security_manager_is_read():
    assert set(rules_in(MANAGER)) == {
        allow("User:alice", "READ"),
        allow("User:alice", "READ", "readers-", "GROUP", "PREFIXED", "10.0.0.1"),
        deny("User:bob", "WRITE", "orders", "TRANSACTIONAL_ID"),
        on_cluster("User:bob", "DESCRIBE_CONFIGS"),
    }


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n", exclude_categories=("Cs",)), min_size=1)


@given(st.lists(st.builds(lambda name, who: allow(f"User:{who}", "READ", name, "GROUP"), NAMES, NAMES), min_size=1))
def test_what_the_page_of_rules_writes_is_read_as_it_was(rules):
    possible = [rule for rule in rules if not rule_refusal(rule)]
    assume(possible)
    text = "".join(csv_chunks(RULE_TITLES, rule_rows(possible)))
    assert set(rules_in(text)) == {replace(item, host="*") for item in possible}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The first line names the columns; missing: name, operation, permission, principal, resource."),
        ("Resource,Name\nTOPIC,orders\n", "missing: operation, permission, principal."),
        (OURS, "The file has no rule."),
        (OURS + "TOPIC,orders,LITERAL,alice,ALLOW,READ,*\n", "Line 2: A principal is a type and a name"),
        (OURS + "TOPIC,orders,LITERAL,User:a,ALLOW,FLY,*\n", "Line 2: “FLY” is no operation there; it is one of ALL, "),
        (OURS + "PLANET,orders,LITERAL,User:a,ALLOW,READ,*\n", "Line 2: “PLANET” is no resource there"),
        (OURS + "TOPIC,orders,FUZZY,User:a,ALLOW,READ,*\n", "Line 2: “FUZZY” is no pattern there"),
        (OURS + '\nTOPIC,"orders\n', "Line "),
        (OURS + "TOPIC\n", "Line 2: “” is no permission there"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, message):
    with pytest.raises(RuleFileError) as raised:
        rules_in(text)
    assert message in str(raised.value)


def test_a_file_of_any_length_is_bounded():
    lines = (f"TOPIC,t{number},LITERAL,User:a,ALLOW,READ,*" for number in range(ROWS_MAX + 1))
    with pytest.raises(RuleFileError, match="at most 20,000 rules"):
        rules_in(OURS + "\n".join(lines))


def test_a_file_adds_by_a_plan_and_leaves_what_it_has_not(acls, administrator, client_of):
    client = client_of(administrator)
    acls.create([allow("User:carol", "READ")])
    shown = client.post(FILE, {"text": MANAGER})
    assert len(shown.context["plan"].lines) == 4
    client.post(CHANGE, posted(shown))
    assert set(acls.look().rules) == {*rules_in(MANAGER), allow("User:carol", "READ"), on_cluster(CONSOLE, "ALL")}
    assert "the rules are as in the file" in client.post(FILE, {"text": MANAGER}).content.decode()


def test_who_takes_away_the_rest_is_asked_before_the_way_back_is_cut_off(acls, administrator, client_of):
    upload = SimpleUploadedFile("rules.csv", MANAGER.encode())
    shown = client_of(administrator).post(FILE, {"upload": upload, "prune": "on"})
    plan = shown.context["plan"]
    assert plan.typed_name == LOCK_OUT
    assert str(on_cluster(CONSOLE, "ALL")) in {line.name for line in plan.lines if line.new is None}


def test_the_file_of_the_page_taken_back_in_changes_nothing(acls, administrator, client_of):
    client = client_of(administrator)
    acls.create([deny("User:=cmd", "WRITE", "*"), allow("User:@x", "READ", "a,b", "GROUP")])
    text = b"".join(client.get("/access-lists/rules/?format=csv").streaming_content).decode()
    assert "'" not in {row[3][0] for row in csv.reader(io.StringIO(text))}
    assert "the rules are as in the file" in client.post(FILE, {"text": text, "prune": "on"}).content.decode()


def test_an_operator_brings_no_rules(acls, operator, client_of):
    assert client_of(operator).post(FILE, {"text": MANAGER}).status_code == 403


def test_a_host_is_written_as_java_writes_it():
    (rule,) = rules_in(OURS + "TOPIC,orders,LITERAL,User:a,ALLOW,READ,::1\n")
    assert rule.host == "0:0:0:0:0:0:0:1"
