"""The page, the buttons, and who may press them."""

import pytest
from django.contrib.auth.models import Group
from django.template.loader import render_to_string
from django.urls import reverse

from console.access.models import NameRule
from console.clusters.models import Broker, ClusterState
from console.common.figures import moment
from console.plans.digest import digest_of
from console.processes.models import ManagedProcess
from console.rolling_restart.actions import do_begin, do_cancel, do_pause
from console.rolling_restart.models import RollingRestart
from console.rolling_restart.plan import TYPED_NAME, restart_plan


def begin(client, **fields):
    shown = client.get(reverse("rolling-restart"))
    digest = digest_of(restart_plan(), shown.wsgi_request.user)
    return client.post(reverse("rolling-restart-begin"), {"digest": digest, **fields})


def test_a_viewer_sees_the_plan_and_cannot_begin(stage, viewer, client_of):
    client = client_of(viewer)
    page = client.get(reverse("rolling-restart"))
    assert b"3 brokers" in page.content
    assert b"This needs the role operator." in page.content
    assert begin(client).status_code == 403
    assert not RollingRestart.objects.exists()


def test_an_outsider_sees_nothing(stage, outsider, client_of):
    assert client_of(outsider).get(reverse("rolling-restart")).status_code == 403


def test_an_operator_begins_what_the_plan_shows(stage, operator, client_of):
    client = client_of(operator)
    assert begin(client).url == reverse("rolling-restart")
    page = client.get(reverse("rolling-restart"))
    assert b'data-broker="broker-2" data-progress="waiting"' in page.content


def test_a_plan_that_no_longer_holds_is_refused_and_shown_anew(stage, operator, client_of):
    response = client_of(operator).post(reverse("rolling-restart-begin"), {"digest": "another"})
    assert response.status_code == 409
    assert b"changed since the plan was shown" in response.content
    assert not RollingRestart.objects.exists()


@pytest.mark.parametrize("replicas", [[2], [1, 2]])
def test_partitions_without_a_replica_to_spare_are_accepted_by_typing(replicas, stage, operator, client_of):
    stage.add_topic("emoji.zoo", replicas, 2)
    client = client_of(operator)
    refused = begin(client)
    assert refused.status_code == 422
    assert b"emoji.zoo-0" in refused.content
    assert begin(client, typed_name=TYPED_NAME).status_code == 302
    assert RollingRestart.objects.get().accepts_gaps


@pytest.mark.parametrize("gone", [{"observed": "stopped"}, {"request": "stop"}])
def test_with_a_broker_away_it_says_so_and_is_not_begun(gone, stage, operator, client_of):
    client = client_of(operator)
    ManagedProcess.objects.filter(name="broker-3").update(**gone)
    page = client.get(reverse("rolling-restart")).content.decode()
    assert "Broker 3 is away already, and one broker is away at a time" in page
    assert begin(client, typed_name=TYPED_NAME).status_code == 409
    assert not RollingRestart.objects.exists()


def test_a_broker_that_went_since_the_plan_was_shown_makes_another_plan_of_it(stage, operator, client_of):
    client = client_of(operator)
    digest = digest_of(restart_plan(), operator)
    Broker.objects.filter(broker_id=3).update(is_registered=False)
    answer = client.post(reverse("rolling-restart-begin"), {"digest": digest, "typed_name": TYPED_NAME})
    assert answer.status_code == 409
    assert not RollingRestart.objects.exists()


def test_a_plan_from_old_knowledge_says_so_and_is_accepted_by_typing(stage, operator, client_of):
    ClusterState.objects.update(topics_at_ms=1)
    client = client_of(operator)
    assert b"may be wrong: the collector has not looked since" in client.get(reverse("rolling-restart")).content
    assert begin(client).status_code == 422
    assert begin(client, typed_name=TYPED_NAME).status_code == 302


@pytest.mark.parametrize(("state", "word"), [("cancelled", "called off"), ("done", "finished")])
def test_one_that_is_over_says_when_it_began_and_ended(state, word, stage, operator):
    restart = do_begin(operator, restart_plan(), accepts_gaps=False)
    do_cancel(operator, restart)
    restart.refresh_from_db()
    restart.state = state
    context = {"restart": restart, "shown_brokers": []}
    html = render_to_string("rolling_restart/progress.html", context)
    assert f"Begun by operator, {moment(restart.started_at)}; {word} {moment(restart.ended_at)}." in html
    assert "ago" not in html


def test_who_may_see_no_process_reads_no_name_of_one(stage, viewer, client_of):
    NameRule.objects.create(user=viewer, resource="process", pattern="*", level="nothing")
    page = client_of(viewer).get(reverse("rolling-restart")).content.decode()
    assert "3 brokers" in page
    assert "broker-" not in page


@pytest.mark.parametrize("button", ["pause", "resume", "cancel"])
@pytest.mark.parametrize("who", ["viewer", "outsider"])
def test_the_buttons_need_the_right_to_operate(button, who, request, stage, operator, client_of):
    restart = do_begin(operator, restart_plan(), accepts_gaps=False)
    client = client_of(request.getfixturevalue(who))
    assert client.post(reverse(f"rolling-restart-{button}", args=[restart.pk])).status_code == 403
    restart.refresh_from_db()
    assert restart.state == "running"


def test_the_buttons_do_what_they_say(stage, operator, client_of):
    restart = do_begin(operator, restart_plan(), accepts_gaps=False)
    client = client_of(operator)
    for button, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        client.post(reverse(f"rolling-restart-{button}", args=[restart.pk]))
        restart.refresh_from_db()
        assert restart.state == state
    page = client.get(reverse("rolling-restart"))
    assert b"Earlier ones" in page.content


@pytest.fixture
def limited(viewer, client_of):
    """A browser of somebody who operates the cluster and two of its three brokers."""
    viewer.groups.set([Group.objects.get_or_create(name="operator")[0]])
    NameRule.objects.create(user=viewer, resource="process", pattern="broker-3", level="nothing")
    return client_of(viewer)


def test_nobody_begins_what_takes_a_broker_out_of_reach(stage, limited):
    page = limited.get(reverse("rolling-restart")).content.decode()
    assert 'disabled title="This concerns processes that your rights do not reach' in page
    assert begin(limited).status_code == 403
    assert not RollingRestart.objects.exists()


@pytest.mark.parametrize("button", ["resume", "cancel"])
def test_only_who_could_have_begun_it_says_how_it_goes_on(button, stage, operator, limited):
    restart = do_begin(operator, restart_plan(), accepts_gaps=False)
    do_pause(operator, restart)
    page = limited.get(reverse("rolling-restart")).content.decode()
    assert page.count('disabled title="This concerns processes that your rights do not reach') == 2
    assert limited.post(reverse(f"rolling-restart-{button}", args=[restart.pk])).status_code == 403
    restart.refresh_from_db()
    assert restart.state == "paused"


def test_whoever_operates_the_cluster_pulls_the_brake(stage, operator, limited):
    restart = do_begin(operator, restart_plan(), accepts_gaps=False)
    limited.post(reverse("rolling-restart-pause", args=[restart.pk]))
    restart.refresh_from_db()
    assert restart.state == "paused"
