"""`barnabas diff | apply | drift | export` against the console they are for."""

import json

import pytest

from broker.cli import apply, diff, drift, export
from console.kit.audit.models import AuditEvent
from tests.console.automation.declared.conftest import topics
from tests.console.shell.api.conftest import Program
from tests.console.shell.api.passing import passing_console

SHOP = "scope: {topics: shop.*}\ntopics:\n  shop.a: {partitions: 2, replication_factor: 1}\n"
RUN = {"diff": diff.main, "apply": apply.main, "drift": drift.main, "export": export.main}


@pytest.fixture
def console(operator, cluster, collect, tmp_path, transactional_db):
    cluster.create_topic("shop.old", 1, 1)
    collect()
    (tmp_path / "shop.yaml").write_text(SHOP)
    (tmp_path / "token").write_text(Program(operator).secret)
    (tmp_path / "token").chmod(0o600)
    with passing_console() as url:

        class Console:
            gateway, directory = cluster, tmp_path

            def run(self, command, *words):
                return RUN[command](["--url", url, "--token-file", str(tmp_path / "token"), *words])

        yield Console()


@pytest.fixture
def shop(console):
    return str(console.directory / "shop.yaml")


def digest_told(out: str) -> str:
    return next(line.split()[-1] for line in out.splitlines() if "Digest:" in line)


def test_what_was_reviewed_is_applied_and_then_nothing_drifts(console, shop, capsys):
    assert console.run("drift", shop) == 1
    assert "partition_count: - -> 2" in capsys.readouterr().out
    assert console.run("diff", shop) == 0
    digest = digest_told(capsys.readouterr().out)
    assert "shop.a" not in topics(console.gateway)
    assert console.run("apply", shop, "--yes", "--digest", digest) == 0
    assert "1 change was made" in capsys.readouterr().out
    assert topics(console.gateway)["shop.a"] == 2
    assert console.run("drift", shop) == 0
    assert capsys.readouterr().out == ""
    assert console.run("apply", shop, "--yes", "--digest", digest) == 0
    assert "as the files declare it" in capsys.readouterr().out
    assert [event.action for event in AuditEvent.objects.order_by("id")] == ["create topic", "apply declaration"]


def test_another_digest_than_was_reviewed_changes_nothing(console, shop, capsys):
    console.run("diff", shop)
    digest = digest_told(capsys.readouterr().out)
    with open(shop, "a") as file:
        file.write("  shop.b: {partitions: 1, replication_factor: 1}\n")
    assert console.run("apply", shop, "--yes", "--digest", digest) == 1
    assert "not what was reviewed" in capsys.readouterr().err
    assert "shop.a" not in topics(console.gateway)


def test_without_a_digest_somebody_is_asked(console, shop, capsys, monkeypatch):
    import io

    with pytest.raises(SystemExit):
        console.run("apply", shop, "--yes")
    assert "--yes needs --digest" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert console.run("apply", shop) == 1
    assert "shop.a" not in topics(console.gateway)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert console.run("apply", shop) == 0
    assert "shop.a" in topics(console.gateway)


def test_pruned_topics_go_after_a_day(console, shop, capsys):
    console.run("diff", shop, "--prune")
    digest = digest_told(capsys.readouterr().out)
    assert console.run("apply", shop, "--prune", "--yes", "--digest", digest) == 0
    assert set(topics(console.gateway)) == {"shop.a", "shop.old"}
    assert console.run("drift", shop, "--prune") == 0


def test_at_once_is_said_of_pruning(console, shop, capsys):
    with pytest.raises(SystemExit):
        console.run("apply", shop, "--at-once")
    assert "--at-once needs --prune" in capsys.readouterr().err


def test_pruning_at_once_wants_what_is_lost_typed(console, shop, capsys):
    console.run("diff", shop, "--prune", "--at-once")
    out = capsys.readouterr().out
    assert "! topic shop.old:" in out
    arguments = ("--prune", "--at-once", "--yes", "--digest", digest_told(out))
    assert console.run("apply", shop, *arguments) == 1
    assert "type the name exactly, shop.old" in capsys.readouterr().err
    assert console.run("apply", shop, *arguments, "--typed", "shop.old") == 0
    assert set(topics(console.gateway)) == {"shop.a"}


def test_amounts_are_printed_as_they_are_written(console, capsys, operator):
    (console.directory / "q.yaml").write_text("quotas: [{user: a, producer_byte_rate: 1 MB}]")
    assert console.run("diff", str(console.directory / "q.yaml")) == 0
    assert "- -> 1000000 (1 MB / s)" in capsys.readouterr().out


def test_what_cannot_be_read_is_neither_same_nor_other(console, shop, capsys):
    (console.directory / "bad.yaml").write_text("topics:\n  x: {partition: 1}\n")
    assert console.run("drift", str(console.directory / "bad.yaml")) == 2
    err = capsys.readouterr().err
    assert "bad.yaml, line 2" in err
    assert "Traceback" not in err
    assert console.run("apply", str(console.directory / "bad.yaml")) == 1


def test_what_is_exported_has_not_drifted(console, capsys):
    assert console.run("export", "--only", "topics") == 0
    text = capsys.readouterr().out
    assert "shop.old" in text
    (console.directory / "all.yaml").write_text(text)
    assert console.run("drift", str(console.directory / "all.yaml")) == 0
    console.gateway.add_partitions("shop.old", 2)
    assert console.run("drift", str(console.directory / "all.yaml"), "--output", "json") == 1
    assert json.loads(capsys.readouterr().out)["changes"][0]["new"] == 1
