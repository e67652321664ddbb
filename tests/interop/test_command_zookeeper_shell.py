"""ZooKeeper's shell, on what brokers and kazoo wrote, and on what it writes itself."""

import json
import os

import pytest
from kazoo.client import KazooClient

from tests.typed import typed, typed_in_shell
from tests.zookeeper_server import free_ports

HEAD = "Connecting to {}\n\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null zxid: -1\n"


@pytest.fixture
def shell(cluster, name):
    """One command in a path of the test's own."""
    with_path = f"{cluster.zookeeper.connect}/{name}"
    root = KazooClient(cluster.zookeeper.connect.partition("/")[0])
    root.start()
    root.ensure_path(with_path[with_path.index("/") :])
    root.stop()
    root.close()

    def one(*words: str):
        done = typed("zookeeper-shell", with_path, *words)
        assert done.out.startswith(HEAD.format(with_path))
        return done.status, done.out.removeprefix(HEAD.format(with_path)), done.err

    return one


def test_znodes_of_brokers_are_listed_and_read(cluster):
    connect = cluster.zookeeper.connect
    listed = typed_in_shell("zkCli.sh", "-server", connect, "ls", "/brokers")
    assert listed == (0, f"{HEAD.format(connect)}[ids, seqid, topics]\n", "")
    assert typed("zookeeper-shell", connect, "ls", "/brokers/ids").out.splitlines()[-1] == "[1, 2, 3]"
    broker = json.loads(typed("zookeeper-shell", connect, "get", "/brokers/ids/2").out.splitlines()[-1])
    assert broker["port"] == cluster.broker(2).port


def test_a_znode_is_made_changed_looked_at_and_taken_away(shell):
    assert shell("create", "/a", "hello") == (0, "", "Created /a\n")
    assert shell("create", "/a", "again") == (1, "", "Node already exists: /a\n")
    assert shell("create", "/none") == (0, "", "Created /none\n")
    assert shell("get", "/none") == (0, "null\n", "")
    assert shell("create", "-s", "/a/s-", "x") == (0, "", "Created /a/s-0000000000\n")
    assert shell("set", "/a", "-5") == (0, "", "")
    assert shell("set", "-v", "99", "/a", "x") == (1, "", "version No is not valid : /a\n")
    status, out, _ = shell("get", "-s", "/a")
    assert status == 0
    assert out.startswith("-5\ncZxid = 0x")
    assert out.endswith("\nephemeralOwner = 0x0\ndataLength = 2\nnumChildren = 1\n")
    assert shell("stat", "/a")[1] == out.removeprefix("-5\n")
    assert shell("ls", "-R", "/") == (0, "/\n/a\n/a/s-0000000000\n/none\n", "")
    assert shell("delete", "/a") == (1, "", "Node not empty: /a\n")
    assert shell("deleteall", "/a") == (0, "", "")
    assert shell("ls", "/a") == (1, "", "Node does not exist: /a\n")
    assert shell("getAllChildrenNumber", "/") == (0, "1\n", "")


def test_what_kazoo_wrote_is_read_and_what_the_shell_wrote_is_read_by_kazoo(cluster, name):
    kazoo = KazooClient(cluster.zookeeper.connect)
    kazoo.start()
    try:
        kazoo.create(f"/{name}", "grüße".encode())
        assert typed("zookeeper-shell", cluster.zookeeper.connect, "get", f"/{name}").out.endswith("\ngrüße\n")
        typed("zookeeper-shell", cluster.zookeeper.connect, "set", f"/{name}", "zurück")
        assert kazoo.get(f"/{name}")[0].decode() == "zurück"
    finally:
        kazoo.stop()
        kazoo.close()


def test_lines_of_a_pipe_are_commands_one_after_the_other(cluster, name):
    connect = cluster.zookeeper.connect
    lines = f"create /{name} 'two words'\n\nget /{name}\nget /nope\nnonsense\nhistory\nquit\nget /{name}\n"
    done = typed_in_shell("zookeeper-shell.sh", connect, stdin=lines)
    assert done.status == 0
    assert done.out == (
        f"Connecting to {connect}\nWelcome to ZooKeeper!\nJLine support is disabled\n"
        "\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null zxid: -1\n"
        f"two words\n0 - create /{name} 'two words'\n1 - get /{name}\n2 - get /nope\n3 - nonsense\n4 - history\n"
        "\nWATCHER::\n\nWatchedEvent state:Closed type:None path:null zxid: -1\n"
    )
    assert done.err.startswith(f"Created /{name}\nNode does not exist: /nope\nZooKeeper -server host:port ")
    assert done.err.endswith("\nCommand not found: Command not found nonsense\n")
    assert typed_in_shell("zookeeper-shell", connect, stdin="get /nope").status == 1


def test_a_program_gets_json_and_nothing_else(cluster):
    connect = cluster.zookeeper.connect
    assert json.loads(typed("zkCli", "-server", connect, "--output", "json", "ls", "/brokers/ids").out) == [
        "1",
        "2",
        "3",
    ]


def test_what_is_no_command_or_no_server_is_refused_without_a_hang(cluster, monkeypatch):
    unknown = typed("zookeeper-shell", cluster.zookeeper.connect, "nonsense")
    assert unknown.status == 127
    assert "\tls [-s] [-R] path\n" in unknown.err
    assert typed("zookeeper-shell", cluster.zookeeper.connect, "get").err == "get [-s] path\n"
    monkeypatch.setattr("broker.cli.zookeeper_shell._CONNECT_TIMEOUT_MS", 300)
    away = f"127.0.0.1:{free_ports(1)[0]}"
    refused = typed("zookeeper-shell", away, "ls", "/")
    assert (refused.status, refused.out) == (1, f"Connecting to {away}\n")
    assert f"ZooKeeper did not answer at {away} within 300 ms" in refused.err


def test_bytes_that_are_no_text_are_refused_in_a_sentence(cluster):
    connect = cluster.zookeeper.connect
    for words, stdin in (((connect,), b"get /\xff\n"), ((connect, "get", os.fsdecode(b"/\xff")), b"")):
        refused = typed_in_shell("zookeeper-shell", *words, stdin=stdin)
        assert (refused.status, refused.err) == (1, "What was typed is no UTF-8.\n")


def test_a_path_that_is_not_there_is_not_made_by_looking(cluster, name):
    connect = cluster.zookeeper.connect
    assert typed("zookeeper-shell", f"{connect}/{name}", "ls", "/").err == "Node does not exist: /\n"
    assert name not in typed("zookeeper-shell", connect, "ls", "/").out
