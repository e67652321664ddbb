"""`kafka-mirror-groups`: where a consumer group goes on in the other cluster of a mirror, and to move it there."""

from broker.cli.frame.connecting import ADMIN, client_config, connected, security_of
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.groups import GroupClient
from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.mirror.checkpoint_keeper import EMPTY
from broker.mirror.groups import MovedOffset, move, places_of, ways_back, ways_there
from broker.mirror.ledger import MirrorLedger


def run(arguments: Arguments) -> int:
    source, separator, target = arguments["flow"].partition("->")
    if not separator or not source or not target:
        raise UsageError("--flow is written as SOURCE->TARGET, by the clusters' aliases")
    try:
        servers = parse_bootstrap_servers(arguments["to-bootstrap-server"])
    except ApiError as error:
        raise UsageError(f"--to-bootstrap-server: {error}") from None
    security = security_of(client_config(arguments["to-command-config"]))
    with (
        connected(arguments) as here,
        ClusterConnections(servers, client_id="mirror-groups", security=security) as there,
    ):
        group = arguments["group"]
        for cluster, name in ((here, source), (there, target)):
            _require_empty(cluster, group, name)
        committed = GroupClient(here).committed(group)
        if not committed:
            raise CommandError(f"Consumer group '{group}' has committed nothing in {source}.")
        lines = _lines(here, there, source, target, committed)
        _show(arguments, lines)
        offsets = places_of(lines)
        if arguments["execute"] and offsets:
            GroupClient(there).commit(group, offsets)
    if not wants_json(arguments):
        done = f"Committed in {target}." if arguments["execute"] and offsets else f"Nothing was changed in {target}."
        print(f"\n{done}{'' if arguments['execute'] else ' Add --execute to commit these offsets.'}")
    return 0 if offsets else 1


def _require_empty(cluster: ClusterConnections, group: str, name: str) -> None:
    state = GroupClient(cluster).described(group).state
    if state not in EMPTY:
        raise CommandError(f"Consumer group '{group}' has members in {name} ({state}): stop them first.")


def _lines(
    here: ClusterConnections, there: ClusterConnections, source: str, target: str, committed: dict[TopicPartition, int]
) -> list[MovedOffset]:
    of_target, of_source = MirrorLedger(there), MirrorLedger(here)
    of_target.read_to_end()
    of_source.read_to_end()
    return move(committed, ways_there(of_target, f"{source}->{target}"), ways_back(of_source, f"{target}->{source}"))


def _show(arguments: Arguments, lines: list[MovedOffset]) -> None:
    if wants_json(arguments):
        print_json(
            [
                {
                    "topic": line.source.topic,
                    "partition": line.source.partition,
                    "offset": line.at,
                    "toTopic": line.target.topic if line.target else None,
                    "toPartition": line.target.partition if line.target else None,
                    "toOffset": line.offset,
                    "isExact": line.is_exact,
                    "reason": line.reason or None,
                }
                for line in lines
            ]
        )
        return
    rows = [("TOPIC", "PARTITION", "OFFSET", "GOES ON IN", "AT", "")]
    for line in lines:
        reason = line.reason or ("" if line.is_exact else "some records are read again")
        where = f"{line.target}" if line.target else "-"
        rows.append(
            (
                line.source.topic,
                str(line.source.partition),
                str(line.at),
                where,
                str(line.offset or 0) if line.target else "-",
                reason,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


COMMAND = Command(
    name="kafka-mirror-groups",
    summary="Show where a consumer group goes on in the other cluster of a mirror, and move it there.",
    run=run,
    options=(
        *ADMIN,
        OUTPUT,
        Option("group", "The group.", "GROUP", required=True),
        Option(
            "flow", "From where to where, by the aliases of the mirror, as east->west.", "SOURCE->TARGET", required=True
        ),
        Option("to-bootstrap-server", "Brokers of the cluster it goes to.", "HOST:PORT,…", required=True),
        Option("to-command-config", "Properties of clients of that cluster.", "FILE"),
        Option("execute", "Commit the offsets there; without it they are only shown."),
    ),
    examples=(
        Example(
            "kafka-mirror-groups --bootstrap-server east:9092 --to-bootstrap-server west:9092 --flow 'east->west' "
            "--group billing --execute",
            "billing goes on in west behind what it has read in east",
        ),
        Example(
            "kafka-mirror-groups --bootstrap-server west:9092 --to-bootstrap-server east:9092 --flow 'west->east' "
            "--group billing --execute",
            "and back: also behind what it has read of the copies in west",
        ),
    ),
    notes=(
        "The group must have no members in either cluster. Nothing is missed; where the mirror does not know an old "
        "offset exactly any more, some records are read again, and the line says so.",
    ),
)
