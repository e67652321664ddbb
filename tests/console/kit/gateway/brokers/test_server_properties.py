"""What a page shows of a broker's file."""

from console.kit.gateway.brokers.server_properties import read_server_properties


def test_values_stand_as_the_broker_says_them_and_secrets_are_hidden():
    text = (
        "listeners=outside://h:1\nssl.key.password=hunter2\ncolour=red\nnum.partitions=many\n"
        "listener.name.outside.plain.sasl.jaas.config=hunter2\nlistener.name.outside.max.connections=05\n"
    )
    assert read_server_properties(text) == {
        "listeners": "OUTSIDE://h:1",
        "ssl.key.password": "[hidden]",
        "colour": "red",
        "num.partitions": "many",
        "listener.name.outside.plain.sasl.jaas.config": "[hidden]",
        "listener.name.outside.max.connections": "5",
    }
