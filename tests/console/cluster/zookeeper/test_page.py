"""The page of the ensemble: who is there, how it goes, and who may see it."""

from dataclasses import replace

import pytest

from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.state.clusters.models import ClusterState

ADDRESS = "/zookeeper/"


def member(number: int, mode: str, **facts) -> ZooKeeperView:
    view = ZooKeeperView(f"127.0.0.1:{2180 + number}", mode, "3.9.5", 42, 3, 0.5, number=number, role="participant")
    return replace(view, **facts)


@pytest.fixture
def three(zookeeper):
    zookeeper[:] = [
        member(1, "follower", state="following - broadcast"),
        member(2, "leader", zxid="0x100000009", outstanding_count=4, latency_min_ms=0, latency_max_ms=17),
        member(3, "follower"),
    ]
    return zookeeper


def text_of(client) -> str:
    return client.get(ADDRESS).content.decode()


def test_every_member_is_shown_with_its_role_and_figures(three, collect, viewer, client_of):
    collect()
    text = text_of(client_of(viewer))

    assert text.count("data-member=") == 3
    assert "following - broadcast" in text
    assert "0x100000009" in text
    assert "0 / 0.50 / 17" in text
    assert "3 of 3 serve, 1 may fail" in text


@pytest.mark.parametrize(("down", "sentence"), [(1, "2 of 3 serve, 2 are needed"), (2, "1 of 3 serve, 2 are needed")])
def test_what_is_left_of_the_quorum_is_said(three, collect, viewer, client_of, down, sentence):
    for index in range(down):
        three[2 * index] = ZooKeeperView(three[2 * index].address, error="refuses connections", number=1)
    collect()
    text = text_of(client_of(viewer))

    assert sentence in text
    assert text.count("refuses connections") >= down


def test_one_server_alone_is_called_what_it_is(collect, viewer, client_of):
    collect()
    assert "nothing works without it" in text_of(client_of(viewer))


def test_an_observer_does_not_count_for_the_quorum(three, collect, viewer, client_of):
    three[2] = member(3, "observer", role="observer")
    collect()
    assert "2 of 2 serve, 2 are needed" in text_of(client_of(viewer))


def test_before_the_first_look_the_page_says_what_to_do(db, viewer, client_of):
    assert "BARNABAS_ZOOKEEPER" in text_of(client_of(viewer))


def test_the_members_are_a_file(three, collect, viewer, client_of):
    collect()
    response = client_of(viewer).get(ADDRESS, {"format": "csv"})
    lines = b"".join(response.streaming_content).decode().splitlines()

    assert lines[0].startswith('"server","address","mode","state","role","error","latency_min_ms"')
    assert len(lines) == 4
    assert '"2","127.0.0.1:2182","leader"' in lines[2]


@pytest.mark.usefixtures("listeners")
def test_a_change_is_pushed_to_those_who_look(three, collect, monkeypatch):
    sent = []
    monkeypatch.setattr("console.shell.collector.announce.send_now", lambda messages: sent.extend(messages))
    collect()
    first = [html for group, html in sent if group == "zookeeper"]
    sent.clear()
    collect()
    assert [html for group, html in sent if group == "zookeeper"] == []
    three[0] = replace(three[0], connection_count=99)
    collect()
    (again,) = [html for group, html in sent if group == "zookeeper"]

    assert len(first) == 1
    assert 'id="zookeeper-members"' in again
    assert ">99<" in again


@pytest.mark.parametrize(("person", "status"), [("viewer", 200), ("operator", 200), ("outsider", 403)])
def test_who_may_look_at_the_ensemble(person, status, request, client_of):
    assert client_of(request.getfixturevalue(person)).get(ADDRESS).status_code == status


def test_what_an_older_collector_stored_is_shown_too(collect, viewer, client_of):
    collect()
    ClusterState.objects.update(zookeeper=[{"address": "127.0.0.1:2181", "mode": "leader", "error": "", "gone": 1}])

    assert "127.0.0.1:2181" in text_of(client_of(viewer))


def test_changes_are_offered_for_the_servers_there_are_though_none_answers(managed, operator, client_of):
    managed(3)
    shown = text_of(client_of(operator))

    assert "Shrink…" in shown
    assert "Replace server 3…" in shown


def test_one_server_is_not_shrunk(managed, operator, client_of):
    managed(1)

    assert "Shrink…" not in text_of(client_of(operator))
