import subprocess

import pytest

from broker.cli.frame.declaration import Command, Example, Option
from broker.cli.frame.shown import completion, help_text, markdown

COMMAND = Command(
    name="kafka-things",
    summary="Tell things.",
    run=lambda _arguments: None,
    options=(
        Option("topic", "A topic.", "TOPIC", required=True, older=("old-topic",)),
        Option("format", "How.", "WORD", choices=("text", "json"), default="text"),
        Option("all", "Everything."),
        Option("new-consumer", "", without_effect="there is no other."),
    ),
    words=("place", "file"),
    words_required=1,
    words_repeat=True,
    examples=(Example("kafka-things --topic t here", "things of t"),),
    notes=("It never changes anything.",),
)
WITH_SUBCOMMANDS = Command(
    name="kafka-acts",
    summary="Act.",
    run=lambda _arguments: None,
    subcommands=(Command("list", "List acts.", lambda _arguments: None, options=(Option("long", "More."),)),),
)


def test_help_has_the_shape_of_kafkas():
    assert help_text(COMMAND).splitlines() == [
        "Tell things.",
        "Usage: kafka-things [options] <place> [file] …",
        "",
        "Option           Description",
        "------           -----------",
        "--all            Everything.",
        "--format <WORD>  How. One of text, json. (default: text)",
        "--new-consumer   Accepted: there is no other.",
        "--topic <TOPIC>  REQUIRED: A topic. Also --old-topic.",
        "",
        "Examples:",
        "  kafka-things --topic t here",
        "      things of t",
        "",
        "It never changes anything.",
    ]


def test_subcommands_are_told_with_their_options():
    text = help_text(WITH_SUBCOMMANDS)
    assert "Usage: kafka-acts {list}" in text
    assert "kafka-acts list: List acts.\n--long  More." in text


def test_the_reference_names_every_command_and_option_once():
    text = markdown([COMMAND, WITH_SUBCOMMANDS])
    for expected in ("| [kafka-things](#kafka-things) | Tell things. |", "## kafka-acts", "| `--all` | Everything. |"):
        assert text.count(expected) == 1


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["kafka-things", "--t"], ["--topic"]),
        (["kafka-things", "--format", ""], ["text", "json"]),
        (["kafka-things.sh", "--a"], ["--all"]),
        (["kafka-acts", ""], ["list", "--long"]),
    ],
)
def test_a_shell_completes_options_and_their_choices(typed, offered):
    words = " ".join(f"'{word}'" for word in typed)
    script = completion([COMMAND, WITH_SUBCOMMANDS], "bash")
    script += f'COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _barnabas_command; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered
