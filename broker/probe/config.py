"""The probe's properties file.

bootstrap.servers=127.0.0.1:9092
listener=127.0.0.1:9191
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from broker.common.errors import StartupError
from broker.common.topic_names import is_topic_name
from broker.config.definition import REQUIRED, ByAttribute, ConfigError, Key, parse_int, parse_list, read_values
from broker.config.properties import parse_properties

KEYS = (
    Key("bootstrap.servers", str, REQUIRED, "Brokers to ask for the cluster, host:port, comma separated."),
    Key("client.config", str, "", "A file of Kafka's client properties, mode 600: how brokers are to be reached."),
    Key("client.id", str, "barnabas-probe", "What brokers call this client in their logs."),
    Key("topic", str, "barnabas.probe", "The topic that is written and read; made if it is not there."),
    Key("replication.factor", parse_int, 3, "Replicas of its partitions, or as many as there are brokers.", at_least=1),
    Key("record.interval.ms", parse_int, 500, "How often each broker is written to and read from.", at_least=50),
    Key("request.timeout.ms", parse_int, 1_000, "How long replicas may take to have a record.", at_least=100),
    Key("retention.ms", parse_int, 3_600_000, "How long records of a topic that is made here are kept.", at_least=1),
    Key("mirror.bootstrap.servers", str, "", "Where the topic's mirror is read; empty: it is not."),
    Key("mirror.client.config", str, "", "As client.config, of that cluster."),
    Key("mirror.topic", str, "", "What the mirror is called there; empty: as the topic."),
    Key("listener", str, "127.0.0.1:9191", "Where /metrics, /status and /healthz are served."),
    Key("allowed.hosts", parse_list, (), "By which further host names; * is all. Addresses and the listener's are."),
)


@dataclass(frozen=True)
class ProbeConfig(ByAttribute):
    """`values` by attribute (dots are underscores)."""

    values: Mapping[str, Any]

    @property
    def where(self) -> tuple[str, int]:
        host, _, port = self.values["listener"].rpartition(":")
        return host.strip("[]"), int(port)


def read_probe_config(text: str) -> ProbeConfig:
    """Raises StartupError."""
    try:
        config = ProbeConfig(read_values(KEYS, parse_properties(text)))
        if not is_topic_name(config.topic):
            raise ConfigError(f"topic={config.topic} is no name of a topic")
        if not config.where[0] or not 0 <= config.where[1] < 65_536:
            raise ValueError
    except ConfigError as error:
        raise StartupError(f"{error}.") from None
    except ValueError:
        raise StartupError(f"listener={config.listener} is not host:port.") from None
    return config
