"""Command-line tools of both sides, run within a process of each: what they print, and their exit status."""

import re
from collections.abc import Callable

from tests.reference.comparison import Reference
from tests.typed import typed

_PACKAGE = "org.apache.kafka.tools."
_CLASSES = {
    "kafka-topics": "TopicCommand",
    "kafka-configs": "ConfigCommand",
    "kafka-acls": "AclCommand",
    "kafka-consumer-groups": "consumer.group.ConsumerGroupCommand",
    "kafka-get-offsets": "GetOffsetShell",
    "kafka-delete-records": "DeleteRecordsCommand",
    "kafka-log-dirs": "LogDirsCommand",
    "kafka-transactions": "TransactionsCommand",
    "kafka-features": "FeatureCommand",
    "kafka-reassign-partitions": "reassign.ReassignPartitionsCommand",
    "kafka-leader-election": "LeaderElectionCommand",
    "kafka-broker-api-versions": "BrokerApiVersionsCommand",
    "kafka-cluster": "ClusterTool",
    "kafka-delegation-tokens": "DelegationTokenCommand",
    "kafka-dump-log": "DumpLogSegments",
}
Tools = Callable[[str, list[str]], dict]

_ADDRESS = re.compile(r"\b(?:127\.0\.0\.1|localhost):\d+")
_TOPIC_ID = re.compile(r"(TopicId: )\S+")
_FRAME = re.compile(r"^(?:\s+at |\s*\.\.\. \d+ more).*\n?", re.MULTILINE)
#: The table of options, which each side lays out in its own way.
_HELP = re.compile(r"^Option\s.*", re.MULTILINE | re.DOTALL)
_OUR_HELP = re.compile(r"`[a-z-]+ --help` lists the options\.\n")


def our_tools(name: str, words: list[str]) -> dict:
    status, out, err = typed(name, *words)
    return {"status": status, "out": _plain(out), "err": _plain(err)}


def tools_of(program: Reference) -> Tools:
    """Return Kafka's tools as the Java program runs them."""

    def run(name: str, words: list[str]) -> dict:
        (ended,) = program.outcomes([{"op": "tool", "tool": _PACKAGE + _CLASSES[name], "words": words}])
        return {"status": ended["status"], "out": _plain(ended["out"]), "err": _plain(ended["err"])}

    return run


def _plain(text: str) -> str:
    text = _TOPIC_ID.sub(r"\1id", _ADDRESS.sub("host:port", text))
    return _OUR_HELP.sub("", _HELP.sub("", _FRAME.sub("", text))).strip()
