"""Which Redis is started: none merely because it stands first on the PATH."""

import pytest

from console.processes.setup import SetupError
from console.shell.launch import redis_server
from console.shell.launch.redis_server import bundled_programs, find_server_program, version_of


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """`on_path("redis-server", "Redis server v=7.2.11 …")`: a program that says so."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def put(name: str, says: str) -> str:
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{says}'\n")
        (tmp_path / name).chmod(0o755)
        return str(tmp_path / name)

    return put


def test_the_bundled_server_is_a_valkey_that_runs_here():
    (bundled,) = bundled_programs()
    assert version_of(bundled) >= (9, 1, 2)


def test_the_bundled_server_is_taken_where_the_machine_has_none(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert [find_server_program()] == bundled_programs()


def test_an_older_one_on_the_path_is_left_alone(on_path):
    older = on_path("redis-server", "Redis server v=5.0.7 sha=0:0 malloc=jemalloc-5.2.1 bits=64")
    assert find_server_program() != older


def test_the_newest_of_all_is_taken(on_path):
    on_path("redis-server", "Redis server v=7.2.11 sha=0:0 malloc=jemalloc bits=64")
    newest = on_path("valkey-server", "Valkey server v=99.0.6 sha=0:0 malloc=jemalloc bits=64")
    assert find_server_program() == newest


def test_one_that_does_not_say_its_version_is_not_trusted(on_path, monkeypatch):
    silent = on_path("redis-server", "hello")
    assert find_server_program() != silent
    monkeypatch.setattr(redis_server, "find_spec", lambda _name: None)
    monkeypatch.setattr(redis_server, "SERVER_PROGRAMS", ("redis-server",))
    with pytest.raises(SetupError, match=r"No program of Redis or Valkey 7\.0 or newer"):
        find_server_program()
