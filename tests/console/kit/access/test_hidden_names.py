"""What a person may not see shows up nowhere: every address is asked, as a page and as a file."""

import json

import pytest
from django.urls import reverse

from broker.spark.ledger_names import DECISIONS_TOPIC
from console.automation.rolling_restart.models import RollingRestart
from console.kit.access.internal_names import NOT_WRITTEN
from console.kit.access.rights import NOT_EVERYTHING
from console.kit.gateway.acls.interface import AclRule
from console.processes.models import ManagedProcess
from console.signals.overview.queries import overview_facts
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup
from console.state.history.models import Change
from tests.console.ecosystem.connectors.lying_server import connector
from tests.console.kit.access.test_every_address import CLOSED, FOR_ADMINISTRATORS, ROUTES, address_of
from tests.examples import some

#: Topics whose records tell of other topics, groups and people.
TOLD_BY_OTHERS = (
    "__consumer_offsets",
    "__transaction_state",
    DECISIONS_TOPIC,
    "console.access",
    "console.access.counts",
    "connect-configs",
)
LONG = [pytest.param(person, marks=pytest.mark.long) for person in ("tenant", "limited_reader")]
HIDDEN, HIDDEN_GROUP, HIDDEN_PROCESS = "secret-plans", "secret-readers", "secret-job"


@pytest.fixture(autouse=True)
def _objects(cluster, ensemble, collect, settings, tmp_path, connect, collector):
    """orders and the hidden topic, both in trouble; `orders-readers` reads both, `spies` only the hidden one."""
    _connectors(connect)
    for name in ("orders", HIDDEN):
        cluster.create_topic(name, 1, 3)
        cluster.append(name, 0, 10)
    for group, topics in (("orders-readers", ("orders", HIDDEN)), ("spies", (HIDDEN,)), (HIDDEN_GROUP, ("orders",))):
        for topic in topics:
            cluster.commit(group, topic, 0, 1)
    collect()
    cluster.stop_broker(3)
    collect()
    ended = f"failed: ended by itself; its last line: no room for {HIDDEN}-0"
    for name, kind in (("broker-1", "broker"), ("zookeeper", "zookeeper"), (HIDDEN_PROCESS, "stream")):
        state_fields = {"state": "failed", "state_sentence": ended, "sentence": ended}
        running = ManagedProcess.objects.create(
            name=name,
            kind=kind,
            spec={"broker_id": 1, "directory": f"/data/{name}"},
            host=settings.HOST_NAME,
            desired="running",
            **state_fields,
        )
        log = running.log_path
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"event=append topic={HIDDEN} group=spies\n")
    Change.objects.create(at_ms=1, kind="process", object_name="broker-1", sentence=ended, tone="critical")
    for name in TOLD_BY_OTHERS:
        cluster.create_topic(name, 1, 1)
        cluster.produce_record(name, 0, HIDDEN.encode(), HIDDEN_GROUP.encode(), (("process", HIDDEN_PROCESS.encode()),))
    collect()
    RollingRestart.objects.create(actor_name="x", state="failed", sentence=f"waits for {HIDDEN}-0")
    collector.look("connectors")
    cluster.acls.has_authorizer = True
    cluster.acls.create([AclRule("TOPIC", HIDDEN, "LITERAL", "User:alice", "ALLOW", "READ")])


def _connectors(connect) -> None:
    """`lines` is seen, and names what is not wherever it can; the other one is not seen."""
    failed = ("FAILED", f"ConnectError: no good record at {HIDDEN}-0@1")
    named = {"topics": f"orders,{HIDDEN}", "transforms.t.regex": f"to {HIDDEN}"}
    named["errors.deadletterqueue.topic.name"] = HIDDEN
    connect.connectors["lines"] = connector("lines", tasks=("RUNNING", failed), kind="sink", **named)
    connect.connectors[HIDDEN_PROCESS] = connector(HIDDEN_PROCESS)
    offset = {"partition": {"kafka_topic": HIDDEN, "kafka_partition": 0}, "offset": {"kafka_offset": 1}}
    connect.answers["GET", "/connectors/lines/offsets"] = (200, {"offsets": [offset]})
    connect.answers["GET", "/connectors/lines/topics"] = (200, {"lines": {"topics": ["orders", HIDDEN]}})


def test_the_stage_shows_it_to_those_who_may(viewer, client_of):
    pages = (
        "overview",
        "topics",
        "placement",
        "history",
        "consumers",
        "processes",
        "rolling-restart",
        "acls",
        "connectors",
    )
    seen = {name: client_of(viewer).get(reverse(name)).content.decode() for name in pages}
    assert {name for name, text in seen.items() if "secret-" not in text} == set()
    assert Topic.objects.get(name=HIDDEN).under_replicated_count == 1
    assert ConsumerGroup.objects.count() == 3


def addresses() -> list[str]:
    """Every address; those about a topic also of the topics that tell of others, and records from their beginning."""
    plain = [address_of(name) for name in CLOSED]
    collected = [address + parameters for address in plain for parameters in ("", "?format=csv", "?search=secret")]
    collected = list(some(collected, one_in=4))  # no multiple of the three: each way to ask is among them
    collected += ["/processes/zookeeper/", "/processes/zookeeper/log"]
    for topic in TOLD_BY_OTHERS:
        values = {"name": topic, "partition": 0, "offset": 0, "number": 80_000}
        of_topics = {name: ROUTES[name].pattern.converters for name in CLOSED if name.startswith("topic-")}
        about = [
            reverse(name, kwargs={item: values[item] for item in wanted})
            for name, wanted in of_topics.items()
            if "name" in wanted
        ]
        records = [address for address in about if "+records" in address]
        collected += about + [f"{address}?place=oldest{more}" for address in records for more in ("", "&format=csv")]
        collected += [f"{address}?part={part}" for address in records for part in ("key", "value")]
    return collected


@pytest.mark.parametrize("person", ["limited", *LONG, "keeper"])
def test_no_address_shows_a_hidden_name(person, request, client_of):
    client = client_of(request.getfixturevalue(person))
    leaks = {}
    for address in addresses():
        response = client.get(address)
        text = b"".join(response.streaming_content) if response.streaming else response.content
        text = text.decode().replace("?search=secret", "").replace("“secret”", "")
        for name in (HIDDEN, HIDDEN_GROUP, HIDDEN_PROCESS, "spies"):
            if name in text:
                leaks[address] = name
    assert leaks == {}


def test_the_stage_has_logs_and_topics_that_tell(reader, administrator, client_of):
    """What the walk must not find is there to be found by a reader who is limited nowhere, or by an administrator."""
    tell = ["/processes/broker-1/", "/processes/broker-1/log", "/processes/", "/processes/?format=csv", "/history/"]
    tell += [f"/topics/{name}/+records/?place=oldest" for name in TOLD_BY_OTHERS]
    tell += [f"/topics/{name}/+records/?place=oldest&format=csv" for name in TOLD_BY_OTHERS]
    tell += [f"/topics/{name}/+records/0/0/" for name in TOLD_BY_OTHERS]
    for address in tell:
        is_internal = any(other in address for other in TOLD_BY_OTHERS if not other.startswith("console."))
        response = client_of(administrator if is_internal else reader).get(address)
        text = b"".join(response.streaming_content) if response.streaming else response.content
        assert HIDDEN in text.decode(), address


def test_a_connector_tells_all_of_it_to_who_is_limited_nowhere(reader, client_of):
    client = client_of(reader)
    page = client.get("/connectors/lines/").content.decode()
    assert page.count(HIDDEN) > 8
    assert "no good record at" in page
    assert client.get("/connectors/lines/+details/").content.decode().count(HIDDEN) >= 2


def test_who_is_limited_sees_the_rest_of_a_connector_that_names_what_is_hidden(limited_reader, client_of):
    page = client_of(limited_reader).get("/connectors/lines/").content.decode()
    assert "1 that your rights do not reach" in page
    assert "names a topic that your rights do not reach" in page
    assert ">orders</a>" in page


def test_who_is_limited_is_told_why_a_log_is_closed(keeper, client_of):
    for address in ("/processes/broker-1/", "/processes/broker-1/log"):
        assert NOT_EVERYTHING in client_of(keeper).get(address).content.decode()


def test_topics_that_tell_of_others_are_not_written_either(limited, client_of):
    for topic, sentence in (("__consumer_offsets", NOT_WRITTEN), ("console.access", NOT_EVERYTHING)):
        response = client_of(limited).post(f"/topics/{topic}/+produce/", {"value": "x"})
        assert (response.status_code, response.context["sentence"]) == (403, sentence)


def test_nobody_learns_by_searching_what_is_not_told(limited, client_of):
    page = client_of(limited).get("/history/", {"search": HIDDEN, "kind": "process"}).context["page"]
    assert list(page) == []


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_object_out_of_reach_is_refused_as_one_that_is_not_there(method, limited, client_of):
    client = client_of(limited)
    for name in CLOSED:
        values = {
            "name": HIDDEN_PROCESS if name.startswith(("process", "stream", "connector")) else HIDDEN,
            "group": HIDDEN_GROUP,
        }
        values |= {"partition": 0, "offset": 0, "number": 80_000, "action": "stop", "task": 0, "deed": "pause"}
        arguments = ROUTES[name].pattern.converters
        if not {"name", "group"} & set(arguments):
            continue
        kept = {key: values[key] for key in arguments}
        answers = []
        for item in (kept, {**kept, **{key: f"secret-nothing{key}" for key in ("name", "group") if key in kept}}):
            response = getattr(client, method)(reverse(name, kwargs=item))
            answers.append((response.status_code, response.content.decode().count("Your rights do not reach this")))
        refusal = (403, 0 if name in FOR_ADMINISTRATORS else 1)
        assert answers in ([refusal] * 2, [(302 if method == "get" else 405, 0)] * 2), name
    assert Topic.objects.filter(name=HIDDEN).exists()


def test_a_group_that_reads_only_hidden_topics_is_not_there(limited, client_of):
    assert client_of(limited).get(reverse("group", args=["spies"])).status_code == 404
    assert client_of(limited).post(reverse("group-delete", args=["spies"])).status_code == 404


@pytest.mark.parametrize("name", ["group-reset", "group-delete", "group-forget"])
def test_a_group_that_reads_a_hidden_topic_too_is_not_changed(name, limited, client_of, cluster):
    response = client_of(limited).post(reverse(name, args=["orders-readers"]), {"topic": "orders"})

    assert response.status_code == 403
    assert b"also reads topics that your rights do not reach" in response.content
    assert cluster.groups.describe_one("orders-readers").committed[(HIDDEN, 0)]


def test_a_group_shows_the_partitions_in_reach_and_says_that_there_are_others(limited, client_of):
    text = client_of(limited).get(reverse("group", args=["orders-readers"])).content.decode()

    assert ">orders</a>-0" in text
    assert "also reads topics that you may not see" in text


def test_a_group_that_reads_a_hidden_topic_too_does_not_offer_to_delete_offsets_of_it(limited, operator, client_of):
    address = reverse("group", args=["orders-readers"])

    assert f"?topic={HIDDEN}" in client_of(operator).get(address).content.decode()
    text = client_of(limited).get(address).content.decode()
    assert HIDDEN not in text
    assert "can be deleted" not in text


def test_counts_are_of_what_is_in_reach(limited, client_of):
    text = client_of(limited).get(reverse("topics")).content.decode()
    assert "4 topics<" in text
    totals = client_of(limited).get("/").context["totals"]
    assert (totals["topic_count"], totals["under_replicated"]) == (4, 1)
    assert overview_facts()["totals"]["topic_count"] == 5


def test_the_consumers_of_a_topic_are_those_in_reach(limited, client_of):
    text = client_of(limited).get(reverse("topic-consumers", args=["orders"])).content.decode()

    assert "orders-readers" in text
    assert HIDDEN_GROUP not in text


def test_a_topic_is_created_only_under_a_name_in_reach(tenant, client_of, cluster):
    fields = {"partition_count": 1, "replication_factor": 1}
    refused = client_of(tenant).post(reverse("topic-create"), {"name": "payments", **fields})
    hidden = client_of(tenant).post(reverse("topic-create"), {"name": HIDDEN, **fields})
    planned = client_of(tenant).post(reverse("topic-create"), {"name": "orders-2", **fields})

    assert refused.status_code == hidden.status_code == 422
    assert b"Your rights do not reach a topic of this name" in refused.content
    assert b"exists already" not in hidden.content
    assert planned.status_code == 200


def test_a_person_without_a_role_sees_what_the_rules_give_and_no_process(tenant, client_of):
    client = client_of(tenant)
    assert ">orders</a>" in client.get(reverse("topics")).content.decode()
    assert client.get(reverse("processes")).status_code == 403
    assert client.get("/").status_code == 200


def test_leaders_are_elected_only_of_topics_in_reach(limited, tenant, client_of):
    plan = client_of(limited).get(reverse("elect-leaders")).context["election"]
    named = {move.topic for move in plan.moves} | {stay.move.topic for stay in plan.stays}
    assert named <= {"orders"}
    assert client_of(tenant).get(reverse("elect-leaders")).status_code == 403


def test_brokers_are_restarted_only_by_who_may_restart_each(limited, give_rule, client_of, settings):
    ManagedProcess.objects.create(name="broker-2", kind="broker", host=settings.HOST_NAME)
    give_rule(limited, "nothing", "process", "broker-2")
    assert client_of(limited).post(reverse("rolling-restart"), {}).status_code == 403


def test_nothing_of_it_is_in_what_a_metric_scrape_says(client_of, viewer):
    assert "secret" not in json.dumps(client_of(viewer).get("/metrics").content.decode())
