"""The page, the buttons, and who may press them."""

import pytest
from django.contrib.auth.models import Group
from django.template.loader import render_to_string
from django.urls import reverse

from console.automation.rolling_restart.models import RollingRestart
from console.automation.rolling_restart.plan import OBJECT_NAME
from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.common.figures import moment
from console.kit.operations.actions import do_call_off, do_pause
from console.processes.models import ManagedProcess
from console.state.clusters.models import Broker, ClusterState
from tests.console.automation.rolling_restart.conftest import begun_by
from tests.console.confirming import digest_in

ADDRESS = "/processes/+rolling-restart/"


def begin(client, **fields):
    return client.post(ADDRESS, {"digest": digest_in(client.get(ADDRESS)), **fields})


def test_a_viewer_sees_the_plan_and_cannot_begin(stage, viewer, client_of):
    client = client_of(viewer)
    page = client.get(ADDRESS)
    assert b"3 brokers" in page.content
    assert b"This needs the role operator." in page.content
    assert begin(client).status_code == 403
    assert not RollingRestart.objects.exists()


def test_an_outsider_sees_nothing(stage, outsider, client_of):
    assert client_of(outsider).get(ADDRESS).status_code == 403


def test_an_operator_begins_what_the_plan_shows(stage, operator, client_of):
    client = client_of(operator)
    assert begin(client).url == ADDRESS
    page = client.get(ADDRESS)
    assert b'data-broker="broker-2" data-progress="waiting"' in page.content


def test_a_plan_that_no_longer_holds_is_refused_and_shown_anew(stage, operator, client_of):
    response = client_of(operator).post(ADDRESS, {"digest": "another"})
    assert response.status_code == 409
    assert b"has changed since it was shown" in response.content
    assert not RollingRestart.objects.exists()


def test_what_was_begun_and_what_was_refused_are_on_the_record(stage, operator, client_of):
    client = client_of(operator)
    client.post(ADDRESS, {"digest": "another"})
    begin(client)
    done, refused = AuditEvent.objects.order_by("-id")
    assert (refused.action, refused.result) == ("begin rolling restart", "refused")
    assert (done.action, done.object_type, done.object_name) == (
        "begin rolling restart",
        "rolling restart",
        "all brokers",
    )
    assert done.after == {"brokers": ["broker-1", "broker-2", "broker-3"], "accepts gaps": False}


def test_a_second_one_is_refused_beside_the_progress_of_the_first(stage, operator, client_of):
    client = client_of(operator)
    shown = digest_in(client.get(ADDRESS))
    client.post(ADDRESS, {"digest": shown})
    answer = client.post(ADDRESS, {"digest": shown})
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "A rolling restart is under way already." in page
    assert 'id="rolling-restart"' in page
    assert RollingRestart.objects.count() == 1


def test_where_no_broker_runs_here_there_is_none_to_restart(db, operator, client_of):
    client = client_of(operator)
    assert b"This console runs no broker" in client.get(ADDRESS).content
    begin_without = client.post(ADDRESS, {"digest": "another"})
    assert begin_without.status_code == 409
    assert not RollingRestart.objects.exists()


@pytest.mark.parametrize("replicas", [[2], [1, 2]])
def test_partitions_without_a_replica_to_spare_are_accepted_by_typing(replicas, stage, operator, client_of):
    stage.add_topic("emoji.zoo", replicas, 2)
    client = client_of(operator)
    refused = begin(client)
    assert refused.status_code == 422
    assert b"emoji.zoo-0" in refused.content
    assert begin(client, typed_name=OBJECT_NAME).status_code == 302
    assert RollingRestart.objects.get().accepts_gaps


@pytest.mark.parametrize("gone", [{"observed": "stopped"}, {"request": "stop"}])
def test_with_a_broker_away_it_says_so_and_is_not_begun(gone, stage, operator, client_of):
    client = client_of(operator)
    ManagedProcess.objects.filter(name="broker-3").update(**gone)
    page = client.get(ADDRESS).content.decode()
    assert "Broker 3 is away already, and one broker is away at a time" in page
    assert begin(client, typed_name=OBJECT_NAME).status_code == 409
    assert not RollingRestart.objects.exists()


def test_a_broker_that_went_since_the_plan_was_shown_makes_another_plan_of_it(stage, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.get(ADDRESS))
    Broker.objects.filter(broker_id=3).update(is_registered=False)
    answer = client.post(ADDRESS, {"digest": digest, "typed_name": OBJECT_NAME})
    assert answer.status_code == 409
    assert not RollingRestart.objects.exists()


def test_a_plan_from_old_knowledge_says_so_and_is_accepted_by_typing(stage, operator, client_of):
    ClusterState.objects.update(topics_at_ms=1)
    client = client_of(operator)
    assert b"may be wrong: the collector has not looked since" in client.get(ADDRESS).content
    assert begin(client).status_code == 422
    assert begin(client, typed_name=OBJECT_NAME).status_code == 302


@pytest.mark.parametrize(("state", "word"), [("called off", "called off"), ("done", "finished")])
def test_one_that_is_over_says_when_it_began_and_ended(state, word, stage, operator):
    restart = begun_by(operator)
    do_call_off(operator, restart)
    restart.refresh_from_db()
    restart.state = state
    context = {"operation": restart, "shown_brokers": []}
    html = render_to_string("rolling_restart/progress.html", context)
    assert f"Begun by operator, {moment(restart.started_at)}; {word} {moment(restart.ended_at)}." in html
    assert "ago" not in html


def test_who_may_see_no_process_reads_no_name_of_one(stage, viewer, client_of):
    NameRule.objects.create(user=viewer, resource="process", pattern="*", level="nothing")
    page = client_of(viewer).get(ADDRESS).content.decode()
    assert "3 brokers" in page
    assert "broker-" not in page


@pytest.mark.parametrize("button", ["pause", "resume", "call-off"])
@pytest.mark.parametrize("who", ["viewer", "outsider"])
def test_the_buttons_need_the_right_to_operate(button, who, request, stage, operator, client_of):
    restart = begun_by(operator)
    client = client_of(request.getfixturevalue(who))
    assert client.post(reverse(f"rolling-restart-{button}", args=[restart.pk])).status_code == 403
    restart.refresh_from_db()
    assert restart.state == "running"


def test_the_buttons_do_what_they_say(stage, operator, client_of):
    restart = begun_by(operator)
    client = client_of(operator)
    for button, state in (("pause", "paused"), ("resume", "running"), ("call-off", "called off")):
        client.post(reverse(f"rolling-restart-{button}", args=[restart.pk]))
        restart.refresh_from_db()
        assert restart.state == state
    page = client.get(ADDRESS)
    assert b"Earlier ones" in page.content


@pytest.fixture
def limited(viewer, client_of):
    """A browser of somebody who operates the cluster and two of its three brokers."""
    viewer.groups.set([Group.objects.get_or_create(name="operator")[0]])
    NameRule.objects.create(user=viewer, resource="process", pattern="broker-3", level="nothing")
    return client_of(viewer)


def test_nobody_begins_what_takes_a_broker_out_of_reach(stage, limited):
    page = limited.get(ADDRESS).content.decode()
    assert 'aria-disabled="true" title="This concerns processes that your rights do not reach' in page
    assert begin(limited).status_code == 403
    assert not RollingRestart.objects.exists()


@pytest.mark.parametrize("button", ["resume", "call-off"])
def test_only_who_could_have_begun_it_says_how_it_goes_on(button, stage, operator, limited):
    restart = begun_by(operator)
    do_pause(operator, restart)
    page = limited.get(ADDRESS).content.decode()
    assert page.count('disabled title="This concerns processes that your rights do not reach') == 2
    assert limited.post(reverse(f"rolling-restart-{button}", args=[restart.pk])).status_code == 403
    restart.refresh_from_db()
    assert restart.state == "paused"


def test_whoever_operates_the_cluster_pulls_the_brake(stage, operator, limited):
    restart = begun_by(operator)
    limited.post(reverse("rolling-restart-pause", args=[restart.pk]))
    restart.refresh_from_db()
    assert restart.state == "paused"
