import pytest

from broker.cli.configs.config_entities import Entity, entities
from broker.cli.configs.quotas import component
from broker.cli.frame.declaration import CommandError
from broker.cli.frame.parsing import parse
from broker.cli.kafka_configs import COMMAND


def typed(*words):
    return entities(parse(COMMAND, [*words])[0])


def described(*words):
    return [(word.type, word.name) for word in typed("--describe", *words)]


def test_long_options_pair_types_and_names_in_the_order_typed():
    assert described("--entity-type", "topics") == [("topics", None)]
    assert described("--entity-type", "brokers", "--entity-default") == [("brokers", "")]
    users_and_clients = ("--entity-type", "users", "--entity-type", "clients")
    assert described(*users_and_clients) == [("users", None), ("clients", None)]
    assert described(*users_and_clients, "--entity-name", "a") == [("users", "a"), ("clients", None)]
    assert described(*users_and_clients, "--entity-name", "a", "--entity-name", "b") == [
        ("users", "a"),
        ("clients", "b"),
    ]
    assert described(*users_and_clients, "--entity-name", "a", "--entity-default") == [("users", "a"), ("clients", "")]
    assert described(*users_and_clients, "--entity-default", "--entity-name", "a") == [("users", ""), ("clients", "a")]
    assert described(*users_and_clients, "--entity-default", "--entity-default") == [("users", ""), ("clients", "")]


def test_short_options_say_the_same():
    assert described("--topic", "t") == [("topics", "t")]
    assert described("--broker-logger", "1") == [("broker-loggers", "1")]
    assert described("--broker-defaults") == [("brokers", "")]
    assert described("--user", "a", "--client", "b") == [("clients", "b"), ("users", "a")]
    assert described("--user", "a", "--client-defaults") == [("users", "a"), ("clients", "")]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "At least one entity type must be specified"),
        (("--entity-name", "t"), "At least one entity type must be specified"),
        (("--entity-type", "topics", "--topic", "t"), "should not be used in conjunction with specific entity flags"),
        (("--entity-type", "users", "--entity-type", "users"), r"Duplicate entity type\(s\) specified: users"),
        (("--topic", "t", "--broker", "1"), "Only 'users' and 'clients' entity types may be specified together"),
        (("--broker", "one"), "The entity name for brokers must be a valid integer broker id, but it is: one"),
        (("--entity-type", "broker-loggers"), "An entity name must be specified with --describe of broker-loggers"),
        (
            ("--entity-type", "topics", "--entity-default"),
            "--entity-default must not be specified with --describe of topics",
        ),
        (
            ("--entity-type", "topic"),
            "Invalid entity type topic, the entity type must be one of topics, clients, users, brokers, ips, "
            "broker-loggers, client-metrics, groups with a --bootstrap-server or --bootstrap-controller argument",
        ),
        (("--zookeeper", "z", "--broker-logger", "1"), "brokers, ips with a --zookeeper argument"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_kafkas_words(words, sentence):
    with pytest.raises(CommandError, match=sentence):
        typed("--describe", *words)


@pytest.mark.parametrize("type_", ["topics", "brokers", "users"])
def test_what_is_altered_has_a_name_or_is_the_default(type_):
    with pytest.raises(CommandError, match="must be specified with --alter of"):
        typed("--alter", "--entity-type", type_)


def test_quotas_are_asked_for_one_the_default_or_all():
    components = [component(Entity("clients", name)) for name in ("app", "", None)]
    assert [(data.entity_type, data.match_type, data.match) for data in components] == [
        ("client-id", 0, "app"),
        ("client-id", 1, None),
        ("client-id", 2, None),
    ]
