"""What is in the way of a new broker, and what its plan says."""

import pytest

from console.processes.addition import AdditionFacts, addition_plan, next_broker_id, next_port

SPEC = {
    "broker_id": 4,
    "port": 9095,
    "metrics_port": 9195,
    "directory": "/data/broker-4",
    "log_dirs": ["/data/a", "/data/b"],
    "rack": "east",
    "zookeeper": "127.0.0.1:2181",
    "zookeeper_digest_file": "",
    "first_properties": {},
}


def around(**given) -> AdditionFacts:
    usual = {"names": {"broker-1"}, "ports": {9092: "broker-1"}, "registered": {1}, "directories": {"/one": "broker-1"}}
    return AdditionFacts(**(usual | given))


def test_plan_shows_every_key_that_is_written_and_how_to_go_back():
    plan = addition_plan(SPEC, around())
    assert plan.after == {
        "broker.id": 4,
        "listeners": "PLAINTEXT://127.0.0.1:9095",
        "log.dirs": "/data/a,/data/b",
        "broker.rack": "east",
        "metrics.listener": "127.0.0.1:9195",
        "zookeeper.connect": "127.0.0.1:2181",
    }
    assert plan.object_name == "broker-4"
    assert plan.obstacle == ""
    assert "remove it" in plan.undo


def test_plan_of_a_secured_broker_shows_what_protects_it():
    after = addition_plan(SPEC | {"is_secure": True}, around()).after
    assert after["listeners"] == "SASL_SSL://127.0.0.1:9095"
    assert "AclAuthorizer" in after["authorizer.class.name"]
    assert after["ssl.keystore.location"].endswith("broker.pem")


@pytest.mark.parametrize(
    ("given", "obstacle"),
    [
        ({"names": {"broker-4"}}, "There is a process called broker-4 already."),
        ({"registered": {4}}, "A broker 4 that this console does not run is registered in the cluster."),
        ({"ports": {9095: "zookeeper"}}, "Port 9095 belongs to zookeeper."),
        ({"ports": {9195: "broker-1"}}, "Port 9195 belongs to broker-1."),
        ({"listening": {9095}}, "Port 9095 is taken by another program."),
        ({"directories": {"/data/b": "broker-1"}}, "/data/b belongs to broker-1."),
        ({"owners": {"/data/a": 7}}, "/data/a is not empty and holds nothing of a broker 4."),
        ({"owners": {"/data/a": None}}, "/data/a is not empty and holds nothing of a broker 4."),
        ({"owners": {"/data/a": 4}}, ""),
    ],
)
def test_each_obstacle_is_one_sentence(given, obstacle):
    assert addition_plan(SPEC, around(**given)).obstacle == obstacle


def test_what_changes_around_makes_another_plan():
    assert addition_plan(SPEC, around()).confirmed != addition_plan(SPEC, around(listening={9095})).confirmed


def test_next_broker_takes_the_next_id_and_a_port_whose_metrics_port_is_free():
    assert next_broker_id({1, 2, 7}) == 8
    assert next_broker_id(()) == 1
    assert next_port({9092, 9192}, [9092]) == 9093
    assert next_port({9092, 9093, 9194}, [9092]) == 9095
