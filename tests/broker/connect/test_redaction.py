"""What a reference of a configuration stands for is in no status, which more people read than may read secrets."""

import pytest

from broker.connect.api import ConfigDef, ConnectError, SourceConnector
from broker.connect.herder.herder import Herder
from broker.connect.plugins import Plugin, catalog
from broker.connect.redaction import Redaction
from broker.connect.settings import STANDALONE, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.logs import MemoryLog
from broker.connect.storage.offsets import Offsets
from broker.connect.storage.states import States
from tests.eventually import eventually

KEPT = {"${k:a}": "s3cret", "${k:b}": "s3cret and more", "${k:short}": "t", "${k:list}": "first, second"}


def resolve(config):
    for reference, value in KEPT.items():
        config = {key: text.replace(reference, value) for key, text in config.items()}
    return config


@pytest.mark.parametrize(
    ("raw", "told", "hidden"),
    [
        ("${k:a}", "Invalid value s3cret: none", "Invalid value ${k:a}: none"),
        ("u:${k:a}@h", "u:s3cret@h, that is s3cret", "u:${k:a}@h, that is ${k:a}"),
        ("${k:a}${k:b}", "s3cret and more", "${k:b}"),
        ("${k:list}", "no 'second'", "no '${k:list}'"),
        ("${k:short}", "the text stays", "the text stays"),
        ("plain", "plain", "plain"),
        ("${k:none}", "${k:none}", "${k:none}"),
    ],
)
def test_an_error_shows_the_reference_for_its_value(raw, told, hidden):
    config = {"key": raw}
    assert Redaction(config, resolve(config), resolve).hide(told) == hidden


class Failing(SourceConnector):
    CONFIG = ConfigDef()

    def start(self, props, context):
        raise ConnectError(f"the server refuses {props['password']}")

    def task_configs(self, max_tasks):
        return []


async def test_the_status_of_a_connector_that_failed_shows_the_reference(monkeypatch, tmp_path):
    monkeypatch.setattr(catalog, "_entry_points", lambda: (Plugin("Failing", f"{__name__}:Failing"),))
    (tmp_path / "kept.properties").write_text("password=s3cret\n")
    worker = {"key.converter": "StringConverter", "value.converter": "StringConverter"}
    worker |= {"offset.storage.file.filename": "/x", "config.providers": "file"}
    worker |= {"config.providers.file.class": "FileConfigProvider"}
    states, told = States(), []
    herder = Herder(read_settings(worker, STANDALONE), "w:1", Configurations(), states, Offsets())
    herder.config_log, herder.state_log = (
        MemoryLog(herder.on_config),
        MemoryLog(lambda *record: told.append(states.apply(*record))),
    )
    herder.start()
    try:
        reference = f"${{file:{tmp_path}/kept.properties:password}}"
        herder.put_config(
            "c", {"name": "c", "connector.class": "Failing", "password": reference}, target=None, may_exist=True
        )
        await eventually(lambda: told, "the connector fails")
        trace = herder.status("c")["connector"]["trace"]
    finally:
        herder.stop()
    assert f"the server refuses {reference}" in trace
    assert "s3cret" not in trace
