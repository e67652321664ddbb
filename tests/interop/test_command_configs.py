import json

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from tests.barnabas_cluster import await_true
from tests.typed import typed


@pytest.fixture
def configs(cluster):
    """`kafka-configs` on the cluster."""
    return lambda *words: typed("kafka-configs", "--bootstrap-server", cluster.bootstrap_servers, *words)


@pytest.fixture
def topic(cluster, name):
    typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, "--create", "--topic", name)
    return name


def test_a_topics_settings_are_added_described_and_taken_away(configs, topic):
    added = configs("--alter", "--topic", topic, "--add-config", "retention.ms=3600000,cleanup.policy=[compact,delete]")
    assert added == (0, f"Completed updating config for topic {topic}.\n", "")
    described = configs("--describe", "--entity-type", "topics", "--entity-name", topic)
    head, policy, retention = described.out.splitlines()
    assert head == f"Dynamic configs for topic {topic} are:"
    assert policy.startswith("  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.")
    assert retention.startswith(
        "  retention.ms=3600000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=3600000, "
    )
    taken = configs("--alter", "--topic", topic, "--delete-config", "retention.ms,cleanup.policy")
    assert taken == (0, f"Completed updating config for topic {topic}.\n", "")
    assert configs("--describe", "--topic", topic).out == f"Dynamic configs for topic {topic} are:\n"
    everything = configs("--describe", "--topic", topic, "--all").out
    assert everything.startswith(f"All configs for topic {topic} are:\n")
    assert "\n  segment.bytes=1073741824 sensitive=false synonyms={DEFAULT_CONFIG:log.segment.bytes=" in everything


def test_what_another_client_set_is_told_and_a_file_adds_to_it(cluster, configs, topic, tmp_path):
    entry = ConfigEntry("retention.ms", "5000000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.incremental_alter_configs([resource])[resource].result(10)
    (tmp_path / "more.properties").write_text("# more\nmax.message.bytes = 2000000\n")
    configs("--alter", "--topic", topic, "--add-config-file", str(tmp_path / "more.properties"))
    (described,) = json.loads(configs("--describe", "--topic", topic, "--output", "json").out)
    assert {config["name"]: config["value"] for config in described["configs"]} == {
        "max.message.bytes": "2000000",
        "retention.ms": "5000000",
    }


def test_a_broker_all_brokers_and_loggers_are_told_and_changed(configs):
    changed = configs("--alter", "--broker", "2", "--add-config", "log.cleaner.backoff.ms=16000")
    assert changed == (0, "Completed updating config for broker 2.\n", "")
    for_all = configs("--alter", "--broker-defaults", "--add-config", "log.cleaner.backoff.ms=17000")
    assert for_all == (0, "Completed updating default config for brokers in the cluster.\n", "")
    of_two = (
        "  log.cleaner.backoff.ms=16000 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:log.cleaner.backoff.ms=16000"
    )
    await_true(lambda: of_two in configs("--describe", "--broker", "2").out, "the broker tells what is set for it")
    of_all = "Default configs for brokers in the cluster are:\n  log.cleaner.backoff.ms=17000 "
    described = configs("--describe", "--entity-type", "brokers").out
    assert described.startswith("Dynamic configs for broker 1 are:\nDynamic configs for broker 2 are:\n  log.cleaner")
    assert of_all in described
    for whose in (("--broker", "2"), ("--broker-defaults",)):
        assert configs("--alter", *whose, "--delete-config", "log.cleaner.backoff.ms").status == 0
    outcome = configs("--alter", "--broker-logger", "1", "--add-config", "broker.log=DEBUG")
    assert outcome == (0, "Completed updating config for broker-logger 1.\n", "")
    logger = "  broker.log=DEBUG sensitive=false synonyms={}\n"
    assert logger in configs("--describe", "--broker-logger", "1").out
    assert configs("--alter", "--broker-logger", "1", "--delete-config", "broker.log").status == 0
    assert logger not in configs("--describe", "--broker-logger", "1").out


def test_a_groups_settings_are_known_to_all_brokers(cluster, configs, name):
    changed = configs("--alter", "--group", name, "--add-config", "consumer.session.timeout.ms=50000")
    assert changed == (0, f"Completed updating config for group {name}.\n", "")
    of_group = ("--describe", "--entity-type", "groups", "--entity-name", name)
    line = (
        "  consumer.session.timeout.ms=50000 sensitive=false synonyms={DYNAMIC_GROUP_CONFIG:"
        "consumer.session.timeout.ms=50000, DEFAULT_CONFIG:group.consumer.session.timeout.ms=45000}\n"
    )
    for broker in cluster.bootstrap_servers.split(","):
        await_true(lambda broker=broker: line in _configs_of_groups(broker), f"broker {broker} lists the group")
    assert configs(*of_group).out == f"Dynamic configs for group {name} are:\n{line}"
    refused = configs("--alter", "--group", name, "--add-config", "consumer.session.timeout.ms=1")
    assert "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive." in refused.err
    configs("--alter", "--group", name, "--delete-config", "consumer.session.timeout.ms")
    assert configs(*of_group).out == f"Dynamic configs for group {name} are:\n"


def test_what_is_refused_is_one_sentence_on_stderr(configs, topic):
    refused = {
        "Invalid broker logger(s): nosuch\n": ("--alter", "--broker-logger", "1", "--add-config", "nosuch=INFO"),
        "Error while executing config command: Unknown topic config name: foo\n": (
            "--alter", "--topic", topic, "--add-config", "foo=1"
        ),
        "Error while executing config command: broker 9 is not alive, or there is none\n": (
            "--alter", "--broker", "9", "--add-config", "foo=1"
        ),
        "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter\n": (
            "--alter", "--topic", topic
        ),
    }  # fmt: skip
    assert {sentence: configs(*words) for sentence, words in refused.items()} == {
        sentence: (1, "", sentence) for sentence in refused
    }
    absent = f"The topic '{topic}-x' doesn't exist and doesn't have dynamic config.\n"
    assert configs("--describe", "--topic", f"{topic}-x") == (0, absent, "")


def test_a_setting_that_is_not_set_may_be_taken_away(configs, topic):
    updated = f"Completed updating config for topic {topic}.\n"
    assert configs("--alter", "--topic", topic, "--delete-config", "nosuch") == (0, updated, "")


def test_a_users_credential_is_kept_told_without_its_secret_and_removed(configs):
    altered = configs("--alter", "--user", "bob", "--add-config", "SCRAM-SHA-256=[password=swordfish]")
    assert (altered.status, altered.err) == (0, "")
    output = configs("--describe", "--user", "bob").out
    assert "SCRAM-SHA-256=iterations=" in output
    assert "swordfish" not in output + altered.out
    assert configs("--alter", "--user", "bob", "--delete-config", "SCRAM-SHA-256").status == 0
    assert "SCRAM-SHA-256" not in configs("--describe", "--user", "bob").out


def test_the_zookeeper_generation_says_what_it_said(cluster, topic):
    old = ("kafka-configs", "--zookeeper", cluster.brokers[0].zookeeper_connect)
    warning = (
        "Warning: --zookeeper is deprecated and will be removed in a future version of Kafka.\n"
        "Use --bootstrap-server instead to specify a broker to connect to.\n"
    )
    whose = ("--entity-type", "topics", "--entity-name", topic)
    altered = typed(*old, "--alter", *whose, "--add-config", "retention.ms=3600000", "--force")
    assert altered.out == f"{warning}Completed Updating config for entity: topic '{topic}'.\n"
    assert typed(*old, "--describe", *whose).out == f"{warning}Configs for topic '{topic}' are retention.ms=3600000\n"


def _configs_of_groups(broker: str) -> str:
    return typed("kafka-configs", "--bootstrap-server", broker, "--describe", "--entity-type", "groups").out
