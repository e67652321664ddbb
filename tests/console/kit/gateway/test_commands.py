import shlex

import pytest

from broker.cli.commands import load
from broker.cli.frame.parsing import parse
from console.kit.gateway.commands import shell_command


def test_a_command_line_is_read_back_as_what_was_meant():
    options = {"alter": True, "topic": "a b; rm -rf /", "partitions": 3, "if-exists": False, "command-config": None}
    line = shell_command("kafka-topics", "h1:9092,h2:9092", options)
    name, *typed = shlex.split(line)
    assert name == "kafka-topics.sh"
    arguments, notices = parse(load("kafka-topics"), typed)
    assert notices == []
    assert (arguments["bootstrap-server"], arguments["topic"]) == ("h1:9092,h2:9092", "a b; rm -rf /")
    assert (arguments["alter"], arguments["partitions"], arguments.given("if-exists")) == (True, 3, False)
    assert not arguments.given("command-config")


@pytest.mark.parametrize(("name", "option"), [("kafka-topics", "enlarge"), ("kafka-magic", "alter")])
def test_no_page_can_show_a_command_or_an_option_that_does_not_exist(name, option):
    with pytest.raises(KeyError):
        shell_command(name, "h1:9092", {option: True})


@pytest.mark.parametrize(
    ("name", "options", "option"),
    [
        ("kafka-topics", {"list": True}, "command-config"),
        ("kafka-leader-election", {"all-topic-partitions": True, "election-type": "preferred"}, "admin.config"),
        ("kafka-console-consumer", {"topic": "t"}, "consumer.config"),
    ],
)
def test_a_command_line_names_the_file_by_which_the_console_itself_reaches_the_cluster(
    settings, tmp_path, monkeypatch, name, options, option
):
    monkeypatch.chdir(tmp_path)
    settings.CLIENT_CONFIG = str(tmp_path / "data" / "client.properties")
    assert "client.properties" not in shell_command(name, "h1:9092", options)
    settings.CLIENT_CONFIG_IS_NAMED = True
    line = shell_command(name, "h1:9092", options)
    assert f"--{option} data/client.properties" in line
    assert parse(load(name), shlex.split(line)[1:])[1] == []
