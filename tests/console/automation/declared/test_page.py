"""The page of declarations: shown as one plan, carried out in order, and nothing left to do afterwards."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from console.automation.declared import actions as declared_actions
from console.cluster.topics.due import carry_out_due
from console.cluster.topics.models import PlannedDeletion
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.quotas.interface import QuotaEntity
from tests.console.automation.declared.conftest import ADDRESS, actions, topics

SHOP = """\
topics:
  shop.orders:
    partitions: 4
    replication_factor: 2
    settings:
      retention.ms: 1 d
      max.message.bytes: 20000
  shop.bills:
    partitions: 1
    replication_factor: 1
acls:
  - {principal: 'User:shop', allow: [Read, Write], topic: shop., prefixed: true}
quotas:
  - {user: shop, producer_byte_rate: 1 MB}
groups:
  shop-billing:
    starts: {shop.orders: latest}
"""


def settings_of(cluster, topic):
    return {setting.name: setting.value for setting in cluster.topic_settings(topic) if setting.source == "topic"}


def test_a_whole_shop_is_made_in_order_and_a_second_time_nothing_differs(files, administrator, secured, collect):
    collect()
    shop = files(administrator, SHOP)
    shown = shop.compare()
    assert shown.status_code == 200
    assert topics(secured) == {}
    made = [(part.plan.action, part.plan.object_name) for part in shown.context["made"].parts]
    assert made == [
        ("create topic", "shop.orders"),
        ("create topic", "shop.bills"),
        ("create access rules", "cluster"),
        ("change quotas", "user shop"),
        ("reset offsets", "shop-billing"),
    ]
    assert shop.apply(shown).status_code == 302
    assert topics(secured) == {"shop.bills": 1, "shop.orders": 4}
    assert settings_of(secured, "shop.orders") == {"retention.ms": "86400000", "max.message.bytes": "20000"}
    assert {rule.name for rule in secured.acls.look().rules} == {"shop.", "kafka-cluster"}
    assert secured.quotas.describe()[QuotaEntity(user="shop")] == {"producer_byte_rate": 1_000_000.0}
    assert set(secured.groups.describe_one("shop-billing").committed) == {("shop.orders", n) for n in range(4)}
    assert actions() == [*((action, "done") for action, _ in made), ("apply declaration", "done")]

    again = shop.compare()
    assert again.context["plan"].is_empty
    assert not again.context["plan"].obstacle
    assert shop.apply(again).status_code == 302
    assert len(actions()) == 6


def test_a_topic_that_is_there_is_changed_by_the_plans_of_its_pages(files, operator, cluster, collect):
    cluster.create_topic("orders", 2, 1)
    collect()
    text = """\
topics:
  orders:
    partitions: 3
    replication_factor: 2
    settings: {retention.ms: 1 d, max.message.bytes: 2000}
"""
    shown = files(operator, text).compare()
    assert [part.plan.action for part in shown.context["made"].parts] == [
        "add partitions",
        "change replication factor",
        "change setting",
        "change retention",
    ]
    assert files(operator, text).apply(shown).status_code == 302
    assert topics(cluster) == {"orders": 3}
    assert settings_of(cluster, "orders") == {"retention.ms": "86400000", "max.message.bytes": "2000"}


@pytest.mark.parametrize("is_there", [True, False], ids=["changed", "created"])
def test_the_cluster_judges_the_settings_of_a_topic(files, operator, cluster, collect, is_there):
    if is_there:
        cluster.create_topic("orders", 1, 1)
    collect()
    text = "topics: {orders: {partitions: 1, replication_factor: 1, settings: {retention.ms: soon}}}"
    shown = files(operator, text).compare()
    assert "topic orders: " in shown.context["plan"].obstacle
    assert "retention.ms" in shown.context["plan"].obstacle
    assert files(operator, text).apply(shown).status_code == 409
    assert topics(cluster) == ({"orders": 1} if is_there else {})


def test_partitions_are_never_taken_away(files, operator, cluster, collect):
    cluster.create_topic("orders", 4, 1)
    collect()
    text = "topics: {orders: {partitions: 2, replication_factor: 1}}"
    shown = files(operator, text).compare()
    assert "partitions are never taken away" in shown.context["plan"].obstacle
    assert files(operator, text).apply(shown).status_code == 409
    assert topics(cluster) == {"orders": 4}


def test_what_is_not_so_any_more_is_refused_and_shown_anew(files, operator, cluster, collect):
    collect()
    text = "topics: {a: {partitions: 1, replication_factor: 1}, b: {partitions: 1, replication_factor: 1}}"
    shown = files(operator, text).compare()
    cluster.create_topic("a", 1, 1)
    answer = files(operator, text).apply(shown)
    assert answer.status_code == 409
    assert "has changed since it was shown" in answer.content.decode()
    assert topics(cluster) == {"a": 1}
    assert len(answer.context["made"].parts) == 1


def test_it_stops_at_the_first_failure_and_says_what_was_done(files, operator, cluster, collect, monkeypatch):
    collect()
    text = "topics:\n" + "".join(f"  t{n}: {{partitions: 1, replication_factor: 1}}\n" for n in range(4))
    create = cluster.create_topic

    def fails(name, *arguments, **named):
        if name == "t2":
            raise RefusedError("POLICY_VIOLATION", "Not on a Friday.")
        create(name, *arguments, **named)

    monkeypatch.setattr(cluster, "create_topic", fails)
    answer = files(operator, text).apply()
    assert answer.status_code == 409
    assert answer.context["error"] == (
        "2 of 4 changes were made. create topic t2 was not: Not on a Friday. Not begun: create topic t3."
    )
    assert set(topics(cluster)) == {"t0", "t1"}
    assert [part.plan.object_name for part in answer.context["made"].parts] == ["t2", "t3"]
    whole = AuditEvent.objects.get(action="apply declaration")
    assert (whole.result, "create topic t3: It was not begun." in whole.detail) == ("done", True)
    assert actions()[2] == ("create topic", "refused")


def test_what_fails_at_once_is_no_change(files, operator, cluster, collect, monkeypatch):
    collect()

    def fails(*_arguments, **_named):
        raise RefusedError("POLICY_VIOLATION", "Not on a Friday.")

    monkeypatch.setattr(cluster, "create_topic", fails)
    answer = files(operator, "topics: {a: {partitions: 1, replication_factor: 1}}").apply()
    assert (answer.status_code, "0 of 1" in answer.context["error"]) == (422, True)
    assert AuditEvent.objects.get(action="apply declaration").result == "refused"


# -- deleting


PRUNED = """\
scope: {topics: shop.*, groups: shop-*, principals: 'User:shop*', quotas: shop*}
topics:
  shop.orders:
    settings: {max.message.bytes: 2000}
"""


@pytest.fixture
def shop(secured, collect):
    for name in ("shop.orders", "shop.old", "other"):
        secured.create_topic(name, 1, 1, {"segment.bytes": "60000"} if name == "shop.orders" else {})
    secured.groups.commit("shop-dead", "shop.old", 0, 0)
    secured.groups.commit("others", "shop.old", 0, 0)
    secured.quotas.change(QuotaEntity(user="shop-x"), {"producer_byte_rate": 5.0})
    secured.quotas.change(QuotaEntity(user="till"), {"producer_byte_rate": 5.0})
    collect()
    return secured


def test_without_a_scope_nothing_is_pruned(files, administrator, shop):
    shown = files(administrator, "topics: {shop.orders: }", prune=True).compare()
    assert "Nothing says what may be deleted" in shown.context["plan"].obstacle
    assert files(administrator, "topics: {shop.orders: }", prune=True).apply(shown).status_code == 409
    assert len(topics(shop)) == 3


def test_what_is_not_declared_within_the_scope_goes_last_and_topics_a_day_later(files, administrator, shop):
    pruned = files(administrator, PRUNED, prune=True)
    shown = pruned.compare()
    assert [part.plan.action for part in shown.context["made"].parts][2:] == [
        "delete consumer group",
        "delete topic later",
    ]
    assert pruned.apply(shown).status_code == 302
    assert "shop.old" in topics(shop)
    row = PlannedDeletion.objects.get()
    assert (row.topic, row.state) == ("shop.old", "waiting")
    assert pruned.compare().context["plan"].is_empty
    PlannedDeletion.objects.update(due_at=row.due_at - timedelta(hours=24, minutes=1))
    carry_out_due()
    assert set(topics(shop)) == {"shop.orders", "other"}
    assert pruned.compare().context["plan"].is_empty


def test_what_is_planned_already_goes_now_if_that_is_said(files, administrator, shop):
    files(administrator, PRUNED, prune=True).apply()
    now = files(administrator, PRUNED, prune=True, at_once=True)
    assert [part.plan.action for part in now.compare().context["made"].parts] == ["delete topic"]
    assert now.apply().status_code == 302
    assert set(topics(shop)) == {"shop.orders", "other"}
    assert PlannedDeletion.objects.get().state == "deleted"


def test_at_once_alone_deletes_nothing(files, administrator, shop):
    shown = files(administrator, PRUNED, at_once=True).compare()
    assert [part.plan.action for part in shown.context["made"].parts] == ["change setting"]


def test_what_goes_at_once_goes_last(files, administrator, shop):
    pruned = files(administrator, PRUNED, prune=True, at_once=True)
    shown = pruned.compare()
    plan = shown.context["plan"]
    assert [(part.plan.action, part.plan.object_name) for part in shown.context["made"].parts] == [
        ("change settings", "shop.orders"),
        ("change quotas", "user shop-x"),
        ("delete consumer group", "shop-dead"),
        ("delete topic", "shop.old"),
    ]
    assert plan.typed_name == "2 losses"
    assert any("shop.old" in loss and "lost for good" in loss for loss in plan.losses)
    assert pruned.apply(shown, typed_name="").status_code == 422
    assert len(topics(shop)) == 3
    assert pruned.apply(shown).status_code == 302
    assert set(topics(shop)) == {"shop.orders", "other"}
    assert settings_of(shop, "shop.orders") == {"max.message.bytes": "2000"}
    assert QuotaEntity(user="till") in shop.quotas.describe()
    assert pruned.compare().context["plan"].is_empty


def test_without_being_asked_nothing_is_pruned(files, administrator, shop):
    shown = files(administrator, PRUNED).compare()
    assert [part.plan.action for part in shown.context["made"].parts] == ["change setting"]


def test_a_loss_that_has_become_another_meanwhile_stops_it(files, administrator, shop, monkeypatch, collect):
    """The part before it takes its time, and meanwhile somebody begins to read what is to go."""
    pruned = files(administrator, PRUNED, prune=True, at_once=True)
    do = declared_actions.digest_of
    came = []

    def comes(plan, actor):
        if plan.action == "delete consumer group" and not came:
            came.append(plan)
            shop.groups.commit("late", "shop.old", 0, 0)
            collect()
        return do(plan, actor)

    shown = pruned.compare()
    monkeypatch.setattr(declared_actions, "digest_of", comes)
    answer = pruned.apply(shown)
    assert answer.status_code == 409
    assert "delete topic shop.old was not: What it was worked out from has changed" in answer.context["error"]
    assert "shop.old" in topics(shop)


def test_kafkas_own_topics_are_not_declared(files, administrator, cluster, collect):
    cluster.create_topic("__consumer_offsets", 1, 1)
    collect()
    shown = files(administrator, "topics: {__consumer_offsets: {absent: true}}").compare()
    assert "Kafka's own" in shown.context["plan"].obstacle
    pruned = files(administrator, "scope: {topics: __con*}\n", prune=True).compare()
    assert pruned.context["plan"].is_empty


# -- who may


def test_a_viewer_compares_and_does_not_apply(files, viewer, cluster, collect):
    cluster.create_topic("orders", 2, 1)
    collect()
    text = "topics: {orders: {partitions: 3}}"
    shown = files(viewer, text).compare()
    assert [line.new for line in shown.context["plan"].lines] == [3]
    assert "not change it" in shown.context["plan"].obstacle
    assert files(viewer, text).apply(shown).status_code == 403
    assert files(viewer, text).compare().context["plan"].lines


def test_an_outsider_sees_nothing(files, outsider, cluster, client_of):
    assert client_of(outsider).get(ADDRESS).status_code == 403
    assert files(outsider, "topics: {}").compare().status_code == 403
    assert client_of(outsider).get(f"{ADDRESS}+export/").status_code == 403


def test_what_is_hidden_reads_the_same_whether_it_is_there_or_not(files, limited, cluster, collect):
    cluster.create_topic("secret-there", 5, 1)
    cluster.groups.commit("secret-group", "secret-there", 0, 0)
    collect()
    obstacles = {}
    for name in ("secret-there", "secret-none"):
        text = f"topics: {{{name}: {{partitions: 1, replication_factor: 1}}}}\n"
        shown = files(limited, text).compare()
        assert not shown.context["made"].parts
        obstacles[name] = shown.context["plan"].obstacle.replace(name, "…")
        assert files(limited, text).apply(shown).status_code == 409
    assert len(set(obstacles.values())) == 1
    assert "do not reach" in obstacles["secret-there"]
    pruned = files(limited, "scope: {topics: secret-*, groups: secret-*}\n", prune=True).compare()
    assert pruned.context["plan"].is_empty
    assert "secret-there" not in pruned.content.decode()


def test_what_one_may_not_is_refused_before_anything_is_done(files, tenant, cluster, collect):
    collect()
    text = """\
topics:
  orders.in: {partitions: 1, replication_factor: 1}
  bills: {partitions: 1, replication_factor: 1}
acls:
  - {principal: 'User:shop', allow: Read, topic: orders.in}
"""
    shown = files(tenant, text).compare()
    assert "topic bills" in shown.context["plan"].obstacle
    assert "access lists" in shown.context["plan"].obstacle
    assert files(tenant, text).apply(shown).status_code == 409
    assert topics(cluster) == {}


def test_a_group_that_reads_beyond_ones_reach_is_not_ones_own(files, limited, cluster, collect):
    for name in ("secret-t", "open-t"):
        cluster.create_topic(name, 1, 1)
        cluster.groups.commit("mixed", name, 0, 0)
    collect()
    text = "groups: {mixed: {absent: true}}"
    shown = files(limited, text).compare()
    assert "also reads topics that your rights do not reach" in shown.context["plan"].obstacle
    assert files(limited, text).apply(shown).status_code == 409
    assert "mixed" in {group.group_id for group in cluster.groups.describe().groups}


# -- groups


def test_a_group_that_has_begun_is_left_where_it_is(files, operator, cluster, collect):
    cluster.create_topic("orders", 2, 1)
    cluster.groups.commit("readers", "orders", 0, 0)
    cluster.groups.join("new", "m-1", ("orders", 0))
    collect()
    shown = files(
        operator, "groups: {readers: {starts: {orders: latest}}, new: {starts: {orders: earliest}}}"
    ).compare()
    assert shown.context["plan"].is_empty
    assert "begin in orders by themselves" in shown.content.decode()


@pytest.mark.parametrize("declared", ["absent: true", "starts: {orders: latest}"])
def test_a_group_that_cannot_be_described_is_left_alone(declared, files, operator, cluster, collect):
    cluster.create_topic("orders", 2, 1)
    cluster.groups.make("later", "quorum")
    collect()
    shown = files(operator, f"groups: {{later: {{{declared}}}}}").compare()
    assert "does not know groups of type quorum" in shown.content.decode()
    assert files(operator, f"groups: {{later: {{{declared}}}}}").apply(shown).status_code in (409, 422)
    assert cluster.groups.describe_one("later").group_type == "quorum"


# -- what cannot be read


def test_what_is_wrong_with_files_is_shown_with_its_line(files, operator, cluster):
    answer = files(operator, "topics:\n  a: {partition: 1}\n", "topics: [").compare()
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "f0.yaml, line 2" in text
    assert "f1.yaml, line" in text


def test_files_are_chosen_in_a_browser(client_of, operator, cluster, collect):
    collect()
    chosen = [
        SimpleUploadedFile("a.yaml", b"topics: {a: {partitions: 1, replication_factor: 1}}"),
        SimpleUploadedFile("b.json", b'{"topics": {"b": {"partitions": 1, "replication_factor": 1}}}'),
    ]
    shown = client_of(operator).post(ADDRESS, {"upload": chosen, "text": ""})
    assert [part.plan.object_name for part in shown.context["made"].parts] == ["a", "b"]
    assert shown.context["plan"].command == "barnabas apply a.yaml b.json"
    fields = [name for name, _ in shown.context["fields"]]
    assert fields == ["file", "text", "file", "text"]
    wrong = client_of(operator).post(ADDRESS, {"upload": [SimpleUploadedFile("x.yaml", b"\xff\xfe")]})
    assert (wrong.status_code, b"no text in UTF-8" in wrong.content) == (422, True)


def test_nothing_is_no_declaration(client_of, operator, cluster):
    answer = client_of(operator).post(ADDRESS, {"text": "  "})
    assert (answer.status_code, b"Nothing is declared" in answer.content) == (422, True)
