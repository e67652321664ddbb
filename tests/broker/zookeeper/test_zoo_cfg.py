"""zoo.cfg has the values that the documents print, and those a person sets; what an operator edited stays."""

import pytest

from broker.config.definition import ConfigError
from broker.zookeeper.ensemble import ServerMembership, prepare_server
from broker.zookeeper.zoo_cfg import default_text, read_settings, settings_in, with_settings

#: As the documents about Kafka print zoo.cfg.
PRINTED = {"tickTime": "2000", "initLimit": "20", "syncLimit": "5"}


def test_new_server_has_what_the_documents_print(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    settings = settings_in((tmp_path / "zoo.cfg").read_text())
    assert {name: settings[name] for name in PRINTED} == PRINTED


def test_sessions_are_bounded_by_none_of_them():
    """Kafka's 18 s and the 6 s of the documents are within, whatever the tick."""
    settings = settings_in(default_text())
    assert (settings["minSessionTimeout"], settings["maxSessionTimeout"]) == ("1000", "60000")


def test_setting_replaces_its_line_and_nothing_else(tmp_path):
    prepare_server(tmp_path, "127.0.0.1", 2181)
    before = (tmp_path / "zoo.cfg").read_text() + "extra=1\n"
    (tmp_path / "zoo.cfg").write_text(before)
    prepare_server(
        tmp_path, "127.0.0.1", 2181, membership=ServerMembership(settings={"tickTime": 3_000, "syncLimit": 9})
    )
    after = (tmp_path / "zoo.cfg").read_text()
    expected = before.replace("tickTime=2000", "tickTime=3000").replace("syncLimit=5", "syncLimit=9")
    assert sorted(after.splitlines()) == sorted(expected.splitlines())
    prepare_server(tmp_path, "127.0.0.1", 2181)
    assert (tmp_path / "zoo.cfg").read_text() == after, "a start that names nothing changes nothing"


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("", "tickTime=9\n"),
        ("extra=1", "tickTime=9\nextra=1"),
        ("a=1\n tickTime = 500\nb=2\ntickTime=700", "a=1\ntickTime=9\nb=2\n"),
        ("xtickTime=1\ntickTimes=2\n", "tickTime=9\nxtickTime=1\ntickTimes=2\n"),
    ],
)
def test_key_stands_once_however_it_stood(text, then):
    assert with_settings(text, {"tickTime": 9}) == then
    assert settings_in(then)["tickTime"] == "9"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"dataDir": "/"}, "dataDir is no key"),
        ({"tickTime": "0"}, "Invalid value 0 for configuration tickTime: Value must be at least 100"),
        ({"initLimit": "9999"}, "Invalid value 9999 for configuration initLimit: Value must be no more than 1000"),
        ({"syncLimit": "many"}, "Invalid value many for configuration syncLimit: Not a number"),
        ({"minSessionTimeout": "70000"}, "must be at most maxSessionTimeout, which is 60000"),
    ],
)
def test_value_that_cannot_be_right_is_refused(texts, message):
    with pytest.raises(ConfigError, match=message):
        read_settings(texts)
