"""What files say of topics, groups and connectors. Pure."""

from collections.abc import Iterator, Mapping

from console.automation.declared.declaration import DeclaredConnector, DeclaredGroup, DeclaredTopic
from console.automation.declared.document import DocumentEntry, Node, Scalar, Sequence
from console.automation.declared.reader import DeclarationReader, refused_if
from console.cluster.topics.names import is_legal
from console.ecosystem.connectors.answers import KEYS_MAX
from console.ecosystem.connectors.typed import name_problem
from console.kit.gateway.groups.interface import is_ledger
from console.kit.gateway.interface import PARTITIONS_PER_TOPIC_MAX, TOPIC_NAME_LENGTH_MAX
from console.kit.plans.setting import DEFAULT, plain_value

REPLICAS_MAX = 100
EARLIEST, LATEST = "earliest", "latest"
_GROUP_LENGTH_MAX = 249
_LATER = "later"
_TOPIC = ("partitions", "replication_factor", "settings", "absent")


def declared_topics(reader: DeclarationReader, node: Node) -> Iterator[DeclaredTopic]:
    for name, entry in reader.table(node, "topics").items():
        refused_if(reader, entry.line, name, topic_name_refusal)
        table = reader.table(entry.value, f"The topic {name[:80]}", _TOPIC)
        is_later = "absent" in table and reader.text(table["absent"], "absent") == _LATER
        is_absent = _absent(reader, table, f"The topic {name[:80]}", is_later=is_later)
        yield DeclaredTopic(
            name,
            reader.at(entry.line),
            reader.number(table.get("partitions"), "partitions", PARTITIONS_PER_TOPIC_MAX),
            reader.number(table.get("replication_factor"), "replication_factor", REPLICAS_MAX),
            dict(_settings(reader, table["settings"].value)) if "settings" in table else {},
            is_absent,
            is_later,
        )


def declared_groups(reader: DeclarationReader, node: Node) -> Iterator[DeclaredGroup]:
    for name, entry in reader.table(node, "groups").items():
        refused_if(reader, entry.line, name, _group_name_refusal)
        table = reader.table(entry.value, f"The group {name[:80]}", ("starts", "absent"))
        is_absent = _absent(reader, table, f"The group {name[:80]}")
        starts = dict(_starts(reader, table["starts"].value)) if "starts" in table else {}
        yield DeclaredGroup(name, reader.at(entry.line), starts, is_absent)


def declared_connectors(reader: DeclarationReader, node: Node) -> Iterator[DeclaredConnector]:
    for name, entry in reader.table(node, "connectors").items():
        refused_if(reader, entry.line, name, name_problem)
        what = f"The connector {name[:80]}"
        table = reader.table(entry.value, what, ("config", "absent"))
        is_absent = _absent(reader, table, what)
        config = dict(_config(reader, table["config"].value, name)) if "config" in table else {}
        if not is_absent and not config.get("connector.class"):
            reader.wrong(entry.line, f"{what} needs a config with its connector.class.")
        yield DeclaredConnector(name, reader.at(entry.line), config, is_absent)


def topic_name_refusal(name: str) -> str:
    if is_legal(name):
        return ""
    return (
        f"{name[:80]!r} cannot be the name of a topic: at most {TOPIC_NAME_LENGTH_MAX} letters, digits, '.', '_' and "
        "'-', and not just '.' or '..'."
    )


def _group_name_refusal(name: str) -> str:
    if not name.strip() or len(name) > _GROUP_LENGTH_MAX or not name.isprintable():
        return f"The name of a group has at most {_GROUP_LENGTH_MAX} characters, all of them visible."
    return f"{name[:80]} is the ledger of a stream job, no consumer group." if is_ledger(name) else ""


def _absent(
    reader: DeclarationReader, entries: Mapping[str, DocumentEntry], what: str, *, is_later: bool = False
) -> bool:
    is_absent = is_later or reader.switch(entries.get("absent"), "absent")
    if is_absent and len(entries) > 1:
        other = next(name for name in entries if name != "absent")
        reader.wrong(entries[other].line, f"{what} is to be absent, so it has no {other}: leave one of both out.")
    return is_absent


def _settings(reader: DeclarationReader, node: Node) -> Iterator[tuple[str, str | None]]:
    for name, entry in reader.table(node, "settings").items():
        if isinstance(entry.value, Scalar) and entry.value.text in (None, DEFAULT):
            yield name, None
            continue
        typed = ",".join(reader.texts(entry, name))
        yield name, plain_value(name, typed.strip())


def _starts(reader: DeclarationReader, node: Node) -> Iterator[tuple[str, str]]:
    for topic, entry in reader.table(node, "starts").items():
        refused_if(reader, entry.line, topic, topic_name_refusal)
        where = reader.text(entry, topic) or ""
        if where not in (EARLIEST, LATEST):
            reader.wrong(entry.line, f"A group starts at {EARLIEST} or {LATEST}; offsets are put on its own page.")
        yield topic, where


def _config(reader: DeclarationReader, node: Node, name: str) -> Iterator[tuple[str, str]]:
    entries = reader.table(node, "config")
    if len(entries) > KEYS_MAX:
        reader.wrong(node.line, f"A configuration has at most {KEYS_MAX} keys.")
    for key, entry in entries.items():
        is_list = isinstance(entry.value, Sequence)
        value = ",".join(reader.texts(entry, key)) if is_list else reader.text(entry, key)
        if key == "name":
            if value != name:
                reader.wrong(entry.line, f"The connector is called {name[:80]} above: leave name out.")
        elif value is not None:
            yield key, value
