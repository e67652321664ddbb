import re

import pytest

from broker.cli.clients.console_consumer_choices import settings
from broker.cli.frame.declaration import CommandError
from broker.cli.frame.parsing import parse
from broker.cli.kafka_console_consumer import COMMAND


def chosen(*words, in_file=(), **typed):
    arguments, _notices = parse(COMMAND, ["--topic", "t", *words])
    return settings(arguments, dict(in_file), {name.replace("_", "."): value for name, value in typed.items()})


def test_without_a_group_nothing_is_committed_and_nobody_else_is_in_it():
    mine = chosen()
    assert re.fullmatch(r"console-consumer-\d{1,5}", mine["group.id"])
    assert mine["enable.auto.commit"] is False
    assert mine["auto.offset.reset"] == "latest"
    assert mine["isolation.level"] == "read_uncommitted"


def test_a_group_commits_what_was_printed():
    assert chosen("--group", "g", "--from-beginning") == {
        "enable.auto.offset.store": False,
        "group.id": "g",
        "isolation.level": "read_uncommitted",
        "auto.offset.reset": "earliest",
    }
    assert chosen(in_file={"group.id": "h"})["group.id"] == "h"
    with pytest.raises(CommandError, match=r"do not match\. Detected group ids: 'g', 'h'"):
        chosen("--group", "g", in_file={"group.id": "h"})


def test_what_was_typed_wins_over_properties():
    assert "isolation.level" not in chosen(isolation_level="read_committed")
    read = chosen("--isolation-level", "read_uncommitted", isolation_level="read_committed")
    assert read["isolation.level"] == "read_uncommitted"
    assert chosen(auto_offset_reset="none")["auto.offset.reset"] == "error"
    assert "auto.offset.reset" not in chosen(auto_offset_reset="earliest")
    with pytest.raises(CommandError, match="please remove one option"):
        chosen("--from-beginning", auto_offset_reset="largest")
