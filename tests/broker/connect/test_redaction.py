"""What a reference of a configuration stands for is in no status, which more people read than may read secrets."""

import re
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from broker.connect.api import ConfigDef, ConnectError, SourceConnector
from broker.connect.group.wire import Unit
from broker.connect.herder.herder import Herder
from broker.connect.plugins import Plugin, catalog
from broker.connect.redaction import Redaction, _common_runs, redacting
from broker.connect.rest.app import ConnectRest
from broker.connect.rest.offsets import ConnectorOffsets
from broker.connect.settings import STANDALONE, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.logs import MemoryLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States
from broker.connect.tasks.dead_letters import DeadLetters
from broker.connect.tasks.sink_task import RunningSink
from broker.connect.tasks.unit import RunningUnit
from broker.connect.traces import error_text, trace_of
from tests.eventually import eventually

KEPT = {"${k:a}": "s3cret", "${k:b}": "s3cret and more", "${k:short}": "t", "${k:list}": "first, second"}
KEPT |= {"${k:url}": "pass/Word: \xe4+1", "${k:pin}": "042", "${k:long}": "correct horse battery staple"}


def resolve(config):
    for reference, value in KEPT.items():
        config = {key: text.replace(reference, value) for key, text in config.items()}
    return config


@pytest.mark.parametrize(
    ("raw", "message", "hidden"),
    [
        ("${k:a}", "Invalid value s3cret: none", "Invalid value ${k:a}: none"),
        ("u:${k:a}@h", "u:s3cret@h, that is s3cret", "u:${k:a}@h, that is ${k:a}"),
        ("${k:a}${k:b}", "s3cret and more", "${k:b}"),
        ("${k:list}", "no 'second'", "no '${k:list}'"),
        ("${k:short}", "the text stays", "the text stays"),
        ("${k:short}", "bad value 't' in t=t", "bad value '${k:short}' in ${k:short}=${k:short}"),
        ("${k:pin}", "pin 042, not 1042", "pin ${k:pin}, not 1042"),
        ("${k:long}", "at 'horse battery st'…", "at '${k:long}'…"),
        ("${k:long}", "CORRECT HORSE; staple", "${k:long};${k:long}"),
        ("${k:url}", "http://u:pass%2FWord%3A%20%C3%A4%2B1@h", "http://u:${k:url}@h"),
        ("${k:url}", r'b"pass/Word: \xc3\xa4+1" "pass/Word: \u00e4+1"', 'b"${k:url}" "${k:url}"'),
        ("plain", "plain", "plain"),
        ("${k:none}", "${k:none}", "${k:none}"),
    ],
)
def test_an_error_shows_the_reference_for_its_value(raw, message, hidden):
    config = {"key": raw}
    assert Redaction(resolve, config).hide(message) == hidden


def test_a_part_that_a_value_has_again_and_again_is_looked_for_once():
    """A long value and a text of the same letter took their product in steps: hours, with the interpreter held."""
    looks = []

    class Places(list):
        def __iter__(self):
            looks.append(1)
            return super().__iter__()

    parts = {"a" * 6: Places([0, 1, 2])}
    assert list(_common_runs(parts, "a" * 1_000)) == [(0, 6), (1, 7), (2, 8)]
    assert len(looks) == 1


def test_the_references_of_a_configuration_are_looked_up_together():
    calls = []

    def counted(config):
        calls.append(config)
        return resolve(config)

    config = {"a": "${k:a} ${k:b}", "b": "${k:url}"}
    assert Redaction(counted, config).hide("pass/Word: \xe4+1") == "${k:url}"
    assert len(calls) == 2


def test_a_text_that_is_cut_shows_no_part_of_a_value_at_the_cut():
    for left in range(1, 30):
        error = ValueError("x" * (2048 - left) + KEPT["${k:long}"])
        with redacting(Redaction(resolve, {"key": "${k:long}"})):
            assert set(error_text(error)) <= set("x${k:long}"), left


def test_the_beginning_and_the_end_of_a_long_trace_show_no_part_of_a_value():
    config = {"key": "${k:long}"}
    with redacting(Redaction(resolve, config)):
        for left in (24 * 1024 - 20, 24 * 1024 - 14):
            trace = trace_of(ValueError("x" * left + KEPT["${k:long}"] + "x" * 100_000))
            assert "corr" not in trace
        for left in range(8 * 1024 - 30, 8 * 1024, 3):
            trace = trace_of(ValueError("x" * 100_000 + KEPT["${k:long}"] + "x" * left))
            assert not {"staple", "taple", "aple"} & set(re.findall("[a-w]+", trace))


def test_hiding_costs_what_text_and_values_are_long():
    """A value may be a megabyte, and a text as long as a status record."""
    kept = "".join(f"{number:x}," for number in range(40_000))
    redaction = Redaction(lambda config: dict.fromkeys(config, kept), {"key": "${k:huge}"})
    assert redaction.hide("x" * 30_000) == "x" * 30_000


class Failing(SourceConnector):
    CONFIG = ConfigDef()

    def start(self, props, context):
        raise ConnectError(f"the server refuses {props['password']}")

    def task_configs(self, max_tasks):
        return []

    def alter_offsets(self, props, offsets):
        raise ConnectError(f"offsets refused by {props['password']}")


@contextmanager
def worker(monkeypatch, tmp_path, text):
    """Run a worker of its own. Yields its herder, a reference that stands for the text, and what becomes known."""
    monkeypatch.setattr(catalog, "_entry_points", lambda: (Plugin("Failing", f"{__name__}:Failing"),))
    (tmp_path / "kept.properties").write_text(f"password={text}\n")
    props = {"key.converter": "StringConverter", "value.converter": "StringConverter"}
    props |= {"offset.storage.file.filename": "/x", "config.providers": "file"}
    props |= {"config.providers.file.class": "FileConfigProvider"}
    states, changes = States(), []
    herder = Herder(read_settings(props, STANDALONE), "w:1", Configurations(), states, StoredOffsets())
    herder.config_log, herder.state_log = (
        MemoryLog(herder.on_config),
        MemoryLog(lambda *record: changes.append(states.apply(*record))),
    )
    herder.start()
    try:
        yield herder, f"${{file:{tmp_path}/kept.properties:password}}", changes
    finally:
        herder.stop()


async def test_the_status_of_a_connector_that_failed_shows_the_reference(monkeypatch, tmp_path):
    with worker(monkeypatch, tmp_path, "s3cret") as (herder, reference, changes):
        config = {"name": "c", "connector.class": "Failing", "password": reference}
        herder.put_config("c", config, target=None, may_exist=True)
        await eventually(lambda: changes, "the connector fails")
        trace = herder.status("c")["connector"]["trace"]
    assert f"the server refuses {reference}" in trace
    assert "s3cret" not in trace


async def test_a_class_that_is_a_reference_and_none_is_shown_as_the_reference(monkeypatch, tmp_path):
    """The unit is never made: its error is told by the herder."""
    with worker(monkeypatch, tmp_path, "s3cret.Class") as (herder, reference, changes):
        herder.put_config("c", {"name": "c", "connector.class": reference}, target=None, may_exist=True)
        await eventually(lambda: changes, "the connector fails")
        trace = herder.status("c")["connector"]["trace"]
    assert reference in trace
    assert "s3cret" not in trace


async def test_what_rest_answers_when_a_plugin_raises_shows_the_reference(monkeypatch, tmp_path):
    with worker(monkeypatch, tmp_path, "s3cret") as (herder, reference, changes):
        config = {"name": "c", "connector.class": "Failing", "password": reference}
        herder.put_config("c", config, target="STOPPED", may_exist=True)
        await eventually(lambda: changes, "the connector is stopped")
        rest = TestClient(ConnectRest(herder, lambda: "", ConnectorOffsets(herder), None).app(has_admin=False))
        answer = rest.patch("/connectors/c/offsets", json={"offsets": [{"partition": {}, "offset": {}}]})
    assert answer.status_code == 500
    assert answer.json()["message"] == f"offsets refused by {reference}"
    assert "s3cret" not in answer.text


def test_a_dead_letter_shows_the_reference_whichever_thread_reports_it():
    unit = Unit("c", 0)
    letters = DeadLetters(unit, {"errors.deadletterqueue.context.headers.enable": "true"}, {}, {})
    sent = {}
    sink = RunningSink.__new__(RunningSink)
    RunningUnit.__init__(sink, unit, lambda *_: None, False, Redaction(resolve, {"key": "${k:long}"}))
    sink._audit, sink._task_name = None, "Task"
    sink._batch = SimpleNamespace(message_of=lambda _record: Message())
    sink._dead_letters = letters
    sink._give_up = lambda message, failure: sent.update(letters._context(message, failure))
    error = ConnectError("refused (horse battery)")
    reporter = threading.Thread(target=lambda: sink.report(None, error))
    reporter.start()
    reporter.join()
    assert sent["__connect.errors.exception.message"] == b"refused (${k:long})"
    assert b"battery" not in b"".join(sent.values())


class Message:
    topic, partition, offset = (lambda _self: "t"), (lambda _self: 0), (lambda _self: 0)
