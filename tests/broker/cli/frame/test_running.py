import os
import signal
import subprocess
import sys

import pytest

from broker.cli.frame.declaration import Command, CommandError, Option
from broker.cli.frame.running import run
from broker.client.errors import BrokerUnreachable
from tests.typed import BIN, typed_in_shell


def _command(doing, **more) -> Command:
    return Command(name="kafka-things", summary="Things.", run=doing, options=(Option("list", "List."),), **more)


def _raises(error: BaseException):
    def doing(_arguments):
        raise error

    return doing


@pytest.fixture(autouse=True)
def _same_signals_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("typed", [[], ["--help"], ["--list", "--help"], ["-h"]])
def test_help_is_told_on_stderr_with_status_1_as_scripts_expect_of_kafka(typed, capsys):
    assert run(_command(_raises(AssertionError())), typed) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("Things.\nUsage: kafka-things [options]\n\nOption  Description\n")


def test_a_command_that_needs_no_words_runs_without(capsys):
    assert run(_command(lambda _arguments: print("done"), runs_without_arguments=True), []) == 0
    assert capsys.readouterr().out == "done\n"


@pytest.mark.parametrize(
    ("error", "status", "out", "err"),
    [
        (CommandError("It is so."), 1, "", "It is so.\n"),
        (CommandError("It is so.", on_stdout=True), 1, "It is so.\n", ""),
        (BrokerUnreachable("nobody there"), 1, "", "kafka-things: nobody there\n"),
        (FileNotFoundError(2, "No such file", "x.json"), 1, "", "kafka-things: x.json: No such file\n"),
        (KeyboardInterrupt(), 130, "", ""),
    ],
    ids=["refused", "refused on stdout", "unreachable", "no file", "Ctrl-C"],
)  # fmt: skip
def test_whatever_goes_wrong_is_one_sentence_and_a_status_of_kafkas(error, status, out, err, capsys):
    assert run(_command(_raises(error)), ["--list"]) == status
    assert tuple(capsys.readouterr()) == (out, err)


def test_usage_errors_name_where_the_options_are(capsys):
    assert run(_command(_raises(AssertionError())), ["--lists"]) == 1
    assert capsys.readouterr().err == "lists is not a recognized option\n`kafka-things --help` lists the options.\n"


def test_a_reader_who_goes_away_is_no_error():
    """`| head -1`: neither a traceback nor a complaint at exit."""
    program = "from broker.cli.frame.declaration import Command\nfrom broker.cli.frame.running import run\nimport sys\n"
    program += "def doing(_a):\n    for _ in range(100000): print('a line that fills the pipe')\n"
    program += "sys.exit(run(Command('c', 'C.', doing, runs_without_arguments=True), []))"
    reads, writes = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=writes, stderr=subprocess.PIPE, cwd=BIN.parent)
    os.close(writes)
    os.read(reads, 10)
    os.close(reads)
    assert process.communicate(timeout=30)[1] == b""
    assert process.returncode == 0


def test_every_file_in_bin_runs_from_any_directory_under_the_name_it_was_called_by(tmp_path):
    shown = typed_in_shell("kafka-topics.sh", "--version", directory=tmp_path)
    assert (shown.status, shown.err) == (0, "")
    refused = typed_in_shell("kafka-mirror-maker.sh", "--whatever", directory=tmp_path)
    assert "`kafka-mirror-maker --help`" in refused.err
