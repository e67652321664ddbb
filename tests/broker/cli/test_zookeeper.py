"""`python -m broker zookeeper`: the process becomes the server."""

import contextlib
import socket
from pathlib import Path

import psutil
import pytest

from broker.cli import zookeeper as cli
from broker.common.errors import StartupError
from tests.barnabas_cluster import await_true
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


def test_a_guarded_server_is_alone_when_it_is_guarded(tmp_path):
    """Who set its quotas has ended, and Java has no child it would never take note of."""
    (tmp_path / "password").write_text("secret\n")
    with running_zookeeper(tmp_path / "zookeeper", super_password_file=tmp_path / "password") as server:
        await_true(lambda: "quota set" in server.log(), "the quotas")
        await_true(lambda: not _others_of(server), "its guard ended")
        assert b"secret" not in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        assert "secret" not in server.log()


def _others_of(server) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter()
        if process.pid != server.process.pid and str(server.directory) in _command_of(process)
    ]


def _command_of(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []
