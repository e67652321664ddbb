"""The console's commands of README and docs/, typed as they stand, against a console with an API token."""

import io
import re
import shlex

import pytest

from broker.barnabas import main
from tests.console.shell.api.conftest import Program
from tests.console.shell.api.passing import passing_console
from tests.documentation.typed import ON_CONSOLE


@pytest.fixture
def shell(operator, cluster, collect, tmp_path, transactional_db, monkeypatch):
    """A directory with the file of a token and shop.yaml; the console knows the topics orders and shop.old."""
    cluster.create_topic("orders", 1, 1)
    cluster.create_topic("shop.old", 1, 1)
    collect()
    token = tmp_path / "token"
    token.write_text(Program(operator).secret)
    token.chmod(0o600)
    monkeypatch.chdir(tmp_path)
    with passing_console() as url:
        monkeypatch.setenv("BARNABAS_URL", url)
        monkeypatch.setenv("BARNABAS_TOKEN_FILE", str(token))
        yield tmp_path


def test_the_console_s_commands_do_what_the_documents_say(shell, monkeypatch, capsys):
    digest = ""
    for command in ON_CONSOLE:
        line, _, file = command.line.replace("DIGEST", digest).partition(" '>' ")
        monkeypatch.setattr("sys.stdin", io.StringIO(command.stdin))
        assert main(shlex.split(line)[1:]) == 0, command.line
        printed = capsys.readouterr().out
        assert re.search(command.shows, printed), command.line
        digest = next((text.split()[-1] for text in printed.splitlines() if "Digest:" in text), digest)
        if file:
            (shell / file).write_text(printed.replace("shop.old", "shop.new"))
