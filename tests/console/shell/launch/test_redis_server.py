"""The embedded Redis is reachable by its owner only."""

import stat
import tempfile
from pathlib import Path

import psutil
import pytest

from console.kit.common.redis_urls import default_socket_path
from console.processes.setup import SetupError
from console.shell.launch import redis_server
from console.shell.launch.redis_server import is_embedded, private_directory, redis_service, wait_for_redis
from console.shell.launch.supervisor import Supervisor
from tests.redis_server import server_program


@pytest.mark.usefixtures("directories")
@pytest.mark.parametrize("server", ["bundled", "of the machine"])
def test_it_answers_on_a_private_socket_and_on_no_port(server, tmp_path, monkeypatch):
    program = server_program(server)
    monkeypatch.setattr(redis_server, "find_server_program", lambda: program)
    with tempfile.TemporaryDirectory(prefix="br-") as short:
        path = Path(short) / "redis.sock"
        supervisor = Supervisor(tmp_path / "services", {}, tmp_path)
        identity = supervisor.start(redis_service(f"unix://{path}"))
        try:
            assert wait_for_redis(f"unix://{path}", lambda: None)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert psutil.Process(identity.pid).net_connections("tcp") == []
        finally:
            assert supervisor.stop("redis", lambda: False)


def test_path_too_long_for_a_socket_becomes_a_short_private_one(tmp_path):
    path = default_socket_path(tmp_path / ("deep" * 40))
    assert len(str(path)) <= 107
    private_directory(path.parent)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.parent.rmdir()


def test_link_in_the_place_of_the_private_directory_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SetupError, match="belongs to another user"):
        private_directory(tmp_path / "link")


def test_redis_from_elsewhere_is_not_embedded():
    assert is_embedded({})
    assert not is_embedded({"BARNABAS_REDIS_URL": "redis://cache:6379/0"})
