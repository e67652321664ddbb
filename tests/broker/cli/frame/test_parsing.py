import re

import pytest

from broker.cli.frame.answers import at_least_one, pattern
from broker.cli.frame.declaration import Command, Option, UsageError, command_line
from broker.cli.frame.parsing import parse

COMMAND = Command(
    name="kafka-things",
    summary="Things.",
    run=lambda _arguments: None,
    options=(
        Option("list", "List them."),
        Option("topic", "A topic.", "TOPIC", older=("old-topic",)),
        Option("time", "A time.", "MS", parse=int, default=-1),
        Option("config", "Settings.", "KEY=VALUE", repeatable=True),
        Option("props", "Settings in a row.", "KEY=VALUE", takes_rest=True),
        Option("compression-codec", "A codec.", "CODEC", if_bare="gzip"),
        Option("count", "How many.", "N", parse=at_least_one),
        Option("format", "How.", "WORD", choices=("text", "json"), default="text"),
        Option("new-consumer", "", without_effect="there is no other."),
    ),
)


def _parsed(*typed: str):
    return parse(COMMAND, list(typed))[0]


@pytest.mark.parametrize(
    "typed", [("--topic", "t"), ("-topic", "t"), ("--topic=t",), ("-topic=t",), ("--old-topic", "t")]
)
def test_kafka_takes_a_value_in_each_of_these_spellings(typed):
    assert _parsed(*typed)["topic"] == "t"


def test_the_older_name_is_remembered():
    assert _parsed("--old-topic", "t").spelling("topic") == "old-topic"


def test_a_value_is_the_next_word_whatever_it_looks_like():
    arguments = _parsed("--topic", "--list", "--time", "-2")
    assert arguments["topic"] == "--list"
    assert arguments["time"] == -2
    assert not arguments["list"]


def test_stray_words_are_kept_apart_and_disturb_nothing():
    arguments = _parsed("junk", "--list", "more")
    assert arguments["list"]
    assert arguments.words == ("junk", "more")


@pytest.mark.parametrize("dash", "–—−―")
def test_a_long_dash_is_taken_for_two_short_ones_and_told(dash):
    arguments, notices = parse(COMMAND, [f"{dash}topic", "t"])
    assert arguments["topic"] == "t"
    assert notices == [f"{dash}topic is typed with a long dash; it is taken for --topic."]


def test_values_in_a_row_end_at_the_next_option():
    arguments = _parsed("--props", "acks=1", "linger.ms=-1", "--list")
    assert arguments["props"] == ["acks=1", "linger.ms=-1"]
    assert arguments["list"]


@pytest.mark.parametrize(
    ("typed", "codec"),
    [
        ((), None),
        (("--compression-codec",), "gzip"),
        (("--compression-codec", "--list"), "gzip"),
        (("--compression-codec", "lz4"), "lz4"),
    ],
)
def test_a_value_may_be_left_out_where_one_stands_for_it(typed, codec):
    assert _parsed(*typed)["compression-codec"] == codec


def test_what_was_not_typed_has_its_default():
    arguments = _parsed()
    assert (arguments["topic"], arguments["time"], arguments["config"], arguments["list"]) == (None, -1, [], False)
    assert not arguments.given("time")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (("--top", "t"), "top is not a recognized option"),
        (("--topic",), "Option topic requires an argument"),
        (("--topic", "a", "--topic", "b"), "Found multiple arguments for option topic, but you asked for only one"),
        (("--count", "0"), "Cannot parse argument '0' of option count: it must be greater than 0"),
        (("--format", "xml"), "--format is one of text, json, not 'xml'"),
        (("--list=yes",), "--list takes no value, but was given 'yes'"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_sentence(typed, sentence):
    with pytest.raises(UsageError) as refused:
        _parsed(*typed)
    assert str(refused.value) == sentence


def test_what_means_nothing_any_more_is_accepted_and_said():
    _, notices = parse(COMMAND, ["--new-consumer"])
    assert notices == ["--new-consumer: there is no other."]


def test_a_command_line_is_made_of_the_declaration_and_read_back_as_it_was():
    values = {"topic": "a b'c", "list": True, "config": ["x=1", "y=$HOME"], "new-consumer": False}
    line = command_line(COMMAND, values)
    assert line == """kafka-things --topic 'a b'"'"'c' --list --config x=1 --config 'y=$HOME'"""
    with pytest.raises(KeyError):
        command_line(COMMAND, {"nothing-like-it": 1})


def test_words_of_a_command_that_is_passed_on_are_left_as_they_were_typed():
    shell = Command(
        name="shell",
        summary="",
        run=print,
        words=("server", "command"),
        passes_on=True,
        options=(Option("t", "", "N"),),
    )
    arguments, notices = parse(shell, ["host:2181", "-t", "1", "ls", "-R", "–x", "--t"])
    assert arguments["t"] == "1"
    assert arguments.words == ("host:2181", "ls", "-R", "–x", "--t")
    assert notices == []


def test_patterns_of_topics_are_javas():
    assert not pattern("a,b").fullmatch("ab")
    assert pattern(r"\p{Alpha}+, a-\d").fullmatch("orders")
    with pytest.raises(UsageError, match="Dangling"):
        pattern("a**")


def test_an_option_of_one_action_is_refused_beside_another():
    command = Command(
        name="kafka-things",
        summary="Things.",
        run=lambda _arguments: None,
        exactly_one_of=(("list", "make"),),
        options=(Option("list", ""), Option("make", ""), Option("size", "", "N", parse=int, only_with=("make",))),
    )
    assert parse(command, ["--make", "--size", "1"])[0]["size"] == 1
    with pytest.raises(UsageError, match=re.escape('Option "[size]" can\'t be used with option "[list]"')):
        parse(command, ["--list", "--size", "1"])
    with pytest.raises(UsageError, match=r"exactly one action: --list, --make$"):
        parse(command, ["--size", "1"])
