"""Who has a port, by the real /proc and by ones made up."""

import os
import socket

import pytest

from broker.net.port_holder import port_holder


def test_the_process_that_listens_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert f"process {os.getpid()} (" in port_holder(taken.getsockname()[1])


def test_a_connection_that_was_given_the_port_is_named_too():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as outgoing:
        assert f"process {os.getpid()} (" in port_holder(outgoing.getsockname()[1])


@pytest.fixture
def proc(tmp_path):
    """Where a socket on port 9092 exists and no process shows it."""
    (tmp_path / "net").mkdir()
    (tmp_path / "net/tcp").write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100\n"
    )
    (tmp_path / "sys/net/ipv4").mkdir(parents=True)
    (tmp_path / "sys/net/ipv4/ip_local_port_range").write_text("32768\t60999\n")
    (tmp_path / "17/fd").mkdir(parents=True)
    return tmp_path


def test_a_process_nobody_may_look_into_is_said_to_be_one(proc):
    assert port_holder(0x2384, proc) == "a process that is not ours to see has it"


def test_a_file_that_is_closed_meanwhile_hides_none_of_the_others(proc):
    """It is listed, and cannot be read any more, as what is no link."""
    for number in (1, 2, 3, 5, 6, 7):
        (proc / f"17/fd/{number}").touch()
    (proc / "17/fd/4").symlink_to("socket:[4242]")
    (proc / "17/comm").write_text("java\n")
    assert port_holder(0x2384, proc) == "process 17 (java) has it"


def test_a_port_that_outgoing_connections_may_be_given_is_said_to_be_one(proc):
    assert "32768 to 60999" in port_holder(40_000, proc)


def test_nothing_is_said_where_nothing_is_known(proc, tmp_path):
    assert port_holder(9093, proc) == ""
    assert port_holder(9092, tmp_path / "no proc") == ""
