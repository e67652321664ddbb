"""Planning a change of the ensemble and beginning it: what is shown, who may, and what refuses it."""

import html
import re

import pytest
from django.contrib.auth.models import Group

from console.cluster.zookeeper.models import EnsembleChange
from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.processes.models import ManagedProcess

ADDRESS = "/zookeeper/change/"


def plan(client, kind: str = "grow", server: object = "") -> tuple[str, str]:
    text = html.unescape(client.get(ADDRESS, {"kind": kind, "server": server}).content.decode())
    digest = re.search(r'name="digest" value="(\w+)"', text)
    return text, digest[1] if digest else ""


def begin(client, kind: str = "grow", server: object = "", digest: str | None = None):
    digest = plan(client, kind, server)[1] if digest is None else digest
    return client.post(ADDRESS, {"kind": kind, "server": server, "digest": digest}, follow=True)


@pytest.fixture
def client(operator, client_of):
    return client_of(operator)


def test_a_plan_to_grow_says_who_joins_and_what_holds_before_and_after(managed, client):
    managed(1)
    text, digest = plan(client)

    assert "127.0.0.1:2889:3889:participant;127.0.0.1:2182" in text
    assert "server 3" in text
    assert "Before: 1 member, 1 needed, none may fail. After: 3 members, 2 needed, 1 may fail." in text
    assert "zookeeper.connect" in text
    assert "Undo: until the members change it can be called off" in text
    assert "reconfig -add server.2=" in text
    assert digest


def test_an_operator_begins_it_and_the_audit_knows(managed, client):
    managed(1)
    response = begin(client)
    change = EnsembleChange.objects.get()

    assert "Servers 2 and 3 join" in response.content.decode()
    assert (change.kind, [item.number for item in change.joining], change.leaving) == ("grow", [2, 3], [])
    event = AuditEvent.objects.get()
    assert (event.actor_name, event.action, event.result) == ("operator", "grow ensemble", "done")
    assert event.after["server 2"].endswith("127.0.0.1:2182")


def test_a_plan_to_shrink_keeps_the_first_server(managed, client):
    managed(3)
    text, _ = plan(client, "shrink")
    assert "The leader stays: no election is needed." in text
    begin(client, "shrink")
    assert EnsembleChange.objects.get().leaving == [2, 3]


def test_replacing_the_leader_says_that_there_is_an_election(managed, client):
    managed(3)
    text, _ = plan(client, "replace", 1)
    assert "Server 1 leads: when it goes the others elect a leader" in text
    begin(client, "replace", 1)
    change = EnsembleChange.objects.get()
    assert ([item.number for item in change.joining], change.leaving) == ([4], [1])


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_begins(person, request, managed, client_of):
    managed(1)
    client = client_of(request.getfixturevalue(person))
    assert client.get(ADDRESS, {"kind": "grow"}).status_code == 403
    assert client.post(ADDRESS, {"kind": "grow", "digest": "x"}).status_code == 403
    assert not EnsembleChange.objects.exists()


@pytest.fixture
def limited(viewer, client_of):
    """limited(pattern): a browser of somebody who operates the cluster, but nothing whose name is like that."""

    def take_away(pattern: str):
        viewer.groups.set([Group.objects.get_or_create(name="operator")[0]])
        NameRule.objects.create(user=viewer, resource="process", pattern=pattern, level="nothing")
        return client_of(viewer)

    return take_away


@pytest.mark.parametrize(
    ("count", "kind", "server", "pattern"),
    [
        (1, "grow", "", "zookeeper-3"),
        (3, "shrink", "", "zookeeper-2"),
        (3, "replace", 1, "zookeeper"),
        (3, "replace", 1, "zookeeper-4"),
    ],
)
def test_no_server_joins_or_leaves_by_who_may_do_nothing_with_it(
    count, kind, server, pattern, managed, client, limited
):
    managed(count)
    digest, theirs = plan(client, kind, server)[1], limited(pattern)
    text, offered = plan(theirs, kind, server)

    assert "This concerns processes that your rights do not reach" in text
    assert (digest != "", offered) == (True, "")
    assert begin(theirs, kind, server, digest).status_code == 403
    assert not EnsembleChange.objects.exists()


def test_servers_out_of_reach_that_stay_are_in_nobodys_way(managed, limited):
    managed(3)
    assert begin(limited("zookeeper-2"), "replace", 1).status_code == 200
    assert EnsembleChange.objects.get().leaving == [1]


def test_a_change_is_called_off_by_who_could_have_begun_it(managed, client, limited, collect):
    managed(1)
    collect()
    begin(client)
    change, theirs = EnsembleChange.objects.get(), limited("zookeeper-2")

    assert 'disabled title="This concerns processes' in theirs.get("/zookeeper/").content.decode()
    assert theirs.post(f"/zookeeper/changes/{change.pk}/call-off").status_code == 403
    change.refresh_from_db()
    assert not change.is_called_off


def test_a_plan_of_another_moment_is_refused_with_the_new_one(managed, client):
    fake = managed(1)
    _, digest = plan(client)
    fake.reconfigure([], [], 1)
    response = begin(client, digest=digest)

    assert response.status_code == 409
    assert "has changed since it was shown" in response.content.decode()
    assert not EnsembleChange.objects.exists()
    assert AuditEvent.objects.get().result == "refused"


@pytest.mark.parametrize(
    ("count", "kind", "server", "sentence"),
    [
        (1, "shrink", "", "without it nothing works"),
        (7, "grow", "", "More than 7 members are not made"),
        (3, "replace", 9, "This server is no member now"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(managed, client, count, kind, server, sentence):
    managed(count)
    text, digest = plan(client, kind, server)
    assert sentence in text
    assert not digest


def test_without_a_quorum_nothing_is_begun(managed, client):
    fake = managed(3)
    for port in (2181, 2182):
        fake.fall_silent(("127.0.0.1", port))
    assert "has no quorum now" in plan(client)[0]


def test_members_that_run_elsewhere_are_not_changed(managed, client):
    managed(3)
    ManagedProcess.objects.filter(name="zookeeper-2").delete()
    assert "does not run server 2" in plan(client)[0]


def test_one_change_at_a_time(managed, client):
    managed(1)
    _, digest = plan(client)
    begin(client, digest=digest)
    assert "Another change of the ensemble is under way" in plan(client)[0]
    assert begin(client, digest=digest).status_code == 409
    assert EnsembleChange.objects.count() == 1


def test_ports_and_numbers_that_were_used_are_not_offered_again(managed, client, tmp_path):
    managed(1)
    (tmp_path / "zookeeper-2").mkdir()
    ManagedProcess.objects.filter(name="broker-1").update(ports=[2182])
    text, _ = plan(client)
    assert "server 2" not in text
    assert ";127.0.0.1:2182" not in text
    assert "server 3" in text


def test_an_ensemble_that_does_not_answer_cannot_be_planned(managed, client):
    managed(1).cut_off()
    response = client.get(ADDRESS, {"kind": "grow"})
    assert response.status_code == 503
    assert b"nothing can be planned" in response.content


def test_an_unknown_kind_of_change_is_not_found(managed, client):
    managed(1)
    assert client.get(ADDRESS, {"kind": "explode"}).status_code == 404


def test_the_page_offers_changes_to_operators_only(managed, collect, client, viewer, client_of):
    managed(1)
    collect()
    assert "?kind=grow" in client.get("/zookeeper/").content.decode()
    assert "?kind=grow" not in client_of(viewer).get("/zookeeper/").content.decode()


def test_an_ensemble_from_elsewhere_is_not_offered_to_be_changed(collect, client):
    collect()
    assert "not run by this console" in client.get("/zookeeper/").content.decode()
