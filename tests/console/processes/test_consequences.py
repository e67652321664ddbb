"""What ending a ZooKeeper server means to the others, and that its name is typed where it costs the quorum."""

import pytest
from django.urls import reverse

from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes.guard import FRESH_MS, Ensemble, ServerAbsence, absence_of_server
from console.processes.guard_sentences import server_continuation_sentence, server_harm_warnings
from console.processes.models import ManagedProcess
from console.state.clusters.models import ClusterState
from tests.console.confirming import digest_in


def server(port: int, mode: str = "follower", error: str = "") -> dict:
    return {"address": f"127.0.0.1:{port}", "mode": "" if error else mode, "error": error}


def absence(port: int, *servers: dict, away=(), age_ms=0) -> ServerAbsence:
    ensemble = Ensemble(now_ms=100_000, seen_at_ms=100_000 - age_ms, servers=servers, away=frozenset(away))
    return absence_of_server(port, ensemble)


def harms(*arguments, **more) -> str:
    return " ".join(server_harm_warnings(absence(*arguments, **more)))


THREE = server(2181, "leader"), server(2182), server(2183)


def test_a_zookeeper_alone_is_missed_by_all():
    assert harms(2181, server(2181, "standalone")).startswith(
        "Costs the quorum: 0 of 1 ZooKeeper member are left, and 1 is needed. Brokers go on serving what they have"
    )


def test_one_of_three_is_spared():
    assert harms(2182, *THREE) == ""
    assert server_continuation_sentence(absence(2182, *THREE)) == (
        "It is one of 3 ZooKeeper members: the others go on, none of them may fail then."
    )
    assert "elect a leader" in server_continuation_sentence(absence(2181, *THREE))


@pytest.mark.parametrize(
    ("servers", "away"),
    [((*THREE[:2], server(2183, error="down")), ()), (THREE, (2183,))],
    ids=["down", "asked to end"],
)
def test_the_member_that_makes_the_quorum_is_not_spared(servers, away):
    assert "Costs the quorum: 1 of 3 ZooKeeper members is left, and 2 are needed." in harms(2182, *servers, away=away)
    assert server_continuation_sentence(absence(2182, *servers, away=away)) == ""


def test_a_member_that_is_down_already_is_not_counted_twice():
    servers = *THREE[:2], server(2183, error="down")
    assert harms(2183, *servers) == ""
    assert "the others go on" in server_continuation_sentence(absence(2183, *servers))


def test_where_there_is_no_quorum_none_is_lost():
    servers = server(2181, error="down"), server(2182), server(2183, error="down")
    assert harms(2182, *servers) == ""
    assert "no quorum already" in server_continuation_sentence(absence(2182, *servers))


def test_who_is_outside_of_the_ensemble_or_observes_is_not_missed():
    assert "no voting member" in server_continuation_sentence(absence(2184, *THREE))
    assert "no voting member" in server_continuation_sentence(absence(2184, *THREE, server(2184, "observer")))
    assert harms(2184, *THREE) == ""


def test_what_was_seen_long_ago_or_never_is_not_taken_for_harmless():
    assert "was seen 16\u202fs ago, so it is unknown" in harms(2182, *THREE, age_ms=FRESH_MS + 1_000)
    assert "it is unknown" in harms(2182)


@pytest.mark.parametrize("action", ["stop", "restart"])
def test_who_costs_the_quorum_is_ended_only_with_its_name_typed(action, operator, client, settings):
    ClusterState.objects.create(
        name=DEFAULT_CLUSTER, zookeeper=[server(2181, "leader"), server(2182)], zookeeper_at_ms=now_ms()
    )
    for number in (1, 2):
        ManagedProcess.objects.create(
            name=f"zookeeper-{number}",
            kind="zookeeper",
            host=settings.HOST_NAME,
            spec={"directory": "/data/z", "client_port": 2180 + number},
            ports=[2180 + number],
            observed="running",
            state="healthy",
            desired="running",
            pid=4_000 + number,
        )
    client.force_login(operator)
    shown = client.get(reverse("process-question", args=["zookeeper-2", action]))
    assert "Costs the quorum: 1 of 2 ZooKeeper members is left" in shown.content.decode()
    address = reverse(f"process-{action}", args=["zookeeper-2"])
    refused = client.post(address, {"digest": digest_in(shown)}, headers={"hx-request": "true"})
    assert "type the name exactly, zookeeper-2" in refused.content.decode()
    assert ManagedProcess.objects.get(name="zookeeper-2").request == ""
    client.post(address, {"digest": digest_in(refused), "typed_name": "zookeeper-2"}, headers={"hx-request": "true"})
    assert ManagedProcess.objects.get(name="zookeeper-2").request == action
