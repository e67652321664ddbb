"""Where kafka-console-consumer begins, and as whom: of its options and the client's properties. Pure."""

import random
import re
from collections.abc import Mapping
from typing import Any

from broker.cli.frame.declaration import Arguments, CommandError, UsageError

#: librdkafka's words for the ends of a log.
BEGINNING, END = -2, -1
_RESETS_TO_END = ("latest", "largest", "end")


def check(arguments: Arguments) -> None:
    """Raises UsageError for options that contradict each other."""
    if (arguments["topic"] is None) == (arguments["include"] is None):
        raise UsageError("Exactly one of --include/--topic is required. ")
    if arguments.given("partition") and arguments["topic"] is None:
        raise UsageError("The topic is required when partition is specified.")
    if arguments.given("offset") and not arguments.given("partition"):
        raise UsageError("The partition is required when offset is specified.")
    if arguments.given("offset") and arguments["from-beginning"]:
        raise UsageError("Options from-beginning and offset cannot be specified together.")
    if arguments.given("partition") and arguments["group"]:
        raise UsageError("Options group and partition cannot be specified together.")


def starting_offset(text: str) -> int:
    """Raises UsageError."""
    if text in ("earliest", "latest"):
        return BEGINNING if text == "earliest" else END
    if not re.fullmatch(r"\d+", text):
        raise UsageError(
            f"The provided offset value '{text}' is incorrect. Valid values are 'earliest', 'latest', or a "
            "non-negative long."
        )
    return int(text)


def settings(arguments: Arguments, in_file: Mapping[str, str], typed: Mapping[str, str]) -> dict[str, Any]:
    """Return librdkafka's settings that follow from the options. Raises CommandError where they contradict the
    properties.
    """
    properties = {**in_file, **typed}
    groups = {*filter(None, [arguments["group"], in_file.get("group.id"), typed.get("group.id")])}
    if len(groups) > 1:
        named = ", ".join(f"'{group}'" for group in sorted(groups))
        raise CommandError(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via "
            f"'--consumer.config') do not match. Detected group ids: {named}"
        )
    chosen: dict[str, Any] = {"enable.auto.offset.store": False}
    if groups:
        chosen["group.id"] = groups.pop()
    else:
        chosen["group.id"] = f"console-consumer-{random.randrange(100_000)}"
        chosen["enable.auto.commit"] = False
    if arguments.given("isolation-level") or "isolation.level" not in properties:
        chosen["isolation.level"] = arguments["isolation-level"]
    reset = properties.get("auto.offset.reset")
    if arguments["from-beginning"]:
        if reset in _RESETS_TO_END:
            raise CommandError(
                "Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest', please remove one option"
            )
        chosen["auto.offset.reset"] = "earliest"
    elif reset is None:
        chosen["auto.offset.reset"] = "latest"
    elif reset == "none":
        chosen["auto.offset.reset"] = "error"
    if arguments["include"]:
        # A topic that is deleted between two listings is not to come back.
        chosen["allow.auto.create.topics"] = False
    return chosen


def reads_internal_topics(properties: Mapping[str, str]) -> bool:
    """Return whether a pattern may match Kafka's own topics."""
    return properties.get("exclude.internal.topics", "true").lower() != "true"
