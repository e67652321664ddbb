"""Moves in batches: planned for a time, looked at again when it comes, paused, resumed, slowed and called off."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from console.automation.staged_moves import advance as advancing
from console.automation.staged_moves.advance import advance
from console.automation.staged_moves.models import StagedMove
from console.celery import app
from console.cluster.placement.collect import MoveWatch
from console.cluster.placement.models import Reassignment
from console.kit.access.models import ReadOnlyMode
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import ClusterUnreachableError
from console.kit.gateway.moves.interface import RATE_KEYS
from console.kit.operations.tasks import advance_operations
from console.shell.changes.models import ChangeRule, ProposedChange
from console.shell.launch.beat import FrugalScheduler
from tests.console.confirming import digest_in

ADDRESS = "/placement/+staged/"
State = StagedMove.State
SOON = timedelta(hours=3)


@pytest.fixture(autouse=True)
def _orders(cluster, collect, collector):
    cluster.create_topic("orders", 5, 2)
    cluster.append("orders", 0, 50)
    collector.look("sizes")
    collect()


@pytest.fixture
def watch(cluster, clock):
    return MoveWatch(cluster, clock.now_ms)


def targets(cluster) -> dict[str, list[int]]:
    """Each partition to the broker that has none of it, in the place of its first."""
    present = cluster.moves.assignments(["orders"])
    return {str(number): [({1, 2, 3} - set(has)).pop(), has[1]] for (_, number), has in sorted(present.items())}


def form_for(cluster, **more: str) -> dict[str, str]:
    return {"moves": json.dumps({"orders": targets(cluster)}), "kind": "", "size": "2"} | more


def move_elsewhere(cluster) -> None:
    """Partition 3, to where it shall not be."""
    has = cluster.moves.assignments(["orders"])["orders", 3]
    cluster.moves.alter({("orders", 3): (has[0], ({1, 2, 3} - set(has)).pop())})
    cluster.moves.arrive()


def stage(client, cluster, **more: str):
    sent = form_for(cluster, **more)
    shown = client.post(ADDRESS, sent)
    assert shown.status_code == 200, shown.content.decode()
    return client.post(ADDRESS, sent | {"digest": digest_in(shown)})


def step() -> StagedMove:
    """One beat."""
    advance(StagedMove.objects.get())
    return StagedMove.objects.get()


def arrive(cluster, watch) -> None:
    cluster.moves.arrive()
    watch.look()
    watch.look()


def under_way(cluster) -> list[int]:
    return sorted(partition for _, partition in cluster.moves.under_way())


def test_the_plan_of_a_move_leads_to_batches(cluster, operator, client_of):
    shown = client_of(operator).post("/placement/+move/?topic=orders&partition=0", {"replicas-0": "3, 2"})
    form = re.search(r'<form method="post" action="/placement/\+staged/">.*?</form>', shown.content.decode(), re.S)[0]
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    page = client_of(operator).post(ADDRESS, {name: value.replace("&quot;", '"') for name, value in sent.items()})
    text = page.content.decode()
    assert "It goes in 1 batch; the next begins when the one before has arrived." in text
    assert "Windows and freezes hold for each batch." in text
    assert under_way(cluster) == []


def test_it_goes_batch_by_batch_to_its_end(cluster, operator, client_of, watch):
    wanted = targets(cluster)
    assert stage(client_of(operator), cluster).status_code == 302
    assert step().sentence == "Batch 1: 2 partitions being reassigned."
    assert under_way(cluster) == [0, 1]
    assert step().sentence == "Batch 1: 2 partitions being reassigned."
    assert under_way(cluster) == [0, 1]
    arrive(cluster, watch)
    assert step().left == 3
    assert under_way(cluster) == [2, 3]
    arrive(cluster, watch)
    step()
    assert under_way(cluster) == [4]
    arrive(cluster, watch)
    done = step()
    assert (done.state, done.sentence, done.left) == ("done", "All 5 partitions arrived.", 0)
    assert {str(item[1]): list(has) for item, has in cluster.moves.assignments(["orders"]).items()} == wanted
    assert [event.action for event in AuditEvent.objects.order_by("pk")] == [
        *["move partitions"] * 4,  # planned, and three batches
        "finish staged move",
    ]
    assert Reassignment.objects.count() == 3


def test_one_for_later_begins_when_its_time_comes(cluster, operator, client_of, monkeypatch):
    begins = timezone.now() + SOON
    stage(client_of(operator), cluster, begins=begins.isoformat())
    planned = StagedMove.objects.get()
    assert (planned.word, planned.state) == ("scheduled", "running")
    assert planned.sentence == f"Begins {begins:%Y-%m-%d %H:%M} UTC."
    assert not StagedMove.to_advance().exists()
    assert step().batches == 0
    assert under_way(cluster) == []
    monkeypatch.setattr(advancing, "now_ms", lambda: round(1_000 * begins.timestamp()) + 1)
    assert step().batches == 1
    assert under_way(cluster) == [0, 1]


def test_the_beat_has_nothing_to_do_until_then(cluster, operator, client_of, settings, tmp_path):
    settings.RUN_DIR = tmp_path
    app.finalize()
    is_needed = FrugalScheduler.only_if["advance-staged_moves.stagedmove"]
    stage(client_of(operator), cluster, begins=(timezone.now() + SOON).isoformat())
    assert not is_needed()
    StagedMove.objects.update(begins_at=timezone.now() - timedelta(minutes=1))
    assert is_needed()
    (tmp_path / "locks").mkdir()
    advance_operations("staged_moves.stagedmove")
    assert under_way(cluster) == [0, 1]


def test_a_world_that_has_changed_until_then_refuses_it_with_the_reason(cluster, operator, client_of):
    stage(client_of(operator), cluster)
    move_elsewhere(cluster)
    over = step()
    assert over.state == "called off"
    assert over.sentence.startswith("Refused, and nothing was moved: orders-3 is on other brokers than planned from (")
    assert under_way(cluster) == []
    assert AuditEvent.objects.order_by("pk").last().action == "end called-off staged move"


def test_a_broker_that_is_missing_when_it_begins_refuses_it(cluster, operator, client_of):
    stage(client_of(operator), cluster)
    cluster.stop_broker(3)
    assert "not registered: the move could not end" in step().sentence
    assert StagedMove.objects.get().state == "called off"


def test_a_topic_deleted_between_two_batches_pauses_it(cluster, operator, client_of, watch):
    stage(client_of(operator), cluster)
    step()
    arrive(cluster, watch)
    cluster.delete_topic("orders")
    paused = step()
    assert paused.state == "paused"
    assert paused.sentence.startswith("Paused: orders-0, orders-1, orders-2 and 2 more are not there any more")


def test_a_topic_made_anew_on_the_same_brokers_is_not_moved(cluster, operator, client_of):
    stage(client_of(operator), cluster)
    was = cluster.moves.assignments(["orders"])
    cluster.delete_topic("orders")
    cluster.create_topic("orders", 5, 2)
    for (name, partition), replicas in was.items():
        cluster.place_replicas(name, partition, replicas)
    over = step()
    assert (over.state, under_way(cluster)) == ("called off", [])
    assert over.sentence == ("Refused, and nothing was moved: orders was deleted and recreated since this was planned.")


def test_a_topic_made_anew_between_plan_and_confirmation_is_another_plan(cluster, operator, client_of):
    client, sent = client_of(operator), form_for(cluster)
    shown = client.post(ADDRESS, sent)
    was = cluster.moves.assignments(["orders"])
    cluster.delete_topic("orders")
    cluster.create_topic("orders", 5, 2)
    for (name, partition), replicas in was.items():
        cluster.place_replicas(name, partition, replicas)
    assert client.post(ADDRESS, sent | {"digest": digest_in(shown)}).status_code == 409
    assert not StagedMove.objects.exists()


def test_paused_no_batch_begins_and_resumed_it_goes_on(cluster, operator, client_of, watch):
    client = client_of(operator)
    stage(client, cluster)
    number = step().pk
    assert client.post(f"{ADDRESS}{number}/pause").status_code == 302
    assert under_way(cluster) == [0, 1]
    arrive(cluster, watch)
    assert step().state == "paused"
    assert under_way(cluster) == []
    client.post(f"{ADDRESS}{number}/resume")
    step()
    assert under_way(cluster) == [2, 3]


def test_called_off_what_is_on_the_move_arrives_and_nothing_else_begins(cluster, operator, client_of, watch):
    client = client_of(operator)
    stage(client, cluster)
    number = step().pk
    client.post(f"{ADDRESS}{number}/call-off")
    assert under_way(cluster) == [0, 1]
    arrive(cluster, watch)
    assert step().state == "called off"
    assert under_way(cluster) == []


def test_what_is_on_the_move_is_called_off_by_a_plan_of_its_own_and_tried_again_on_resuming(
    cluster, operator, client_of, watch
):
    client = client_of(operator)
    stage(client, cluster)
    before = cluster.moves.assignments(["orders"])
    number = step().pk
    shown = client.get(f"{ADDRESS}{number}/cancel/")
    assert b"no further batch begins until it is resumed" in shown.content
    assert under_way(cluster) == [0, 1]
    assert client.post(f"{ADDRESS}{number}/cancel/", {"digest": digest_in(shown)}).status_code == 302
    assert under_way(cluster) == []
    assert {place: set(has) for place, has in cluster.moves.assignments(["orders"]).items()} == {
        place: set(has) for place, has in before.items()
    }
    assert StagedMove.objects.get().state == "paused"
    watch.look(), watch.look()
    step()
    assert under_way(cluster) == []
    actions = [event.action for event in AuditEvent.objects.order_by("pk")]
    assert "pause staged move" in actions
    assert actions.count("call off move") == 1


def test_calling_off_nothing_never_calls_off_somebody_elses(cluster, operator, client_of):
    cluster.create_topic("others", 1, 2)
    (place,) = cluster.moves.assignments(["others"])
    cluster.moves.alter({place: (3, 2) if 3 not in cluster.moves.assignments(["others"])[place] else (1, 2)})
    client = client_of(operator)
    stage(client, cluster)
    others = dict(cluster.moves.under_way())
    number = StagedMove.objects.get().pk
    shown = client.get(f"{ADDRESS}{number}/cancel/")
    assert b"no partition of it is being reassigned" in shown.content
    client.post(f"{ADDRESS}{number}/cancel/", {"digest": digest_in(shown)})
    assert cluster.moves.under_way() == others


@pytest.mark.parametrize("address", ["", "1/pause", "1/resume", "1/call-off", "1/cancel/", "1/throttle/"])
@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused(person, address, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))
    assert client.post(f"{ADDRESS}{address}", form_for(cluster)).status_code == 403


def test_who_may_not_move_one_of_its_topics_may_do_nothing_but_brake(cluster, operator, client_of, give_rule):
    stage(client_of(operator), cluster)
    number = StagedMove.objects.get().pk
    give_rule(operator, "nothing", "topic", "orders")
    client = client_of(operator)
    assert b"data-staged" not in client.get("/placement/").content
    for deed in ("resume", "call-off", "cancel/", "throttle/"):
        assert client.post(f"{ADDRESS}{number}/{deed}").status_code == 403
    assert client.post(ADDRESS, form_for(cluster)).status_code == 403
    assert client.post(f"{ADDRESS}{number}/pause").status_code == 302


def test_who_may_not_any_more_when_the_time_comes_moves_nothing(cluster, operator, client_of, give_rule):
    stage(client_of(operator), cluster)
    give_rule(operator, "nothing", "topic", "orders")
    paused = step()
    assert (
        paused.sentence
        == "Paused: operator may not move these partitions any more. A user with the right can resume it."
    )
    operator.delete()
    StagedMove.objects.update(state="running")
    assert step().state == "paused"
    assert under_way(cluster) == []


def test_who_has_resumed_it_is_who_may_not_any_more(cluster, operator, administrator, client_of):
    stage(client_of(operator), cluster)
    number = StagedMove.objects.get().pk
    client_of(operator).post(f"{ADDRESS}{number}/pause")
    client_of(administrator).post(f"{ADDRESS}{number}/resume")
    administrator.groups.clear()
    paused = step()
    assert paused.sentence.startswith("Paused: administrator may not move these partitions any more.")
    assert paused.actor_name == "operator"  # who began it


def test_a_freeze_at_the_time_it_begins_has_it_wait_and_then_it_goes_on(cluster, operator, client_of, monkeypatch):
    now = timezone.now()
    stage(client_of(operator), cluster)
    rule_text = {"kind": "freeze", "actions": ["move*"], "objects": ["*"], "why": "the fair"}
    rule_text |= {"from": (now - SOON).isoformat(), "to": (now + SOON).isoformat()}
    rule = ChangeRule.objects.create(name="fair", definition=rule_text, actor_name="root")
    assert step().sentence.startswith("Waits: It may not be made now (fair: the fair); it is possible from ")
    assert under_way(cluster) == []
    rule.delete()
    step()
    assert under_way(cluster) == [0, 1]


def test_a_window_is_asked_about_the_time_it_begins_and_not_about_now(cluster, operator, client_of):
    now = datetime.now(UTC)
    begins = now + SOON
    day = begins.strftime("%a").lower()
    window = {"begins": f"{begins:%H:%M}", "ends": f"{begins + timedelta(hours=1):%H:%M}", "days": [day], "zone": "UTC"}
    rule = {"kind": "window", "actions": ["move*"], "objects": ["*"]} | window
    ChangeRule.objects.create(name="night", definition=rule, actor_name="root")
    stage(client_of(operator), cluster)
    assert "It may not be made now (night)" in ProposedChange.objects.get().sentence
    assert not StagedMove.objects.exists()
    stage(client_of(operator), cluster, begins=begins.isoformat())
    assert StagedMove.objects.get().word == "scheduled"
    assert ProposedChange.objects.count() == 1


def test_a_second_person_is_asked_when_it_is_planned_and_not_for_each_batch(cluster, operator, client_of):
    stage(client_of(operator), cluster)
    rule = {"kind": "approval", "actions": ["*"], "objects": ["*"]}
    ChangeRule.objects.create(name="two", definition=rule, actor_name="root")
    step()
    assert under_way(cluster) == [0, 1]
    cluster.moves.arrive()
    StagedMove.objects.all().delete()
    stage(client_of(operator), cluster)
    assert ProposedChange.objects.get().needs_person
    assert not StagedMove.objects.exists()


@pytest.mark.parametrize(("action", "objects"), [("move partitions", "orders"), ("resume staged move", "*")])
def test_resuming_is_moving_and_waits_for_whom_and_what_moving_waits_for(action, objects, cluster, operator, client_of):
    client = client_of(operator)
    stage(client, cluster)
    number = StagedMove.objects.get().pk
    client.post(f"{ADDRESS}{number}/pause")
    rule = {"kind": "approval", "actions": [action], "objects": [objects]}
    ChangeRule.objects.create(name="two", definition=rule, actor_name="root")
    assert client.post(f"{ADDRESS}{number}/resume").url == f"/changes/{ProposedChange.objects.get().pk}/"
    assert StagedMove.objects.get().state == "paused"


@pytest.mark.parametrize("by_part", [False, True], ids=["by a form", "by a button of htmx"])
def test_resuming_that_is_refused_now_is_told_why(by_part, cluster, operator, client_of):
    client = client_of(operator)
    stage(client, cluster)
    number = StagedMove.objects.get().pk
    client.post(f"{ADDRESS}{number}/pause")
    rule = {"kind": "freeze", "actions": ["*"], "objects": ["*"], "outside": "refuse", "why": "the fair"}
    rule |= {"from": "2000-01-01T00:00", "to": "2100-01-01T00:00"}
    ChangeRule.objects.create(name="fair", definition=rule, actor_name="root")
    answer = client.post(f"{ADDRESS}{number}/resume", headers={"hx-request": "true"} if by_part else {})
    assert answer.status_code == (200 if by_part else 409)
    text = client.get("/placement/").content if by_part else answer.content
    assert b"the fair" in text
    assert StagedMove.objects.get().state == "paused"


def test_in_read_only_mode_it_does_not_begin_and_goes_on_if_it_had(cluster, operator, client_of, watch):
    stage(client_of(operator), cluster)
    mode = ReadOnlyMode.objects.create(scope="console", by_name="root", reason="audit")
    assert step().sentence.startswith("Waits: ")
    assert under_way(cluster) == []
    mode.delete()
    step()
    ReadOnlyMode.objects.create(scope="console", by_name="root", reason="audit")
    arrive(cluster, watch)
    step()
    assert under_way(cluster) == [2, 3]


def test_a_plan_that_was_shown_for_another_world_is_refused(cluster, operator, client_of):
    client, sent = client_of(operator), form_for(cluster)
    digest = digest_in(client.post(ADDRESS, sent))
    move_elsewhere(cluster)
    assert client.post(ADDRESS, sent | {"digest": digest}).status_code == 409
    assert not StagedMove.objects.exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"begins": "2020-01-01T00:00:00Z"}, "That time is past"),
        ({"begins": "2999-01-01T00:00:00Z"}, "at most 30 days ahead"),
        ({"begins": "tomorrow"}, "A day and a time"),
        ({"size": "0"}, "greater than or equal to 1"),
        ({"throttle": "-1"}, "greater than or equal to 0.001"),
        ({"moves": "[]"}, "no replicas by topic and partition"),
        ({"moves": '{"orders": {"0": ["<b>"]}}'}, "are no brokers"),
    ],
)
def test_what_cannot_be_is_told(more, says, cluster, operator, client_of):
    answer = client_of(operator).post(ADDRESS, form_for(cluster) | more)
    assert says in answer.content.decode()
    sent = form_for(cluster) | more | {"digest": "any"}
    assert client_of(operator).post(ADDRESS, sent).status_code in (409, 422)
    assert not StagedMove.objects.exists()


def test_partitions_that_another_one_has_are_refused(cluster, operator, client_of):
    stage(client_of(operator), cluster)
    shown = client_of(operator).post(ADDRESS, form_for(cluster))
    assert "Another move in batches has orders-0 and 4 more already" in shown.content.decode()


def test_a_cluster_that_does_not_answer_is_asked_again(cluster, operator, client_of, monkeypatch):
    stage(client_of(operator), cluster)

    def away(_topics):
        raise ClusterUnreachableError("No broker answered in time.")

    with monkeypatch.context() as patched:
        patched.setattr(cluster.moves, "assignments", away)
        assert step().sentence == "Waits: No broker answered in time."
    step()
    assert under_way(cluster) == [0, 1]


def test_a_worker_that_died_after_a_batch_began_finds_it(cluster, operator, client_of, monkeypatch):
    stage(client_of(operator), cluster)
    with monkeypatch.context() as patched:
        patched.setattr(advancing, "settle", lambda *_: None)
        advance(StagedMove.objects.get())
    assert under_way(cluster) == [0, 1]
    assert step().state == "running"
    assert Reassignment.objects.count() == 1


def rates(cluster) -> list[str | None]:
    return [broker[RATE_KEYS[0]] for broker in cluster.moves.throttles([1, 2, 3], []).brokers.values()]


def throttle(client, number: int, typed: str) -> None:
    address = f"{ADDRESS}{number}/throttle/"
    shown = client.get(f"{address}?throttle={typed}")
    client.post(address, {"throttle": typed, "digest": digest_in(shown)})


def test_the_throttle_is_changed_while_it_runs_and_gone_at_the_end(cluster, operator, client_of, watch):
    client = client_of(operator)
    stage(client, cluster, throttle="1")
    number = step().pk
    assert rates(cluster) == ["1000000"] * 3
    shown = client.get(f"{ADDRESS}{number}/throttle/?throttle=2.5")
    assert (
        client.post(f"{ADDRESS}{number}/throttle/", {"throttle": "2.5", "digest": digest_in(shown)}).status_code == 302
    )
    assert rates(cluster) == ["2500000"] * 3
    assert Reassignment.objects.get().rate == StagedMove.objects.get().rate == 2_500_000
    arrive(cluster, watch)
    assert rates(cluster) == [None] * 3
    step()
    assert rates(cluster).count("2500000") >= 2
    throttle(client, number, "")
    assert rates(cluster) == [None] * 3
    throttle(client, number, "4")
    assert "4000000" in rates(cluster)
    arrive(cluster, watch)
    assert rates(cluster) == [None] * 3
    assert AuditEvent.objects.filter(action="change throttle of move", result="done").count() == 3


def test_a_throttle_that_was_being_changed_when_somebody_died_is_put_back(
    cluster, operator, client_of, watch, monkeypatch
):
    client = client_of(operator)
    stage(client, cluster, throttle="1")
    number = step().pk
    does = cluster.moves.set_throttles

    def dies(throttles):
        does(throttles)
        raise ClusterUnreachableError("No broker answered in time.")

    with monkeypatch.context() as patched:
        patched.setattr(cluster.moves, "set_throttles", dies)
        throttle(client, number, "2")
    assert rates(cluster) == ["2000000"] * 3
    arrive(cluster, watch)
    assert rates(cluster) == [None] * 3


def test_another_throttled_move_is_waited_for(cluster, operator, client_of):
    stage(client_of(operator), cluster, throttle="1")
    both = {"former": {"others": {"0": [1]}}, "wanted": {"others": {"0": [2]}}}
    other = Reassignment.objects.create(
        state="running", actor_name="x", action="move", object_name="others", partition_count=1, rate=1, **both
    )
    assert step().sentence == "Waits: a throttled move is under way (others)."
    other.delete()
    step()
    assert under_way(cluster) == [0, 1]


def test_the_page_shows_how_far_it_is_to_who_may_see_it(cluster, operator, viewer, client_of):
    stage(client_of(operator), cluster)
    step()
    text = client_of(viewer).get("/placement/").content.decode()
    assert "Batch 1: 2 partitions being reassigned." in text
    assert "0 of 5" in text
    assert "staged-move-throttle" not in text
    assert f'hx-post="{ADDRESS}{StagedMove.objects.get().pk}/pause" hx-swap="none" disabled' in text
    assert (
        f"{ADDRESS}{StagedMove.objects.get().pk}/throttle/" in client_of(operator).get("/placement/").content.decode()
    )
