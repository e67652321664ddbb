"""Each kind checks its spec field by field, and what it starts is what the processes' own commands read."""

import base64
import stat
from pathlib import Path

import pytest

from broker.__main__ import COMMANDS
from broker.client.logins import read_logins
from broker.config.broker import read_broker_config
from broker.config.properties import parse_properties
from broker.connect.mirror_flows import read_flows
from broker.registry.config import read_config_file
from broker.spark.config import read_stream_config
from broker.zookeeper.digest_file import read_digest
from console.kit.gateway.brokers.server_properties import read_server_properties
from console.processes.kinds import KINDS, START_ORDER
from console.processes.kinds.spec import SpecError
from console.processes.secured import FIRST_PROPERTIES

OWN = ("secrets", "run", "jobs")
SPECS = {
    "zookeeper": {"directory": "/z", "client_port": 2181},
    "broker": {"broker_id": 1, "port": 9092, "directory": "/b", "log_dirs": ["/b/data"], "zookeeper": "127.0.0.1:2181"},
    "registry": {"directory": "/r", "port": 8081},
    "second": {
        "cluster": "backup",
        "broker_id": 1,
        "port": 9292,
        "directory": "/x",
        "log_dirs": ["/x/data"],
        "zookeeper": "127.0.0.1:2181/backup",
    },
    "connect": {"directory": "/c", "port": 8083},
    "counter": {"directory": "/a", "bootstrap_servers": "127.0.0.1:9092"},
    "mirror": {
        "directory": "/m",
        "clusters": {"here": "127.0.0.1:9092", "there": "127.0.0.1:9292"},
        "flows": [{"source": "here", "target": "there", "topics": ".*", "groups": ".*", "replication_factor": 1}],
    },
    "stream": {"directory": "/s", "properties": {"job": "dedupe"}},
    "probe": {"directory": "/p", "port": 9191, "properties": {"bootstrap.servers": "127.0.0.1:9092"}},
}


@pytest.fixture(autouse=True)
def everything_is_below(settings):
    settings.DATA_DIR = Path("/")


def test_a_zookeeper_server_that_joins_is_told_its_number_the_members_and_where_the_password_lies(tmp_path, settings):
    member = "server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181"
    password_file = settings.ZOOKEEPER_SECRET_FILE = tmp_path / "super"
    more = {"super_password_file": str(password_file), "settings": {"tickTime": "3000"}}
    joining = {"number": 2, "join": [member], **more}
    spec = KINDS["zookeeper"].check(SPECS["zookeeper"] | joining)
    KINDS["zookeeper"].write_files(spec)
    arguments = KINDS["zookeeper"].launch(spec).arguments

    assert arguments[-8:] == [
        "--number",
        "2",
        "--set",
        "tickTime=3000",
        "--join",
        member,
        "--super-password-file",
        str(password_file),
    ]
    assert stat.S_IMODE(password_file.stat().st_mode) == 0o600


@pytest.mark.parametrize("wrong", [{"number": 0}, {"number": 256}, {"join": "server.1=x"}, {"join": ["--host"]}])
def test_a_zookeeper_server_of_nonsense_is_refused(wrong):
    with pytest.raises(SpecError):
        KINDS["zookeeper"].check(SPECS["zookeeper"] | wrong)


def test_zookeeper_starts_before_brokers_and_clients_after_them():
    assert START_ORDER == (
        "zookeeper", "broker", "second", "registry", "connect", "mirror", "counter", "stream", "probe",
    )  # fmt: skip


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_checked_spec_is_whole_and_checked_again_stays_the_same(kind):
    spec = KINDS[kind].check(SPECS[kind])
    assert KINDS[kind].check(spec) == spec
    assert KINDS[kind].launch(spec).arguments[0] in COMMANDS


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
    (
        "connect",
        {"port": 8083, "properties": {"a=b": "c"}},
        "properties has 'a=b', which is no key of a properties file.",
    ),
    (
        "connect",
        {"port": 8083, "properties": {"a\rb": "c"}},
        "properties has 'a\\rb', which is no key of a properties file.",
    ),
    ("connect", {"port": 8083, "properties": {"a\u2028b": "c"}}, "which is no key of a properties file."),
    ("connect", {"port": 8083, "properties": {"a": "b\\ "}}, "a must not end with a backslash."),
    ("broker", {"rack": "east\\"}, "rack must not end with a backslash."),
    ("broker", {"first_properties": {"log.dirs": "/c"}}, "log.dirs, which has a field of its own."),
    ("broker", {"zookeeper_digest_file": "/etc/shadow"}, "zookeeper_digest_file must be"),
    ("zookeeper", {"super_password_file": "/etc/shadow"}, "super_password_file must be"),
    ("zookeeper", {"settings": {"tickTime": "soon"}}, "Invalid value soon for configuration tickTime: Not a number"),
    ("zookeeper", {"settings": {"dataDir": "/etc"}}, "dataDir is no key of zoo.cfg that can be set here"),
    ("zookeeper", {"host": "--join"}, "host must be a name or an address"),
    ("stream", {"properties": {"spark.jars": "http://h/x.jar"}}, "properties must have no key of Spark's own"),
    ("stream", {"properties": {"a": "b\nc=d"}}, "a must be one line of text."),
    ("probe", {"port": 0}, "port must be a whole number from 1 to 65535, not 0."),
    ("second", {"cluster": "a/b"}, "The name of a process is 1 to 60 letters, digits, '-' and '_'."),
    ("second", {"port": 0}, "port must be a whole number from 1 to 65535, not 0."),
    ("mirror", {"flows": []}, "flows must name 1 to 20 flows."),
    ("mirror", {"clusters": {"here": "127.0.0.1:9092"}}, "flows must lead from one of clusters to another."),
    (
        "mirror",
        {"clusters": {"he->re": "127.0.0.1:9092"}},
        "clusters has 'he->re', which is no key",
    ),
    ("stream", {"properties": ["a"]}, "properties must be at most 200 keys with their values."),
]


@pytest.mark.parametrize(("kind", "given", "sentence"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong_spec_is_refused_with_a_sentence_that_names_the_field(kind, given, sentence):
    with pytest.raises(SpecError) as refused:
        KINDS[kind].check(SPECS[kind] | given)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("where", ["/", "/data", "/data/secrets/x", "/data/run", "/data/jobs", "/data/../srv", "/srv"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_process_has_a_directory_of_its_own_below_the_data(kind, where, settings):
    settings.DATA_DIR = Path("/data")
    settings.SECRETS_DIR, settings.RUN_DIR, settings.JOBS_DIR = (Path("/data", item) for item in OWN)
    has_logs = kind in ("broker", "second")
    good = SPECS[kind] | {"directory": "/data/x"} | ({"log_dirs": ["/data/x/y"]} if has_logs else {})
    KINDS[kind].check(good)
    with pytest.raises(SpecError, match="directory must be"):
        KINDS[kind].check(good | {"directory": where})
    if has_logs:
        with pytest.raises(SpecError, match="log_dirs must be"):
            KINDS[kind].check(good | {"log_dirs": [where]})


def test_logs_of_brokers_may_be_below_what_the_host_names_and_nothing_else_may(settings):
    settings.DATA_DIR, settings.LOG_ROOTS = Path("/data"), [Path("/mnt/disk1")]
    spec = SPECS["broker"] | {"directory": "/data/b"}
    assert KINDS["broker"].check(spec | {"log_dirs": ["/mnt/disk1/a"]})["log_dirs"] == ["/mnt/disk1/a"]
    for elsewhere in ("/mnt/disk2", "/mnt/disk1/../disk2", "/mnt"):
        with pytest.raises(SpecError, match="log_dirs must be"):
            KINDS["broker"].check(spec | {"log_dirs": [elsewhere]})
    with pytest.raises(SpecError, match="directory must be"):
        KINDS["broker"].check(spec | {"directory": "/mnt/disk1/b"})


def test_whose_code_a_stream_job_runs_follows_from_the_settings(settings):
    hostile = {"jobs.dir": "/tmp", "master": "spark://evil:7077", "checkpoint.dir": "/etc", "files.dir": "/root"}
    properties = KINDS["stream"].check({"directory": "/s", "properties": hostile | {"job": "mine"}})["properties"]
    assert properties == {
        "jobs.dir": str(settings.JOBS_DIR),
        "master": settings.SPARK_MASTER,
        "checkpoint.dir": "/s",
        "files.dir": "/files",
        "job": "mine",
    }


def read_back(tmp_path, kind: str, file: str, **given) -> dict[str, str]:
    spec = KINDS[kind].check(SPECS[kind] | {"directory": str(tmp_path / kind)} | given)
    KINDS[kind].write_files(spec)
    written = tmp_path / kind / file
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    return parse_properties(written.read_text())


@pytest.fixture
def secrets(tmp_path, settings):
    settings.SECRETS_DIR = tmp_path / "secrets"
    settings.CLIENT_CONFIG, settings.CLIENT_CONFIG_IS_NAMED = str(tmp_path / "secrets" / "client.properties"), False
    settings.CONNECT_LOGIN_FILE = settings.SECRETS_DIR / "connect-login"
    settings.REGISTRY_PASSWORD_FILE = settings.SECRETS_DIR / "registry-password"
    settings.CONNECT_FILES = [tmp_path / "files"]
    return settings.SECRETS_DIR


def test_a_worker_listens_here_asks_for_a_password_and_keeps_to_its_files_whatever_a_spec_says(tmp_path, secrets):
    config = {
        "listeners": "http://0.0.0.0:8083",
        "authentication.method": "NONE",
        "connector.file.roots": "/",
        "connector.file.write.roots": "/",
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
        "group.id": "g",
    }
    properties = read_back(tmp_path, "connect", "connect.properties", properties=config, files=["/notes.txt"])
    assert properties == {
        "group.id": "g",
        "listeners": "http://127.0.0.1:8083",
        "authentication.method": "BASIC",
        "authentication.file": str(secrets / "connect-login"),
        "connector.file.roots": f"{tmp_path / 'files'},/notes.txt",
        "connector.file.write.roots": str(tmp_path / "files"),
    }
    assert stat.S_IMODE((secrets / "connect-login").stat().st_mode) == 0o600
    assert read_logins(secrets / "connect-login").authorization


@pytest.mark.parametrize("is_secure", [False, True])
def test_a_registry_asks_for_a_password_where_the_cluster_does(tmp_path, secrets, is_secure):
    properties = {"kafkastore.bootstrap.servers": "127.0.0.1:9092", "listeners": "http://0.0.0.0:1"}
    read_back(tmp_path, "registry", "schema-registry.properties", properties=properties, is_secure=is_secure)
    config = read_config_file(str(tmp_path / "registry" / "schema-registry.properties"), {})
    assert (config.among.host, config.among.port, config.authentication_method) == (
        ("127.0.0.1", 8081, "BASIC") if is_secure else ("127.0.0.1", 8081, "NONE")
    )
    if is_secure:
        password = (secrets / "registry-password").read_text().strip()
        shown = "Basic " + base64.b64encode(f"console:{password}".encode()).decode()
        assert read_logins(Path(config.authentication_file)).admits([(b"authorization", shown.encode())])


@pytest.mark.parametrize(
    ("kind", "file", "user", "prefix"),
    [
        ("connect", "connect.properties", "sources", ""),
        ("registry", "schema-registry.properties", "registry", "kafkastore."),
    ],
)
def test_a_server_beside_the_brokers_reaches_them_as_its_own_user(tmp_path, secrets, kind, file, user, prefix):
    client = "# ours\nsecurity.protocol=SASL_SSL\nsasl.jaas.config=a \\\n  b=c\n"
    secrets.mkdir(exist_ok=True)
    (secrets / f"{user}.properties").write_text(client)
    properties = read_back(tmp_path, kind, file)
    assert properties[f"{prefix}security.protocol"] == "SASL_SSL"
    assert properties[f"{prefix}sasl.jaas.config"] == "a b=c"
    (secrets / f"{user}.properties").unlink()
    assert f"{prefix}security.protocol" not in read_back(tmp_path, kind, file)


def test_brokers_show_themselves_to_zookeeper_by_a_file_that_is_theirs(tmp_path, settings):
    settings.ZOOKEEPER_DIGEST_FILE = str(tmp_path / "digest")
    given = {"directory": str(tmp_path), "zookeeper_digest_file": settings.ZOOKEEPER_DIGEST_FILE}
    KINDS["broker"].write_files(KINDS["broker"].check(SPECS["broker"] | given))
    config = read_broker_config((tmp_path / "server.properties").read_text())
    assert config.zookeeper_set_acl
    assert read_digest(Path(config.zookeeper_digest_file)).user == "barnabas"


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


def test_a_stream_job_is_told_the_consoles_client_configuration_by_its_path(tmp_path, settings):
    kind = "stream"
    settings.CLIENT_CONFIG, settings.CLIENT_CONFIG_IS_NAMED = str(tmp_path / "client.properties"), False
    own = {"job": "dedupe", "client.config": "/of/another"}
    spec = KINDS[kind].check({"directory": str(tmp_path / kind), "properties": own})
    file = tmp_path / kind / f"{kind}.properties"

    KINDS[kind].write_files(spec)
    assert parse_properties(file.read_text())["client.config"] == ""
    Path(settings.CLIENT_CONFIG).write_text("sasl.password=sesame\n")
    KINDS[kind].refresh_files(spec)
    assert parse_properties(file.read_text())["client.config"] == settings.CLIENT_CONFIG
    assert "sesame" not in file.read_text() + str(spec)
    Path(settings.CLIENT_CONFIG).unlink()
    KINDS[kind].refresh_files(spec)
    assert parse_properties(file.read_text())["client.config"] == ""


@pytest.fixture
def secured(tmp_path, settings):
    settings.SECRETS_DIR, settings.TLS_DIR = tmp_path / "secrets", tmp_path / "secrets" / "tls"
    return {**SPECS["broker"], "directory": str(tmp_path), "is_secure": True, "first_properties": FIRST_PROPERTIES}


def test_a_secured_broker_has_a_certificate_logins_and_access_lists(tmp_path, settings, secured):
    KINDS["broker"].write_files(KINDS["broker"].check(secured))
    properties = read_server_properties((tmp_path / "server.properties").read_text())
    assert (properties["listeners"], properties["inter.broker.listener.name"]) == (
        "SASL_SSL://127.0.0.1:9092",
        "SASL_SSL",
    )
    assert properties["authorizer.class.name"] == "kafka.security.authorizer.AclAuthorizer"
    for key in ("ssl.keystore.location", "ssl.truststore.location"):
        assert Path(properties[key]).is_relative_to(settings.TLS_DIR)
        assert Path(properties[key]).read_text().startswith("-----BEGIN ")
    assert stat.S_IMODE(Path(properties["ssl.keystore.location"]).stat().st_mode) == 0o600


def test_a_certificate_that_is_good_is_kept_from_start_to_start(settings, secured):
    spec = KINDS["broker"].check(secured)
    KINDS["broker"].write_files(spec)
    before = (settings.TLS_DIR / "broker.pem").read_bytes()
    KINDS["broker"].write_files(spec)
    assert (settings.TLS_DIR / "broker.pem").read_bytes() == before


def test_a_broker_that_is_secured_no_more_keeps_nothing_of_it_that_counts(tmp_path, secured):
    path = tmp_path / "server.properties"
    KINDS["broker"].write_files(KINDS["broker"].check(secured))
    KINDS["broker"].write_files(KINDS["broker"].check(secured | {"is_secure": False, "first_properties": {}}))
    properties = read_server_properties(path.read_text())
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:9092"
    assert not properties.keys() & {"authorizer.class.name", "inter.broker.listener.name", "ssl.keystore.location"}


def test_what_an_operator_has_secured_by_hand_stays(tmp_path, secured):
    path = tmp_path / "server.properties"
    path.write_text("authorizer.class.name=kafka.security.authorizer.AclAuthorizer\nssl.keystore.location=/etc/k.pem\n")
    KINDS["broker"].write_files(KINDS["broker"].check(secured | {"is_secure": False, "first_properties": {}}))
    properties = read_server_properties(path.read_text())
    assert (properties["authorizer.class.name"], properties["ssl.keystore.location"]) == (
        "kafka.security.authorizer.AclAuthorizer",
        "/etc/k.pem",
    )


def test_a_mirror_maker_reads_what_its_kind_writes(tmp_path):
    there = SPECS["mirror"]["flows"][0]
    spec = SPECS["mirror"] | {
        "directory": str(tmp_path / "m"),
        "flows": [there, there | {"source": "there", "target": "here"}],
    }
    checked = KINDS["mirror"].check(spec)
    KINDS["mirror"].write_files(checked)
    file = Path(KINDS["mirror"].launch(checked).arguments[-1])
    flows = read_flows(parse_properties(file.read_text()), [])
    assert [flow.name for flow in flows] == ["here->there", "there->here"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_directory_of_a_first_file_sink_is_there(tmp_path, settings):
    settings.CONNECT_FILES = [tmp_path / "files", tmp_path / "elsewhere"]
    settings.CONNECT_LOGIN_FILE = tmp_path / "connect-login"
    kind = KINDS["connect"]
    for _ in range(2):
        kind.write_files(kind.check(SPECS["connect"] | {"directory": str(tmp_path)}))
    assert stat.S_IMODE((tmp_path / "files").stat().st_mode) == 0o700
    assert not (tmp_path / "elsewhere").exists()
