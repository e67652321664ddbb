"""Each kind checks its spec field by field, and what it starts is what the processes' own commands read."""

import stat

import pytest

from broker.config.broker import read_broker_config
from broker.spark.config import read_stream_config
from console.processes.kinds import KINDS, START_ORDER
from console.processes.kinds.spec import SpecError

SPECS = {
    "zookeeper": {"directory": "/z", "client_port": 2181},
    "broker": {"broker_id": 1, "port": 9092, "directory": "/b", "log_dirs": ["/b/data"], "zookeeper": "127.0.0.1:2181"},
    "connect": {"directory": "/c", "properties": {"connectors": "a"}},
    "stream": {"directory": "/s", "properties": {"job": "dedupe"}},
}


def test_a_zookeeper_server_that_joins_is_told_its_number_the_members_and_where_the_password_lies(tmp_path):
    member = "server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181"
    password_file = tmp_path / "super"
    joining = {"number": 2, "join": [member], "super_password_file": str(password_file)}
    spec = KINDS["zookeeper"].check(SPECS["zookeeper"] | joining)
    KINDS["zookeeper"].write_files(spec)
    arguments = KINDS["zookeeper"].launch(spec).arguments

    assert arguments[-6:] == ["--number", "2", "--join", member, "--super-password-file", str(password_file)]
    assert stat.S_IMODE(password_file.stat().st_mode) == 0o600


@pytest.mark.parametrize("wrong", [{"number": 0}, {"number": 256}, {"join": "server.1=x"}, {"join": ["--host"]}])
def test_a_zookeeper_server_of_nonsense_is_refused(wrong):
    with pytest.raises(SpecError):
        KINDS["zookeeper"].check(SPECS["zookeeper"] | wrong)


def test_zookeeper_starts_before_brokers_and_clients_after_them():
    assert START_ORDER == ("zookeeper", "broker", "connect", "stream")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_checked_spec_is_whole_and_checked_again_stays_the_same(kind):
    spec = KINDS[kind].check(SPECS[kind])
    assert KINDS[kind].check(spec) == spec
    assert KINDS[kind].launch(spec).arguments[0] in ("zookeeper", "server", "connect", "stream")


WRONG = [
    ("broker", {"broker_id": -1}, "broker_id must be a whole number from 0 to 1000, not -1."),
    ("broker", {"broker_id": True}, "broker_id must be a whole number"),
    ("broker", {"port": "9092"}, "port must be a whole number from 1 to 65535, not '9092'."),
    ("broker", {"log_dirs": []}, "log_dirs must name 1 to 32 directories."),
    ("broker", {"log_dirs": ["relative"]}, "log_dirs must be an absolute path"),
    ("broker", {"log_dirs": ["/a,b"]}, "log_dirs must have no comma in a path"),
    ("broker", {"log_dirs": ["/a", "/a/"]}, "log_dirs names a directory twice."),
    ("broker", {"rack": "a\nbroker.id=2"}, "rack must be one line of text."),
    ("broker", {"passwort": "x"}, "passwort is no field of this kind of process."),
    ("zookeeper", {"client_port": 70_000}, "client_port must be a whole number"),
    ("zookeeper", {"directory": None}, "directory must be one line of text."),
    ("connect", {"properties": {"a=b": "c"}}, "properties has 'a=b', which is no key of a properties file."),
    ("stream", {"properties": {"a": "b\nc=d"}}, "a must be one line of text."),
    ("stream", {"properties": ["a"]}, "properties must be at most 200 keys with their values."),
]


@pytest.mark.parametrize(("kind", "given", "sentence"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong_spec_is_refused_with_a_sentence_that_names_the_field(kind, given, sentence):
    with pytest.raises(SpecError) as refused:
        KINDS[kind].check(SPECS[kind] | given)
    assert sentence in str(refused.value)


def test_broker_reads_what_its_kind_writes_and_nobody_else_may(tmp_path):
    given = {"directory": str(tmp_path), "rack": "east", "metrics_port": 9192}
    spec = KINDS["broker"].check(SPECS["broker"] | given)
    KINDS["broker"].write_files(spec)
    file = tmp_path / "server.properties"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    config = read_broker_config(file.read_text())
    assert (config.broker_id, config.broker_rack, config.log_dirs) == (1, "east", ("/b/data",))
    assert config.metrics_listener == ("127.0.0.1", 9192)


def test_stream_job_keeps_what_an_operator_added_to_its_file(tmp_path):
    spec = KINDS["stream"].check(SPECS["stream"] | {"directory": str(tmp_path)})
    spec["properties"] |= {"bootstrap.servers": "127.0.0.1:9092", "checkpoint.dir": str(tmp_path)} | {
        "input.topic": "a",
        "output.topic": "b",
    }
    (tmp_path / "stream.properties").write_text("driver.memory=700m\njob=another\n")
    KINDS["stream"].write_files(spec)
    config = read_stream_config((tmp_path / "stream.properties").read_text())
    assert (config.job, config.driver_memory) == ("dedupe", "700m")
