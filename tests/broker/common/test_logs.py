"""A log line is one line of harmless text, however hostile what it tells of."""

import logging
import subprocess
import sys

import pytest

from broker.common import logs
from broker.common.errors import StartupError
from broker.common.limits import LOGGED_TEXT_LENGTH_MAX
from broker.common.logs import _one_line, log_to_own_file, logger


def logged_value(text: str) -> str:
    return _one_line(None, "info", {"event": "e", "group_id": text})["group_id"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb", "a\\nb"),
        ("a\r\nlevel=error", "a\\r\\nlevel=error"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("\x00\t", "\\x00\\t"),
        ("é 漢 😀", "é 漢 😀"),
        ("no break\u00a0space", "no break\u00a0space"),
    ],
)
def test_what_would_break_a_line_or_speak_to_a_terminal_is_escaped(text, line):
    assert logged_value(text) == line


def test_names_of_peers_do_not_fill_the_log():
    assert logged_value("g" * LOGGED_TEXT_LENGTH_MAX) == "g" * LOGGED_TEXT_LENGTH_MAX
    assert logged_value("g" * 30_000) == "g" * LOGGED_TEXT_LENGTH_MAX + "… (30000 letters)"


def test_a_traceback_stays_whole_on_one_line():
    event = _one_line(None, "error", {"event": "e", "exception": "line\n" * 2_000, "count": 7})
    assert event == {"event": "e", "exception": "line\\n" * 2_000, "count": 7}


def test_a_logger_can_have_a_file_of_its_own_which_does_not_grow_for_ever(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(logs, "OWN_LOG_BYTES_MAX", 2_000)
    one = logging.getLogger("broker.test_apart")
    one.setLevel(logging.INFO)
    path = tmp_path / "own.log"
    end = log_to_own_file("broker.test_apart", path)
    for number in range(100):
        one.info("told apart %d", number)
    assert 'level=info event="told apart 99"' in path.read_text().splitlines()[-1]
    assert {path.name for path in tmp_path.iterdir()} == {"own.log", "own.log.1"}
    assert all(path.stat().st_size <= 2_000 for path in tmp_path.iterdir())
    assert caplog.records == []
    end()
    one.info("told to all")
    assert [record.message for record in caplog.records] == ["told to all"]


def test_a_file_that_cannot_be_written_is_said_at_the_start(tmp_path):
    with pytest.raises(StartupError, match=r"nowhere/own\.log cannot be written: No such file"):
        log_to_own_file("broker.test_apart", tmp_path / "nowhere" / "own.log")


def test_a_process_that_configures_no_logs_tells_no_values_of_local_variables(capsys):
    password = "-".join(("hidden", "word"))
    try:
        raise ValueError("of the test")
    except ValueError:
        logger("broker.test").exception("not done", length=len(password))
    output = capsys.readouterr().out
    assert "Traceback (most recent call last):" in output
    assert "ValueError: of the test" in output
    assert password not in output


_REQUEST = """
import logging
import httpx2
from broker.common.logs import configure_logs
configure_logs()
if {is_told}:
    logging.getLogger("httpx2").setLevel(logging.INFO)
client = httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(200)))
client.post("http://me:s3cret@hooks.example:8080/T0KEN/x?api_key=KEY#s3cret")
"""


@pytest.mark.parametrize("is_told", [False, True])
def test_addresses_that_are_asked_for_leave_no_secret_in_the_log(is_told):
    """An HTTP sink's address may come from a file of secrets; each batch wrote it into the worker's log."""
    command = [sys.executable, "-c", _REQUEST.format(is_told=is_told)]
    log = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr
    assert [secret for secret in ("s3cret", "T0KEN", "KEY", "me:") if secret in log] == []
    assert ("POST http://hooks.example:8080" in log) is is_told
