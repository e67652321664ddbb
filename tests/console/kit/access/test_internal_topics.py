"""Topics in which Kafka and its services keep what they know: administrators read them, and no person writes them here.

Who writes a Connect worker's configurations has the worker's rights; who writes `_schemas` has every subject.
"""

import json

import pytest
from django.test import Client
from django.utils import timezone

from console.ecosystem.connectors.models import Connector
from console.kit.access.api_tokens import SCOPES, make_token
from console.kit.access.filters import named_in
from console.kit.access.internal_names import CONVENTIONS
from console.kit.access.internal_topics import internal_topics, is_internal
from console.processes.models import ManagedProcess
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in
from tests.examples import some

INTERNAL = (
    *("__consumer_offsets", "_schemas", "_barnabas_audit", "_confluent-ksql-default__command_topic", "barnabas-sinks"),
    *("connect-configs", "connect-offsets", "connect-status", "my_connect_configs", "connect-cluster-status"),
    *("mm2-offsets.west.internal", "west.checkpoints.internal", "barnabas-mirror.internal", "barnabas.probe"),
    *("mm2-offset-syncs-west-internal", "west-checkpoints-internal"),
)
#: Known by the configurations of this cluster's workers, registry and connectors alone.
CONFIGURED = ("wk.cfg", "wk.off", "wk.st", "subjects", "pings", "lines.off")
#: Ways to what is in records, and to figures made of them.
READING = (
    *("+records/?place=oldest", "+records/?format=csv", "+records/?format=jsonl", "+records/?search=inside&format=csv"),
    *(
        "+records/0/0/",
        "+records/0/0/?part=value",
        "+records/histogram/",
        "+records/export/?format=jsonl",
        "+records/export/count/",
        "+contents/",
    ),
    *("+records/compare/?left=0:0&right=0:0",),
)
CHANGING = ("+delete/", "+partitions/", "+set/", "+configure/", "+purge/")


def _service(name: str, kind: str, **properties: str) -> None:
    ManagedProcess.objects.create(name=name, kind=kind, spec={"properties": properties, "directory": "/x"})


@pytest.fixture(autouse=True)
def _topics(cluster, collect):
    storage = ("config", "offset", "status")
    names = dict(zip((f"{item}.storage.topic" for item in storage), CONFIGURED, strict=False))
    _service("worker", "connect", **names)
    _service("registry", "registry", **{"kafkastore.topic": "subjects"})
    _service("probe", "probe", topic="pings")
    Connector.objects.create(name="lines", kind="source", config={"offsets.storage.topic": "lines.off"})
    for name in ("orders", *INTERNAL, *CONFIGURED):
        cluster.create_topic(name, 1, 1, {"cleanup.policy": "compact"} if name == "lines.off" else {})
        cluster.produce_record(name, 0, b"a key inside", b"a value inside", ())
    collect()


def records_of(cluster, name: str) -> int:
    return sum(span.next for span in cluster.record_spans(name, False).values())


@pytest.mark.parametrize("topic", [*some(INTERNAL + CONFIGURED, one_in=4)])
def test_only_administrators_read_them(topic, reader, operator, administrator, client_of):
    for person in (reader, operator):
        answers = {item: client_of(person).get(f"/topics/{topic}/{item}") for item in READING}
        assert {item: answer.status_code for item, answer in answers.items()} == dict.fromkeys(READING, 403)
        assert "only administrators" in answers[READING[0]].content.decode()
        assert client_of(person).get(f"/topics/{topic}/").status_code == 200
    answers = {item: client_of(administrator).get(f"/topics/{topic}/{item}") for item in READING}
    assert {item: answer.status_code for item, answer in answers.items()} == dict.fromkeys(READING, 200)
    for answer in answers.values():
        answer.close()


@pytest.mark.parametrize("topic", [*some(INTERNAL + CONFIGURED, one_in=4)])
def test_no_person_writes_them(topic, operator, administrator, client_of, cluster):
    for person in (operator, administrator):
        client, before = client_of(person), records_of(cluster, topic)
        answers = [client.post(f"/topics/{topic}/+produce/", {"partition": 0, "key": "by-operator", "value": "x"})]
        answers.append(client.get(f"/topics/{topic}/+records/0/0/+tombstone/"))
        where = {"to": topic, "to_partition": "0"}
        answers.append(client.post("/topics/orders/+records/0/0/+copy/", where))
        assert [answer.status_code for answer in answers] == [403, 403, 422]
        assert records_of(cluster, topic) == before
    assert "writes nothing to it" in answers[0].content.decode()


@pytest.mark.parametrize("topic", ["_schemas", "connect-configs", "wk.cfg"])
def test_an_operator_does_not_delete_or_reconfigure_them(topic, operator, administrator, client_of):
    for address, query in ((item, {"setting": "cleanup.policy", "value": "delete"}) for item in CHANGING):
        ask = client_of(operator).post if address in ("+set/", "+configure/") else client_of(operator).get
        assert ask(f"/topics/{topic}/{address}", query).status_code == 403, address
    many = {"topic": [topic, "orders"], "do": "delete"}
    assert client_of(operator).get("/topics/+many/", many).status_code == 403
    assert client_of(administrator).get("/topics/+many/", many).status_code == 200
    assert client_of(administrator).get(f"/topics/{topic}/+delete/").status_code == 200
    assert topic not in {topic.name for topic in client_of(operator).get("/topics/+many/").context["topics"]}


@pytest.mark.parametrize("name", ["_schemas", "their-connect-configs", "mm2-status.east.internal"])
def test_an_operator_does_not_make_one_in_a_services_place(name, operator, administrator, client_of, cluster, collect):
    if name == "_schemas":
        cluster.delete_topic(name)
        collect()
    wanted = {"name": name, "partition_count": 1, "replication_factor": 1}
    assert client_of(operator).post("/topics/+create/", wanted).status_code == 422
    assert client_of(administrator).post("/topics/+create/", wanted).status_code == 200


def test_nor_by_a_declaration(operator, client_of, cluster):
    text = "topics: {connect-configs: {settings: {cleanup.policy: compact}}, _schemas: {absent: true}}"
    client = client_of(operator)
    shown = client.post("/declaration/", {"text": text, "file": "x.yaml"})
    answer = client.post("/declaration/", {"text": text, "file": "x.yaml", "digest": digest_in(shown)})
    assert "only administrators" in answer.content.decode()
    assert {"connect-configs", "_schemas"} <= {topic.name for topic in cluster.describe_topics()}
    settings = {setting.name: setting.value for setting in cluster.topic_settings("connect-configs")}
    assert settings["cleanup.policy"] == "delete"


def program_of(person) -> Client:
    _, secret = make_token(person, "t", list(SCOPES), 1, timezone.now())
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.parametrize("topic", ["connect-status", "subjects"])
def test_a_program_reads_no_more_than_its_person(topic, reader, administrator):
    program = program_of(reader)
    assert program.get(f"/api/v1/topics/{topic}/records?place=oldest").status_code == 403
    assert program_of(administrator).get(f"/api/v1/topics/{topic}/records?place=oldest").status_code == 200
    call = {"name": "read", "arguments": {"table": "topics/{name}/records", "name": topic}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = program.post("/api/v1/mcp", json.dumps(message), content_type="application/json")
    assert answer.json()["result"]["isError"]
    assert "inside" not in answer.content.decode()


def test_operators_still_move_their_replicas(operator, client_of):
    answer = client_of(operator).get("/placement/+move/?topic=__consumer_offsets")
    assert answer.status_code == 200


def test_rules_give_no_more_of_them(viewer, give_rule, client_of):
    give_rule(viewer, "operator", "topic", "connect-*")
    assert client_of(viewer).get("/topics/connect-configs/+records/").status_code == 403


#: As MirrorMaker 2 calls copies: `alias.topic`, or with another replication.policy.separator.
COPIES = (
    *("eu._schemas", "eu.__consumer_offsets", "a.b._schemas", "eu-_schemas", "eu__schemas", "eu___consumer_offsets"),
    *("eu.connect-configs", "eu_connect-offsets", "us-east-1.connect-status", "eu.barnabas-sinks", "eu-barnabas.probe"),
    *("eu.kafkasql-journal", "eu_kafkasql-journal", "eu.mm2-offset-syncs.west.internal", "eu__confluent-command"),
    *("eu.mm2-configs_west_internal", "west_checkpoints_internal", "eu-west.checkpoints.internal"),
    *("eu.wk.cfg", "eu-wk.off", "eu__wk.st", "eu.subjects", "eu.pings", "eu-lines.off"),
)
#: A worker, registry or person may choose capitals.
CAPITALS = ("MyConnect-Configs", "CONNECT_OFFSETS", "eu._Schemas", "eu.MM2-offset-syncs.west.Internal")
OF_PEOPLE = (
    *("orders", "orders.internals", "connect-configs-of-mine", "my_topic", "statuses", "eu.orders", "shop__orders"),
    *("swk.cfg", "wk.cfg.copy", "mysubjects", "eu.WK.CFG"),
)


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_topics_of_people_are_none(name):
    assert not is_internal(name)


@pytest.mark.parametrize("name", COPIES + CAPITALS)
def test_a_copy_of_an_internal_topic_is_internal(name):
    assert is_internal(name)


def test_every_convention_holds_behind_an_alias():
    names = [convention.replace("*", "x").replace("?", ".") for convention in CONVENTIONS]
    assert [name for name in names if not is_internal(f"eu.{name}")] == []
    assert [name for name in names if not is_internal(f"eu-{name}")] == []


def test_lists_and_pages_agree_which_topics_are_internal(collect):
    names = {*COPIES, *CAPITALS, *OF_PEOPLE, *INTERNAL, *CONFIGURED}
    Topic.objects.bulk_create(Topic(name=name) for name in names - set(Topic.objects.values_list("name", flat=True)))
    chosen = Topic.objects.filter(named_in(internal_topics(), "name")).values_list("name", flat=True)
    assert set(chosen) == {name for name in names if is_internal(name)} == names - set(OF_PEOPLE)


def test_an_exception_takes_out_copies_and_not_what_a_service_names(settings):
    settings.INTERNAL_TOPICS = ("!eu.subjects", "!eu._schemas", "!subjects", "!EU.pings")
    assert [is_internal(name) for name in ("eu.subjects", "eu._schemas", "us.subjects")] == [False, False, True]
    assert is_internal("subjects")
    assert is_internal("eu.pings"), "the capitals of an exception count: it opens something"


def test_a_setting_names_more_of_them_and_exceptions(settings, operator, client_of):
    settings.INTERNAL_TOPICS = ("orders", "!_barnabas_audit", "!wk.*")
    client = client_of(operator)
    for topic, status in (("orders", 403), ("_barnabas_audit", 200), ("_schemas", 403), ("wk.cfg", 403)):
        assert client.get(f"/topics/{topic}/+records/").status_code == status, topic
    offered = {topic.name for topic in client.get("/topics/+many/").context["topics"]}
    assert offered & {"orders", "_barnabas_audit", "_schemas", "wk.cfg"} == {"_barnabas_audit"}
