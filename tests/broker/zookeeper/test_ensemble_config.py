"""What an ensemble says of its members, in every shape that ZooKeeper writes."""

import pytest

from broker.zookeeper.ensemble_config import parse_config

THREE = """\
server.10=10.0.0.3:2888:3888:observer;0.0.0.0:2181
server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181
server.2=zk2:2888:3888;2182
version=100000002"""


def test_members_come_in_order_of_their_numbers_with_the_version():
    config = parse_config(THREE)

    assert [member.number for member in config.members] == [1, 2, 10]
    assert config.version == 0x100000002
    assert config.voter_count == 2
    assert config.numbers == {1, 2, 10}


@pytest.mark.parametrize(
    ("line", "address", "role"),
    [
        ("server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181", "127.0.0.1:2181", "participant"),
        ("server.1=h:2888:3888;2181", "h:2181", "participant"),
        ("server.1=h:2888:3888:observer;0.0.0.0:2181", "h:2181", "observer"),
        ("server.1=h:2888:3888", "", "participant"),
        ("server.1=[::1]:2888:3888:participant;[::1]:2181", "[::1]:2181", "participant"),
        ("server.1=a:1:2|b:3:4:participant;a:5", "a:5", "participant"),
        (" server.1 = h:2888:3888:participant;2181 ", "h:2181", "participant"),
    ],
)
def test_a_member_is_reached_where_clients_may_connect(line, address, role):
    (member,) = parse_config(line).members

    assert (member.address, member.role) == (address, role)


@pytest.mark.parametrize("text", ["", "nonsense", "server.x=1:2:3", "version=zz", "group.1=1:2"])
def test_lines_that_name_no_member_are_left_out(text):
    assert parse_config(text).members == ()
    assert parse_config(text).version == 0
