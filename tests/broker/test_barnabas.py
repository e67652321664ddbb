"""The command `barnabas`: every word leads somewhere."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from django.core.management import get_commands

from broker import __main__ as broker_main
from broker import __version__, barnabas


@pytest.fixture
def became(monkeypatch) -> list[list[str]]:
    """Command lines this process would have become."""
    argvs = []
    monkeypatch.setattr(os, "execve", lambda _file, argv, _environment: argvs.append(argv))
    return argvs


def test_version_is_told_and_is_the_project_s(capsys):
    assert barnabas.main(["--version"]) == 0
    assert broker_main.main(["--version"]) == 0
    assert capsys.readouterr().out == f"barnabas {__version__}\n" * 2
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", __version__)


def test_the_console_s_commands_are_there():
    assert set(barnabas.CONSOLE_COMMANDS) <= set(get_commands())


def test_each_command_of_the_broker_has_its_file():
    assert [name for name in broker_main.COMMANDS if not find_spec(f"broker.cli.{name.replace('-', '_')}")] == []


def test_no_word_means_two_things():
    assert not set(barnabas.CONSOLE_COMMANDS) & set(barnabas.BROKER_COMMANDS)
    assert barnabas.ANY_CONSOLE_COMMAND not in {*barnabas.CONSOLE_COMMANDS, *barnabas.BROKER_COMMANDS}


@pytest.mark.parametrize("words", [["up"], ["console", "up"]])
def test_a_command_of_the_console_is_another_python_without_this_one_s_modules(became, words):
    barnabas.main(words)
    assert [argv[-3:] for argv in became[:1]] == [["-m", "console", "up"]]


def test_a_broker_is_called_a_broker(capsys):
    with pytest.raises(SystemExit) as ended:
        barnabas.main(["broker", "--help"])
    assert ended.value.code == 0
    assert "--config FILE" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["-h"], 0), ([], 2), (["brokr"], 2)])
def test_whoever_does_not_know_is_told_every_command(capsys, words, status):
    assert barnabas.main(words) == status
    output = capsys.readouterr().out
    assert all(f"  {name} " in output for name in (*barnabas.CONSOLE_COMMANDS, *barnabas.BROKER_COMMANDS))


def test_a_broker_is_started_without_django_and_celery():
    code = "import sys, broker.barnabas; print(*{'django', 'celery', 'console'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
