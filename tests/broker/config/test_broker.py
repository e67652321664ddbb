import pytest

from broker.common.errors import StartupError
from broker.config.broker import read_broker_config
from broker.config.listeners import ListenerEndpoint

MINIMAL = "broker.id=1\nzookeeper.connect=localhost:2181\n"


def test_kafkas_defaults_hold_for_what_the_file_does_not_say():
    config = read_broker_config(MINIMAL)
    assert config.num_partitions == 1
    assert config.log_segment_bytes == 1_073_741_824
    assert config.listeners == (ListenerEndpoint("PLAINTEXT", "127.0.0.1", 9092),)


def test_values_are_read_with_kafkas_names():
    config = read_broker_config(MINIMAL + "log.dirs=/a, /b\nauto.create.topics.enable=FALSE\nnum.partitions=7")
    assert config.log_dirs == ("/a", "/b")
    assert config.auto_create_topics_enable is False
    assert config.num_partitions == 7


def test_ipv6_listener_keeps_its_host():
    config = read_broker_config(MINIMAL + "listeners=PLAINTEXT://[::1]:9093")
    assert config.listeners == (ListenerEndpoint("PLAINTEXT", "::1", 9093),)


def test_keys_nothing_reads_are_reported_not_refused():
    assert read_broker_config(MINIMAL + "num.io.threads=8").unused == ("num.io.threads",)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("num.partitions=many", "Invalid value many for configuration num.partitions: Not a number of type INT"),
        ("num.partitions=0", "Invalid value 0 for configuration num.partitions: Value must be at least 1"),
        ("auto.create.topics.enable=yes", "auto.create.topics.enable: Expected value to be either true or false"),
        ("super.users=alice", "super.users='alice' is not a list as User:alice;User:bob"),
        (
            "authorizer.class.name=a.B",
            "Invalid value a.B for configuration authorizer.class.name: String must be one of",
        ),
        ("listeners=9092", "listeners='9092' is not NAME://host:port,…"),
        ("listeners=PLAINTEXT://h:70000", "listeners='PLAINTEXT://h:70000' is not NAME://host:port,…"),
        ("listeners=PLAINTEXT://0.0.0.0:9092", "set advertised.listeners to a reachable host"),
        ("advertised.listeners=PLAINTEXT://0.0.0.0:9092", "must name a host that clients can reach"),
    ],
)
def test_a_value_that_cannot_be_right_is_one_sentence(line, sentence):
    with pytest.raises(StartupError) as refused:
        read_broker_config(MINIMAL + line)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("missing", ["broker.id", "zookeeper.connect"])
def test_what_has_no_default_must_be_given(missing):
    text = "".join(f"{line}\n" for line in MINIMAL.splitlines() if not line.startswith(missing))
    with pytest.raises(StartupError, match=f"{missing} must be set"):
        read_broker_config(text)


@pytest.mark.parametrize(("line", "text"), [("", ""), ("metrics.listener=127.0.0.1:9192\n", "127.0.0.1:9192")])
def test_one_address_is_told_as_it_is_written(line, text):
    config = read_broker_config(f"broker.id=1\nzookeeper.connect=localhost:2181\n{line}")
    assert config.text("metrics.listener") == text


def test_znodes_are_protected_for_a_user_only():
    required = "broker.id=1\nzookeeper.connect=z:2181\n"
    with pytest.raises(StartupError, match=r"needs zookeeper\.digest\.file"):
        read_broker_config(f"{required}zookeeper.set.acl=true\n")
    assert read_broker_config(f"{required}zookeeper.set.acl=true\nzookeeper.digest.file=/f\n").zookeeper_set_acl
    assert not read_broker_config(required).zookeeper_set_acl


def test_super_users_may_have_commas_in_their_names_and_blanks_around_them():
    config = read_broker_config(MINIMAL + "super.users= User:a ; User:CN=b,O=c;\n")
    assert config.super_users.principals == ("User:a", "User:CN=b,O=c")
    assert config.text("super.users") == "User:a;User:CN=b,O=c"
    assert read_broker_config(MINIMAL).super_users.principals == ()


def test_both_names_of_the_authorizer_are_known():
    for name in ("kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer"):
        assert read_broker_config(f"{MINIMAL}authorizer.class.name={name}").authorizer_class_name == name


def test_a_broker_is_numbered_by_kafkas_newer_name_as_well():
    config = read_broker_config("node.id=7\nzookeeper.connect=localhost:2181\n")
    assert (config.broker_id, config.node_id, config.unused) == (7, 7, ())
    assert read_broker_config(MINIMAL).node_id == 1


def test_two_numbers_of_one_broker_do_not_start():
    with pytest.raises(StartupError, match=r"broker\.id=1 and node\.id=2 must be the same"):
        read_broker_config(MINIMAL + "node.id=2")
