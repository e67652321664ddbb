"""From a broker that stays away to a plan that somebody confirms, or that is carried out in somebody's name."""

import pytest

from console.automation.healing.collect import HealingWatch
from console.automation.healing.kinds import DEFAULTS, TroubleKind
from console.automation.healing.models import KEPT, HealingRule, Proposal
from console.automation.healing.remedy import CHANGES_MAX, NoRemedy, remedy_of
from console.automation.rolling_restart.models import RollingRestart
from console.cluster.brokers.models import BrokerReport
from console.cluster.placement.models import Reassignment
from console.kit.access.models import ReadOnlyMode
from console.kit.audit.models import AuditEvent
from console.shell.changes.models import ChangeRule
from console.state.clusters.models import Broker, Topic
from tests.console.confirming import digest_in

GONE = {"kind": "broker-gone"}


@pytest.fixture
def life(cluster, collect, collector, clock):
    """life(minutes): the collector looks once a minute, and at the end."""
    for name in ("orders", "payments"):
        cluster.create_topic(name, 3, 2)
    collector.look("sizes")
    collect()
    watch = HealingWatch(clock.now_ms)

    def passes(minutes: float) -> None:
        end_ms = clock.now_ms() + int(minutes * 60_000)
        while clock.now_ms() < end_ms:
            clock.advance(min(60_000, end_ms - clock.now_ms()))
            collector.collect_cluster()
            collector.collect_topics()
            collector.look("moves")
            watch.look()

    return passes


@pytest.fixture
def gone(cluster, life):
    """Broker 3 has been away for long; its replicas could go to the two that are there."""
    cluster.stop_broker(3)
    life(16)
    return Proposal.objects.get(**GONE, state="open")


def allow(actor, kind: str = "broker-gone", **values) -> None:
    given = {"mode": "act", "minutes": 15, "limit": 10, "rate": 5_000_000} | values
    HealingRule.objects.create(kind=kind, actor=actor, actor_name=actor.get_username(), **given)


def confirm(client, proposal, **more):
    shown = client.get(f"/healing/{proposal.pk}/")
    return client.post(f"/healing/{proposal.pk}/", {"digest": digest_in(shown)} | more)


def holders(cluster) -> set[int]:
    return {replica for replicas in cluster.moves.assignments(["orders", "payments"]).values() for replica in replicas}


def test_nothing_is_proposed_while_all_is_well_and_the_page_says_so(life, viewer, client_of):
    life(40)
    assert not Proposal.objects.exists()
    text = client_of(viewer).get("/healing/").content.decode()
    assert "Nothing is proposed." in text
    assert text.count('class="badge ok">propose<') == 4


def test_a_broker_that_stays_away_is_proposed_to_be_replaced_once_and_nothing_moves(gone, life, cluster):
    life(40)
    assert Proposal.objects.filter(**GONE).count() == 1
    assert gone.reason == "Broker 3 is away and holds 4 replicas."
    assert not Reassignment.objects.exists()
    assert AuditEvent.objects.filter(action="propose healing", object_name="broker 3 gone").count() == 1


def test_what_cannot_be_placed_has_no_proposal_and_the_page_says_why(cluster, life, viewer, client_of):
    cluster.create_topic("everywhere", 1, 3)
    for name in ("orders", "payments"):
        cluster.delete_topic(name)
    cluster.stop_broker(3)
    life(17)
    assert not Proposal.objects.exists()
    assert "3 replicas need as many other brokers; 2 stay." in client_of(viewer).get("/healing/").content.decode()


def test_an_operator_confirms_it_and_the_replicas_move(gone, life, cluster, operator, client_of):
    assert "from broker" not in client_of(operator).get("/healing/").content.decode()
    shown = client_of(operator).get(f"/healing/{gone.pk}/").content.decode()
    assert "Move them" in shown
    assert confirm(client_of(operator), gone).status_code == 302
    cluster.moves.arrive()
    life(1)
    assert holders(cluster) == {1, 2}
    gone.refresh_from_db()
    assert (gone.state, gone.actor_name) == ("done", "operator")
    assert Reassignment.objects.get().rate == 20_000_000
    assert AuditEvent.objects.filter(action="drain broker", result="done").count() == 1
    life(40)
    assert not Proposal.objects.filter(state="open").exists()


def test_only_copies_on_a_broker_that_is_away_are_named_and_stay(cluster, life, viewer, client_of):
    cluster.create_topic("lonely", 3, 1)
    life(1)
    lonely = next(n for n in range(3) if cluster.moves.assignments(["lonely"])["lonely", n] == (3,))
    cluster.stop_broker(3)
    life(17)
    text = client_of(viewer).get(f"/healing/{Proposal.objects.get(state='open').pk}/").content.decode()
    assert f"lonely-{lonely}</td><td>Its records are on brokers that are away, and nowhere else." in text


def test_one_that_comes_back_withdraws_it_and_a_confirmation_comes_too_late(gone, life, cluster, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.get(f"/healing/{gone.pk}/"))
    cluster.start_broker(3)
    late = client.post(f"/healing/{gone.pk}/", {"digest": digest})
    assert "Broker 3 is back." in late.content.decode()
    life(1)
    gone.refresh_from_db()
    assert (gone.state, gone.sentence) == ("withdrawn", "It is not so any more.")
    assert not Reassignment.objects.exists()


def test_a_rolling_restart_does_not_withdraw_it(gone, life):
    RollingRestart.objects.create(actor_name="admin", sentence="Begins.")
    life(2)
    gone.refresh_from_db()
    assert gone.is_open


def test_nobody_decides_for_a_day_and_it_expires_for_a_day(gone, life, clock):
    clock.advance(24 * 3_600_000)
    life(1)
    assert list(Proposal.objects.values_list("state", flat=True)) == ["expired"]
    life(40)
    assert Proposal.objects.count() == 1


def test_what_is_dismissed_is_not_proposed_again(gone, life, operator, client_of):
    client_of(operator).post(f"/healing/{gone.pk}/dismiss")
    life(40)
    gone.refresh_from_db()
    assert (gone.state, Proposal.objects.count()) == ("dismissed", 1)
    assert AuditEvent.objects.filter(action="dismiss healing", actor_name="operator").count() == 1


@pytest.mark.parametrize("person", ["viewer", "limited", "outsider"])
def test_others_neither_confirm_nor_dismiss_nor_set(person, request, gone, cluster, client_of):
    client = client_of(request.getfixturevalue(person))
    for address in (f"/healing/{gone.pk}/", f"/healing/{gone.pk}/dismiss", "/healing/+rule/disk/"):
        assert client.post(address, {"digest": "0" * 64, "mode": "act"}).status_code == 403
    gone.refresh_from_db()
    assert gone.is_open
    assert 3 in holders(cluster)


@pytest.mark.parametrize("person", ["limited", "outsider", "tenant"])
def test_who_may_not_see_all_names_sees_nothing_of_it(person, request, gone, client_of):
    client = client_of(request.getfixturevalue(person))
    assert client.get("/healing/").status_code == 403
    assert client.get(f"/healing/{gone.pk}/").status_code == 403


def test_an_operator_does_not_set_how_far_it_goes(operator, client_of, life):
    assert client_of(operator).get("/healing/+rule/disk/").status_code == 403


def test_an_administrator_lets_it_act_by_plan(administrator, client_of, life):
    client = client_of(administrator)
    form = {"mode": "act", "minutes": "20", "rate": "5"}
    shown = client.post("/healing/+rule/broker-gone/", form)
    assert "in your name" in shown.content.decode()
    assert not HealingRule.objects.exists()
    assert client.post("/healing/+rule/broker-gone/", form | {"digest": digest_in(shown)}).status_code == 302
    kept = HealingRule.objects.get()
    assert (kept.mode, kept.minutes, kept.rate, kept.actor) == ("act", 20, 5_000_000, administrator)
    assert AuditEvent.objects.get(action="set self-healing").actor_name == "administrator"


@pytest.mark.parametrize("wrong", [{"minutes": "0"}, {"mode": "wild"}, {"minutes": "1e9"}, {"rate": "-1"}])
def test_nonsense_is_refused_beside_its_field(wrong, administrator, client_of, life):
    form = {"mode": "act", "minutes": "20", "rate": "5"} | wrong
    assert client_of(administrator).post("/healing/+rule/broker-gone/", form).status_code == 422
    assert client_of(administrator).get("/healing/+rule/nothing/").status_code == 404


def test_in_act_it_is_done_in_the_name_of_who_allowed_it_and_once(cluster, life, administrator):
    allow(administrator)
    cluster.stop_broker(3)
    life(17)
    done = Proposal.objects.get(state="done")
    assert (done.actor_name, done.tried_at_ms is not None) == ("administrator", True)
    assert Reassignment.objects.count() == 1
    row = AuditEvent.objects.get(action="drain broker")
    assert row.detail.startswith("Without a person, by self-healing: Broker 3 is away")
    life(40)
    assert Reassignment.objects.count() == 1


def test_what_came_back_and_went_again_within_a_day_is_a_persons_to_decide(cluster, life, administrator):
    allow(administrator)
    cluster.stop_broker(3)
    life(17)
    cluster.moves.arrive()
    cluster.start_broker(3)
    life(2)
    cluster.create_topic("more", 3, 2)
    cluster.stop_broker(3)
    life(40)
    assert Reassignment.objects.count() == 1
    again = Proposal.objects.filter(state="open")
    assert [item.sentence for item in again] == [
        "It was healed without a person within a day and is back, or could not be: now a person decides."
    ]


def test_what_was_tried_is_known_for_its_day_however_much_was_proposed_since(cluster, life, administrator):
    allow(administrator)
    cluster.stop_broker(3)
    life(17)
    over = {"kind": "disk", "state": "withdrawn", "made_at_ms": 1, "expires_at_ms": 1, "ended_at_ms": 1}
    Proposal.objects.bulk_create(Proposal(cause=f"disk of broker {number}", **over) for number in range(2 * KEPT))
    cluster.moves.arrive()
    cluster.start_broker(3)
    life(2)
    cluster.create_topic("more", 3, 2)
    cluster.stop_broker(3)
    life(40)
    assert Reassignment.objects.count() == 1
    assert Proposal.objects.count() <= KEPT + 5


def test_rules_of_changes_hold_it_up(cluster, life, administrator):
    allow(administrator)
    rule = {"kind": "approval", "actions": ["move partitions"], "objects": ["*"]}
    ChangeRule.objects.create(name="prod", definition=rule, actor_name="root")
    cluster.stop_broker(3)
    life(30)
    assert not Reassignment.objects.exists()
    assert "second person" in Proposal.objects.get(state="open").sentence


def test_read_only_mode_holds_it_up(cluster, life, administrator):
    allow(administrator)
    ReadOnlyMode.objects.create(scope="console", by_name="ada", reason="a disk is replaced")
    cluster.stop_broker(3)
    life(30)
    assert not Reassignment.objects.exists()
    assert "read-only" in Proposal.objects.get(state="open").sentence


@pytest.mark.parametrize("what", ["closed", "demoted", "deleted"])
def test_it_does_nothing_in_the_name_of_who_may_not_any_more(what, cluster, life, administrator):
    allow(administrator)
    if what == "closed":
        type(administrator).objects.update(is_active=False)
    elif what == "demoted":
        administrator.groups.clear()
    else:
        administrator.delete()
    cluster.stop_broker(3)
    life(30)
    assert not Reassignment.objects.exists()
    assert "has lost the right to it" in Proposal.objects.get(state="open").sentence


def test_leaders_that_stay_elsewhere_are_elected(cluster, life, administrator, clock):
    allow(administrator, "leaders", minutes=10)
    elsewhere = cluster.moves.assignments(["orders"])["orders", 0]
    cluster.move_leader("orders", 0, elsewhere[1])
    life(17)
    assert Proposal.objects.get().state == "done"
    assert AuditEvent.objects.filter(action="elect preferred leaders", result="done").count() == 1
    life(30)
    assert Proposal.objects.count() == 1


def test_what_is_switched_off_is_withdrawn(gone, life, administrator):
    allow(administrator, mode="off")
    life(1)
    gone.refresh_from_db()
    assert (gone.state, gone.sentence) == ("withdrawn", "It is switched off.")


def test_looking_asks_the_cluster_nothing(cluster, life, clock, monkeypatch):
    monkeypatch.setattr("console.automation.healing.collect.remedy_of", lambda *_: pytest.fail("asked"))
    cluster.stop_broker(3)
    life(5)
    assert Topic.objects.exists()


def test_a_cluster_that_does_not_answer_is_said_on_the_page_of_the_proposal(gone, cluster, operator, client_of):
    cluster.cut_off()
    answer = client_of(operator).get(f"/healing/{gone.pk}/")
    assert answer.status_code == 422
    assert "No broker answered" in answer.content.decode()


def test_the_queue_is_a_file(gone, viewer, client_of):
    rows = b"".join(client_of(viewer).get("/healing/?format=csv").streaming_content).decode()
    assert "broker 3 gone" in rows


def test_a_remedy_for_a_broker_that_is_there_is_none(life, db):
    assert remedy_of(TroubleKind.BROKER_GONE, 3, DEFAULTS[TroubleKind.BROKER_GONE]) == NoRemedy("Broker 3 is back.")


def report(broker_id: int, used_percent: int) -> None:
    directory = {"path": "/data", "total_bytes": 1_000, "usable_bytes": 1_000 - 10 * used_percent}
    BrokerReport.objects.update_or_create(broker_id=broker_id, defaults={"log_dirs": [directory]})


def test_a_full_disk_gives_some_replicas_to_emptier_ones(cluster, life, collector, administrator, client_of):
    """Broker 1 has two partitions of much, and nothing else; the others have what they have."""
    cluster.create_topic("large", 6, 1)
    at_first = cluster.moves.assignments(["large"])
    for (topic, number), replicas in at_first.items():
        if replicas == (1,):
            cluster.append(topic, number, 500)
    life(1)
    collector.look("sizes")
    for broker_id, used in ((1, 90), (2, 20), (3, 20)):
        report(broker_id, used)
    life(12)
    result = Proposal.objects.get(state="open")
    assert result.reason == "A disk of broker 1 is 90 % used, more than 80 %."
    assert confirm(client_of(administrator), result).status_code == 302
    moved = Reassignment.objects.get()
    assert moved.action == "balance brokers"
    assert moved.partition_count <= CHANGES_MAX
    cluster.moves.arrive()
    after = cluster.moves.assignments(["large"])
    held_by_1 = [place for place, replicas in after.items() if replicas == (1,) and at_first[place] == (1,)]
    assert len(held_by_1) < sum(replicas == (1,) for replicas in at_first.values())


def test_a_hot_broker_with_nothing_to_give_has_no_proposal_and_the_page_says_why(cluster, life, viewer, client_of):
    Broker.objects.filter(broker_id=1).update(bytes_per_second=9_000_000)
    Broker.objects.exclude(broker_id=1).update(bytes_per_second=0)
    life(32)
    assert not Proposal.objects.exists()
    text = client_of(viewer).get("/healing/").content.decode()
    assert "Broker 1 takes 3.0 times what brokers take on the average. Nothing that may be moved evens it out." in text
