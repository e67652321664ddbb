"""`barnabas api` against the console it is for, and against one that lies."""

import json

import pytest

from broker.cli.api import main
from broker.common.errors import StartupError
from tests.console.shell.api.passing import Passing, passing_console


@pytest.fixture
def console(program, operator, cluster, collect, tmp_path, transactional_db):
    cluster.create_topic("orders", 2, 1)
    collect()
    secret = program(operator).secret
    (tmp_path / "token").write_text(secret)
    (tmp_path / "token").chmod(0o600)
    handler = type("Handler", (Passing,), {"answers": {}, "heard": []})
    with passing_console(handler) as address:

        class Console:
            gateway = cluster
            token = tmp_path / "token"
            url = address
            answers, heard = handler.answers, handler.heard

            def run(self, *words):
                return main(["--url", self.url, "--token-file", str(self.token), *words])

        yield Console()


@pytest.fixture
def says(monkeypatch):
    """What is typed at the question."""
    import io

    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_table_is_read(console, capsys):
    assert console.run("get", "topics", "search=ord") == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("topic")
    assert row.startswith("orders")
    assert console.run("get", "topics/orders/partitions", "--output", "json") == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 2


def test_a_change_is_shown_asked_for_and_made(console, capsys, says):
    says("n\n")
    assert console.run("apply", "create-topic", "name=clicks", "partition_count=1", "replication_factor=1") == 1
    assert "Nothing was changed." in capsys.readouterr().err
    says("y\n")
    assert console.run("apply", "create-topic", "name=clicks", "partition_count=1", "replication_factor=1") == 0
    assert "Topic clicks was created." in capsys.readouterr().out
    assert "clicks" in {topic.name for topic in console.gateway.describe_topics()}


def test_what_cannot_be_undone_wants_its_name_typed(console, says):
    says("yes\n")
    assert console.run("apply", "delete-topic", "name=orders") == 1
    assert console.run("apply", "delete-topic", "name=orders", "--yes") == 1
    says("orders\n")
    assert console.run("apply", "delete-topic", "name=orders") == 0
    assert "orders" not in {topic.name for topic in console.gateway.describe_topics()}


def test_a_refusal_is_the_consoles_own_words(console, capsys):
    assert console.run("plan", "make-coffee") == 1
    assert capsys.readouterr().err == "api: There is no action make-coffee; GET actions lists them.\n"


def test_the_token_goes_nowhere_else(console, capsys):
    elsewhere = console.url.replace("127.0.0.1", "localhost")
    console.answers["/api/v1/topics"] = (302, {"Location": f"{elsewhere}/api/v1/brokers"}, b"")
    assert console.run("get", "topics") == 1
    assert [path for path, _ in console.heard] == ["/api/v1/topics"]
    assert "302" in capsys.readouterr().err


@pytest.mark.parametrize("body", [b"not json", b"\xff", b"[" * 100, b"{}"])
def test_an_answer_of_nonsense_is_no_traceback(console, capsys, body):
    console.answers["/api/v1/topics"] = (200, {}, body)
    assert console.run("get", "topics") in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


def test_what_strangers_write_moves_no_cursor(console, capsys):
    rows = {"rows": [{"topic": "a\x1b[2Jb"}], "skip": 0, "more": False}
    console.answers["/api/v1/topics"] = (200, {}, json.dumps(rows).encode())
    assert console.run("get", "topics") == 0
    assert capsys.readouterr().out.splitlines()[1] == "a?[2Jb"


@pytest.mark.parametrize("url", ["http://console.example", "ftp://127.0.0.1", "http://a:b@127.0.0.1", "nonsense"])
def test_where_the_token_could_be_overheard_it_is_not_sent(console, url):
    console.url = url
    with pytest.raises(StartupError):
        console.run("get", "topics")


def test_a_token_others_can_read_is_not_used(console):
    console.token.chmod(0o644)
    with pytest.raises(StartupError, match="chmod 600"):
        console.run("get", "topics")
    assert not console.heard


def test_a_console_that_does_not_answer_is_named(console, capsys):
    console.url = "http://127.0.0.1:1"
    assert console.run("get", "topics") == 1
    assert "does not answer" in capsys.readouterr().err
