"""Whose configuration `kafka-configs` is asked about, by long and short options, and the words for it. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from broker.cli.frame.declaration import Arguments, CommandError

TOPICS, CLIENTS, USERS, BROKERS, IPS = "topics", "clients", "users", "brokers", "ips"
BROKER_LOGGERS, CLIENT_METRICS, GROUPS = "broker-loggers", "client-metrics", "groups"
ENTITY_TYPES = (TOPICS, CLIENTS, USERS, BROKERS, IPS, BROKER_LOGGERS, CLIENT_METRICS, GROUPS)
_BEFORE_KAFKA_3 = (TOPICS, CLIENTS, USERS, BROKERS, IPS)
#: Those that have quotas: for all of a kind that have none of their own, too.
QUOTA_TYPES = (USERS, CLIENTS, IPS)
_MAY_BE_DEFAULT = (*QUOTA_TYPES, BROKERS)

#: Short option → type, in the order in which Kafka reads them.
SHORT = {
    "topic": TOPICS,
    "client": CLIENTS,
    "user": USERS,
    "broker": BROKERS,
    "broker-logger": BROKER_LOGGERS,
    "ip": IPS,
    "client-metrics": CLIENT_METRICS,
    "group": GROUPS,
}
SHORT_DEFAULTS = {
    "client-defaults": CLIENTS,
    "user-defaults": USERS,
    "broker-defaults": BROKERS,
    "ip-defaults": IPS,
}


class Generation(StrEnum):
    """How the cluster was named, which decides what may be asked and how it is told."""

    BOOTSTRAP = "--bootstrap-server or --bootstrap-controller"
    ZOOKEEPER = "--zookeeper"


@dataclass(frozen=True, slots=True)
class Entity:
    """`name` is empty for what holds where nothing of its own is set, None for every one there is."""

    type: str
    name: str | None

    @property
    def kind(self) -> str:
        """`topic`, as people call one of them."""
        return self.type.removesuffix("s") if self.type != CLIENT_METRICS else self.type

    @property
    def in_zookeeper_generation(self) -> str:
        kind = {TOPICS: "topic", USERS: "user-principal", CLIENTS: "client-id"}.get(self.type, self.type)
        return f"{kind} '{self.name}'" if self.name else f"default {kind}"


def entities(arguments: Arguments) -> list[Entity]:
    """Return one entity, or a user and a client, in the order typed. Raises CommandError in Kafka's words."""
    has_long = any(arguments.given(name) for name in ("entity-type", "entity-name", "entity-default"))
    shorts = [default for default in (*SHORT, *SHORT_DEFAULTS) if arguments.given(default)]
    if has_long and shorts:
        raise CommandError("--entity-{type,name,default} should not be used in conjunction with specific entity flags")
    entities = _of_long_options(arguments) if has_long else [_of_short_option(short, arguments) for short in shorts]
    _check(entities, Generation.ZOOKEEPER if arguments["zookeeper"] else Generation.BOOTSTRAP)
    if arguments["describe"]:
        _check_described(entities)
    if arguments["alter"]:
        _check_altered(entities)
    return entities


def _of_short_option(option: str, arguments: Arguments) -> Entity:
    return Entity(SHORT_DEFAULTS[option], "") if option in SHORT_DEFAULTS else Entity(SHORT[option], arguments[option])


def _of_long_options(arguments: Arguments) -> list[Entity]:
    """Pair types and names in the order typed; `--entity-default` is a name."""
    types: list[str] = arguments["entity-type"]
    names: list[str | None] = list(arguments["entity-name"])
    if arguments["entity-default"]:
        order = arguments.order
        is_first = not names or order.index("entity-default") < order.index("entity-name")
        names = ["", *names] if is_first else [*names, ""]
        # Typed twice it is still one flag.
        names += [""] * (len(types) - len(names))
    if len(names) > len(types):
        raise CommandError("At least one entity type must be specified" if not types else "More names than types.")
    names += [None] * (len(types) - len(names))
    return [Entity(type_, name) for type_, name in zip(types, names, strict=True)]


def _check(entities: list[Entity], generation: Generation) -> None:
    types = [item.type for item in entities]
    known = _BEFORE_KAFKA_3 if generation is Generation.ZOOKEEPER else ENTITY_TYPES
    if twice := sorted({type_ for type_ in types if types.count(type_) > 1}):
        raise CommandError(f"Duplicate entity type(s) specified: {','.join(twice)}")
    for type_ in types:
        if type_ not in known:
            raise CommandError(
                f"Invalid entity type {type_}, the entity type must be one of {', '.join(known)} with a "
                f"{generation} argument"
            )
    if not types:
        raise CommandError("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {USERS, CLIENTS}:
        raise CommandError("Only 'users' and 'clients' entity types may be specified together")
    for entity in entities:
        _check_name(entity)


def _check_name(entity: Entity) -> None:
    if entity.type in (BROKERS, BROKER_LOGGERS) and entity.name and not entity.name.isdecimal():
        raise CommandError(
            f"The entity name for {entity.type} must be a valid integer broker id, but it is: {entity.name}"
        )


def _check_described(entities: list[Entity]) -> None:
    for entity in entities:
        if entity.name == "" and entity.type not in _MAY_BE_DEFAULT:
            raise CommandError(f"--entity-default must not be specified with --describe of {entity.type}")
        if entity.type in (BROKER_LOGGERS, CLIENT_METRICS) and not entity.name:
            raise CommandError(f"An entity name must be specified with --describe of {entity.type}")


def _check_altered(entities: list[Entity]) -> None:
    for entity in entities:
        if entity.name is None and entity.type in _MAY_BE_DEFAULT:
            raise CommandError(
                "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
            )
        if not entity.name and entity.type not in _MAY_BE_DEFAULT:
            raise CommandError(f"An entity name must be specified with --alter of {entity.type}")
