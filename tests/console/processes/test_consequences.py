"""What ending a ZooKeeper server means to the others."""

from console.processes.consequences import stop_zookeeper_sentence


def server(port: int, mode: str = "follower", error: str = "") -> dict:
    return {"address": f"127.0.0.1:{port}", "mode": "" if error else mode, "error": error}


def test_a_zookeeper_alone_is_missed_by_all():
    assert stop_zookeeper_sentence(2181, [server(2181, "leader")]) == ""
    assert stop_zookeeper_sentence(2181, []) == ""


def test_one_of_three_zookeeper_members_is_spared():
    three = [server(2181, "leader"), server(2182), server(2183)]
    assert stop_zookeeper_sentence(2182, three) == (
        "Stops one of 3 ZooKeeper members: the others go on, none of them may fail then."
    )
    assert "elect a leader" in stop_zookeeper_sentence(2181, three)


def test_the_member_that_makes_the_quorum_is_not_spared():
    assert stop_zookeeper_sentence(2182, [server(2181, "leader"), server(2182), server(2183, error="down")]) == ""


def test_a_member_that_is_down_already_is_not_counted_twice():
    three = [server(2181, "leader"), server(2182), server(2183, error="down")]
    assert "the others go on" in stop_zookeeper_sentence(2183, three)


def test_a_zookeeper_server_outside_of_the_ensemble_is_not_missed():
    assert "no member" in stop_zookeeper_sentence(2184, [server(2181, "leader")])
