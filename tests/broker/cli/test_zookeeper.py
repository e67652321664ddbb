"""`python -m broker zookeeper`: the process becomes the server."""

import socket
from pathlib import Path

import pytest

from broker.cli import zookeeper as cli
from broker.common.errors import StartupError
from tests.zookeeper_server import four_letter_word, free_ports, running_zookeeper


def test_server_moves_to_other_ports_and_is_the_process_that_was_started(tmp_path):
    for _ in range(2):
        ports = tuple(free_ports(3))
        with running_zookeeper(tmp_path / "zookeeper", ports) as server:
            assert server.port == ports[0]
            assert b"QuorumPeerMain" in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
            assert "Mode: leader" in four_letter_word(server.port, b"srvr")
        assert server.process.returncode == 143
    assert (tmp_path / "zookeeper" / "data" / "version-2" / "currentEpoch").read_text() == "2"


def test_taken_port_is_one_sentence_and_nothing_is_started(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StartupError, match=f"cannot listen on 127.0.0.1:{port}"):
            cli.main([str(tmp_path), "--client-port", str(port)])


def test_directory_that_cannot_be_used_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StartupError, match="cannot use"):
        cli.main([str(tmp_path / "file"), "--client-port", str(free_ports(1)[0])])


def test_derived_port_beyond_the_last_asks_for_another(tmp_path):
    with pytest.raises(StartupError, match="give --quorum-port"):
        cli.main([str(tmp_path), "--client-port", "65500"])
