"""`kafka-groups`: list groups of all types (KIP-1043)."""

from broker.cli.frame.connecting import ADMIN, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.client.groups import CONSUMER_PROTOCOL, GroupClient
from broker.common.errors import BarnabasError
from broker.protocol.messages.list_groups import ListedGroup

_TYPES = ("classic", "consumer", "share", "streams")
_HEAD = ("GROUP", "TYPE", "PROTOCOL")
#: Columns are at least so wide.
_WIDTH = 20


def run(arguments: Arguments) -> None:
    if arguments["group-type"] is not None and arguments["group-type"].lower() not in _TYPES:
        raise UsageError("--group-type must be a valid group type.")
    try:
        with connected(arguments) as cluster:
            groups = GroupClient(cluster).listed_of_all_types()
    except BarnabasError as error:
        raise CommandError(f"Error while executing groups command: {error}") from None
    rows = [(group.group_id, _type_of(group), group.protocol_type) for group in groups if _is_meant(group, arguments)]
    if wants_json(arguments):
        print_json([dict(zip(("group", "type", "protocol"), row, strict=True)) for row in rows])
    else:
        print("".join(f"{line}\n" for line in _table(rows)), end="")


def _type_of(group: ListedGroup) -> str:
    """Return the type's name; a broker before Kafka 3.7 knows one only, and does not name it."""
    return (group.group_type or "classic").capitalize()


def _is_meant(group: ListedGroup, arguments: Arguments) -> bool:
    group_type = _type_of(group).lower()
    is_of_consumers = group_type == "consumer" or (
        group_type == "classic" and group.protocol_type in ("", CONSUMER_PROTOCOL)
    )
    return (
        (arguments["group-type"] is None or group_type == arguments["group-type"].lower())
        and (arguments["protocol"] is None or group.protocol_type == arguments["protocol"])
        and (not arguments["consumer"] or is_of_consumers)
        and all(not arguments[name] or group_type == name for name in ("share", "streams"))
    )


def _table(rows: list[tuple[str, str, str]]) -> list[str]:
    """Return lines as Kafka 4.4's: every column is as wide as the widest cell of all, rows end with a space."""
    width = max([_WIDTH, *(len(cell) for row in rows for cell in row)])
    head = " ".join(name.ljust(width) for name in _HEAD)
    return [head, *("".join(f"{cell:<{width}} " for cell in row) for row in rows)]


COMMAND = Command(
    name="kafka-groups",
    summary="List groups of all types.",
    run=run,
    exactly_one_of=(("list",),),
    options=(
        *ADMIN,
        OUTPUT,
        Option("list", "List the groups."),
        Option("group-type", "Only those of a type: classic, consumer, share or streams.", "TYPE"),
        Option("protocol", "Only those of a protocol type.", "PROTOCOL"),
        Option("consumer", "Only groups of consumers of either protocol, and groups that consist of offsets."),
        Option("share", "Only share groups."),
        Option("streams", "Only streams groups."),
    ),
    examples=(Example("kafka-groups --bootstrap-server localhost:9092 --list", "groups with types and protocols"),),
)
