"""Keys of zoo.cfg: what the servers say now, what is planned, and what the next start of each is given."""

from pathlib import Path

import pytest

from console.cluster.zookeeper.ensemble import size_advice
from console.cluster.zookeeper.servers import server_processes, spec_of
from console.kit.audit.models import AuditEvent
from console.processes.kinds import kind_named
from console.processes.models import ManagedProcess
from tests.console.cluster.zookeeper.conftest import server
from tests.console.confirming import digest_in

ADDRESS = "/zookeeper/settings/"


@pytest.fixture
def client(operator, client_of):
    return client_of(operator)


def specs() -> list[dict]:
    return [row.spec["settings"] for row in server_processes().values()]


def test_form_shows_what_each_server_says_and_the_documents_defaults(managed, client):
    managed(2)
    directory = Path(ManagedProcess.objects.get(name="zookeeper").spec["directory"])
    directory.mkdir(parents=True)
    (directory / "zoo.cfg").write_text("tickTime=500\ninitLimit=20\nsyncLimit=10\n")
    page = client.get(ADDRESS).content.decode()
    assert 'value="500 / 2000"' in page
    assert 'value="20"' in page
    assert "Default 2000, from 100 to 60000." in page
    assert "digest" not in page


def test_an_operator_sets_them_for_every_server_and_for_those_that_join(managed, client):
    managed(3)
    shown = client.get(ADDRESS, {"tickTime": "3000", "initLimit": "20"})
    page = shown.content.decode()
    assert "A follower then may take 60 s to connect and sync. It is given up after 15 s of silence" in page
    assert "restart one after the other, the leader last, under Processes" in page
    assert [line.name for line in shown.context["plan"].lines] == ["tickTime"], "what is so already is no change"
    done = client.post(ADDRESS, {"tickTime": "3000", "initLimit": "20", "digest": digest_in(shown)})
    assert (done.status_code, done.headers["Location"]) == (302, "/zookeeper/")
    assert specs() == [{"tickTime": "3000"}] * 3
    launched = kind_named("zookeeper").launch(ManagedProcess.objects.get(name="zookeeper-2").spec)
    assert launched.arguments[launched.arguments.index("--set") + 1] == "tickTime=3000"
    assert spec_of(server(4), [])["settings"] == {"tickTime": "3000"}
    event = AuditEvent.objects.get()
    assert (event.action, event.before, event.after) == ("set zoo.cfg", {"tickTime": "2000"}, {"tickTime": "3000"})


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"tickTime": "soon"}, "Not a number of type"),
        ({"syncLimit": "0"}, "Invalid value 0 for configuration syncLimit: Value must be at least 1."),
        ({"minSessionTimeout": "61000"}, "must be at most maxSessionTimeout, which is 60000."),
    ],
)
def test_value_that_cannot_be_right_is_refused_before_it_is_written(managed, client, values, sentence):
    managed(1)
    shown = client.get(ADDRESS, values)
    assert sentence in shown.content.decode().replace("&#x27;", "'")
    assert client.post(ADDRESS, {**values, "digest": digest_in(shown)}).status_code == 409
    assert specs() == [{}]


def test_plan_of_another_moment_is_refused(managed, client):
    managed(1)
    assert client.post(ADDRESS, {"tickTime": "3000", "digest": "x"}).status_code == 409
    assert client.post(ADDRESS, {"digest": "x"}).status_code == 409
    assert specs() == [{}]


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused(person, request, managed, client_of):
    managed(1)
    theirs = client_of(request.getfixturevalue(person))
    assert theirs.get(ADDRESS).status_code == 403
    assert theirs.post(ADDRESS, {"tickTime": "3000", "digest": "x"}).status_code == 403


def test_ensemble_that_runs_elsewhere_has_no_settings_here(client, ensemble):
    assert client.get(ADDRESS).status_code == 404


@pytest.mark.parametrize(
    ("size", "advice"),
    [
        (1, ""),
        (2, "2 members are an even number: 1 would survive as many failures"),
        (3, ""),
        (4, "4 members are an even number: 3 would survive as many failures, with a quorum of 2 instead of 3."),
        (7, ""),
        (8, "8 members are more than 7: every write waits for 5 of them"),
        (9, "9 members are more than 7"),
    ],
)
def test_three_five_or_seven_members_are_well_and_others_are_warned_of(size, advice):
    assert size_advice(size).startswith(advice)
    assert bool(size_advice(size)) == bool(advice)


def test_replacing_a_member_of_an_even_ensemble_says_that_it_stays_even(managed, client):
    managed(4)
    page = client.get("/zookeeper/change/", {"kind": "replace", "server": 4}).content.decode()
    assert "4 members are an even number" in page
    grown = client.get("/zookeeper/change/", {"kind": "grow"}).content.decode()
    assert "even number" not in grown
