"""`schema-registry.properties`: Confluent's names; what is prefixed with `kafkastore.` is of the brokers' clients."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker.client.rest_listeners import SCHEMES, RestListener, RestTls, reached_by_others, read_listeners, read_tls
from broker.client.security.errors import ClientConfigError
from broker.client.security.file import exposure
from broker.client.security.librdkafka import librdkafka_settings
from broker.client.security.properties import HEEDED, read_security
from broker.common.errors import StartupError
from broker.common.header_rules import HeaderRule, read_rules
from broker.common.own_names import OwnNames
from broker.config.definition import (
    REQUIRED,
    ByAttribute,
    ConfigError,
    Key,
    parse_boolean,
    parse_int,
    parse_list,
    read_values,
)
from broker.config.properties import parse_properties
from broker.config.zookeeper import KEYS as ZOOKEEPER_TLS_KEYS
from broker.config.zookeeper import zookeeper_tls
from broker.registry.records import LEVELS

PORT = 8081
_STORE = "kafkastore."
_OLDER = {"avro.compatibility.level": "schema.compatibility.level", "master.eligibility": "leader.eligibility"}


def _level(text: str) -> str:
    if text.upper() not in LEVELS:
        raise ValueError(text)
    return text.upper()


KEYS = (
    Key("listeners", parse_list, (f"http://127.0.0.1:{PORT}",), "Where to listen, http://host:port or https://…"),
    Key("inter.instance.protocol", str, "", "By which of them other registries ask this one, and it them; unset: by "
        "the first.", choices=("", *SCHEMES)),
    Key("ssl.client.authentication", str, "NONE", "Whether clients of https show a certificate.",
        choices=("NONE", "REQUESTED", "REQUIRED")),
    Key("host.name", str, "", "The name under which other registries reach this one; else the listener's host."),
    Key("rest.allowed.hosts", parse_list, (), "Further host names for a registry without a login; * is all. "
        "Addresses and configured names always work."),
    Key("kafkastore.bootstrap.servers", parse_list, REQUIRED, "Some brokers, host:port or PLAINTEXT://host:port."),
    Key("kafkastore.topic", str, "_schemas", "The topic that keeps everything."),
    Key("kafkastore.topic.replication.factor", parse_int, 3, "Replicas of the topic if it is made.", at_least=1),
    Key("kafkastore.timeout.ms", parse_int, 10_000, "How long a change may take to come back from the topic. "
        "Confluent's default is 500; an answer of 50002 leaves its client unsure, so there is more.", at_least=1),
    Key("kafkastore.init.timeout.ms", parse_int, 60_000, "How long reading the topic may take at start.", at_least=1),
    Key("kafkastore.connection.url", str, "", "ZooKeeper, host:port,…[/chroot], by which registries elect a leader; "
        "without it this one leads."),
    Key("kafkastore.zk.session.timeout.ms", parse_int, 10_000, "After how long a dead leader is replaced.",
        at_least=1_000),
    Key("zookeeper.digest.file", str, "", "user:password for ZooKeeper, a file of mode 600."),
    Key("schema.registry.zk.namespace", str, "schema_registry", "The znode below which the leader is elected."),
    Key("schema.registry.group.id", str, "schema-registry", "Registries of one group share one right to write."),
    Key("leader.eligibility", parse_boolean, True, "Whether this one may lead."),
    Key("schema.compatibility.level", _level, "BACKWARD", "Compatibility level of subjects without their own."),
    Key("mode.mutability", parse_boolean, True, "Whether modes may be changed."),
    Key("schema.validate.new.schemas", parse_boolean, True, "Whether defaults of new schemas must fit their types, "
        "where validateNewSchemas of a configuration says nothing else."),
    Key("schema.validate.fields", parse_boolean, False, "Whether new schemas may have no fields that are reserved or "
        "begin with $$, where validateFields of a configuration says nothing else."),
    Key("schema.reject.empty.subject", parse_boolean, False, "Whether a subject without a name in a context, and one "
        "called *, are refused."),
    Key("schema.providers.reference.versions.strict", parse_boolean, False, "Whether a schema is refused that refers "
        "to one name in two versions."),
    Key("schema.registry.metadata.deployment.attributes", parse_list, (), "What /v1/metadata/deployment answers."),
    Key("response.http.headers.config", str, "", "Headers of every answer, `set|add|setDate|addDate name:value`, with "
        "commas between them; one that has a comma in quotes."),
    Key("authentication.method", str, "NONE", "BASIC asks for a name and password.", choices=("NONE", "BASIC")),
    Key("authentication.file", str, "", "Names and passwords, `name: password` on a line; a file of mode 600."),
    *ZOOKEEPER_TLS_KEYS,
)  # fmt: skip


@dataclass(frozen=True)
class RegistryConfig(ByAttribute):
    """`values` by the names of KEYS, with underscores for dots; `client` are librdkafka's settings, secrets too."""

    values: Mapping[str, Any]
    listeners: tuple[RestListener, ...]
    #: The listener that other registries ask.
    among: RestListener
    tls: RestTls | None
    client: Mapping[str, Any] = field(repr=False)
    #: Of every answer.
    response_headers: tuple[HeaderRule, ...] = ()
    #: Keys that nobody knows, as other releases have some: told at start, and passed over.
    unknown: tuple[str, ...] = ()

    @property
    def advertised(self) -> tuple[str, int, str]:
        """Return host, port and scheme."""
        return self.values["host_name"] or self.among.reached_at, self.among.port, self.among.scheme

    @property
    def names(self) -> OwnNames:
        """The host names by which the registry may be asked without a login."""
        own = (self.values["host_name"], *(listener.host for listener in self.listeners))
        return OwnNames("rest.allowed.hosts", self.values["rest_allowed_hosts"], own)


def read_config_file(path: str, overrides: Mapping[str, str]) -> RegistryConfig:
    """Raises StartupError."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    values = {_OLDER.get(name, name): value for name, value in {**parse_properties(text), **overrides}.items()}
    if exposed := exposure(path, {**_of_clients(values), **_of_listeners(values)}):
        raise StartupError(f"{exposed}.")
    return read_config(values)


def read_config(settings: Mapping[str, str]) -> RegistryConfig:
    """Raises StartupError."""
    known = {key.name: text for key in KEYS if (text := settings.get(key.name)) is not None}
    try:
        values = read_values(KEYS, known)
        zookeeper_tls(values)
        security = librdkafka_settings(read_security(_of_clients(settings)))
        listeners = read_listeners(values["listeners"], PORT)
        is_secure = any(listener.scheme == "https" for listener in listeners)
        tls = read_tls(settings, values["ssl_client_authentication"]) if is_secure else None
    except (ConfigError, ClientConfigError) as error:
        raise StartupError(f"{error}.") from None
    headers = read_rules(values["response_http_headers_config"])
    if values["authentication_method"] == "BASIC" and not values["authentication_file"]:
        raise StartupError("authentication.method=BASIC needs authentication.file.")
    among = reached_by_others(listeners, values["inter_instance_protocol"], "inter.instance.protocol")
    servers = ",".join(server.rpartition("://")[2] for server in values["kafkastore_bootstrap_servers"])
    client = {
        "bootstrap.servers": servers,
        "client.id": "schema-registry",
        "log.connection.close": False,
        "reconnect.backoff.max.ms": 1_000,
        **security,
    }
    heeded = HEEDED if is_secure else frozenset[str]()
    unknown = (name for name in settings if name not in known and name not in heeded and not name.startswith(_STORE))
    return RegistryConfig(values, listeners, among, tls, client, headers, tuple(sorted(unknown)))


def _of_listeners(values: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in values.items() if name.startswith("ssl.")}


def _of_clients(values: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(_STORE): text for name, text in values.items() if name.startswith(_STORE)}
