"""`kafka-broker-api-versions`: which requests each broker answers, in which versions, and which of them this knows."""

from collections.abc import Mapping

from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, connected
from broker.cli.frame.declaration import Arguments, Command, Example
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.client.cluster import ClusterConnections
from broker.common.errors import BarnabasError
from broker.protocol.api_keys import OWN_APIS_FROM, ApiKey
from broker.protocol.messages import MESSAGES

_Versions = Mapping[int, tuple[int, int]]


def run(arguments: Arguments) -> None:
    """Print every broker's versions; one that does not answer is named, and the others are asked."""
    versions: list[tuple[str, _Versions | str]] = []
    with connected(arguments) as cluster:
        brokers = sorted(cluster.describe_topics([]).brokers, key=lambda broker: broker.node_id)
        for broker in brokers:
            head = f"{broker.host}:{broker.port} (id: {broker.node_id} rack: {broker.rack or 'null'})"
            versions.append((head, _served(cluster, broker.host, broker.port)))
    if wants_json(arguments):
        print_json([_as_json(broker.node_id, served) for broker, (_, served) in zip(brokers, versions, strict=True)])
    else:
        for head, served in versions:
            print(f"{head} -> {served}" if isinstance(served, str) else "\n".join(_lines(head, served)))


def _served(cluster: ClusterConnections, host: str, port: int) -> _Versions | str:
    try:
        return cluster.connection(host, port).served
    except BarnabasError as error:
        return f"ERROR: {error}"


def _lines(head: str, served: _Versions) -> list[str]:
    """Return lines in the order of keys, also of APIs known here and not served, except those that only this product
    has.
    """
    keys = sorted({*served, *(key for key in MESSAGES if key < OWN_APIS_FROM)})
    lines = [f"\t{_line(key, served.get(key))}" for key in keys]
    return [f"{head} -> (", *(f"{line}," for line in lines[:-1]), lines[-1], ")"]


def _line(key: int, versions: tuple[int, int] | None) -> str:
    name = f"{api_name(key)}({key})"
    if versions is None:
        return f"{name}: UNSUPPORTED"
    low, high = versions
    text = f"{low} to {high}" if low != high else f"{low}"
    usable = _usable(key, versions)
    if usable is None:
        return f"{name}: {text}"
    return f"{name}: {text} [usable: {usable if usable >= 0 else 'none'}]"


def _usable(key: int, versions: tuple[int, int]) -> int | None:
    """Return the newest version that both sides know; -1 for none, None for an API that this product has no words
    for.
    """
    if key not in MESSAGES:
        return None
    low, high = MESSAGES[ApiKey(key)].request.versions
    usable = min(high, versions[1])
    return usable if usable >= max(low, versions[0]) else -1


def api_name(key: int) -> str:
    try:
        return "".join(word.capitalize() for word in ApiKey(key).name.split("_"))
    except ValueError:
        return "UNKNOWN"


def _as_json(broker: int, served: _Versions | str) -> dict[str, object]:
    if isinstance(served, str):
        return {"broker": broker, "error": served}
    apis = [
        {"key": key, "name": api_name(key), "min": low, "max": high, "usable": _usable(key, (low, high))}
        for key, (low, high) in sorted(served.items())
    ]
    return {"broker": broker, "apis": apis}


COMMAND = Command(
    name="kafka-broker-api-versions",
    summary="Tell which requests each broker answers, and in which versions.",
    run=run,
    options=(BOOTSTRAP_SERVER, COMMAND_CONFIG, OUTPUT),
    examples=(
        Example(
            "kafka-broker-api-versions --bootstrap-server localhost:9092", "also a quick look at which brokers are up"
        ),
    ),
    notes=("Behind `usable` stands the newest version that the broker and this command both know.",),
)
