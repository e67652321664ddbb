"""Plays the stories in tests/transcripts/transaction: each command must lead to what is written, indented, below it.

    # prose, to the end of the line
    init CLIENT [timeout=10s]       as a new process           raise CLIENT     its own epoch, naming what it holds
    add CLIENT TOPIC-PARTITION …    offsets CLIENT             verify CLIENT TOPIC-PARTITION …
    commit CLIENT                   abort CLIENT               describe          list
    markers written                 tick 3s                    time passes
    restart                         another broker replays the log and takes over
    appends fail ERROR              until "appends work"

Run with REWRITE_TRANSCRIPTS=1 in the environment to write down what happens now, then read the diff.
"""

import os
from pathlib import Path

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.transaction.records import decode_key, decode_value
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from tests.broker.coordinator.transaction.asking import errors_of, to_verify
from tests.broker.coordinator.transaction.world import ID, World

STORIES = sorted((Path(__file__).parents[3] / "transcripts" / "transaction").glob("*.txt"))
INDENT = "    "
OFFSETS = TopicPartition("__consumer_offsets", 17)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story_goes_as_written(path: Path):
    written = path.read_text()
    happens = play(written)
    if os.environ.get("REWRITE_TRANSCRIPTS"):
        path.write_text(happens)
        pytest.skip("rewritten; read the diff")
    assert happens == written


def test_there_are_stories_and_each_opens_with_what_it_is_about():
    assert len(STORIES) >= 8
    assert all(path.read_text().startswith("# ") for path in STORIES)


def play(story: str) -> str:
    """The story with every command's outcome as it is now."""
    player, lines = Player(), []
    for line in story.splitlines():
        if line.startswith(INDENT):
            continue
        lines.append(line)
        if line and not line.startswith("#"):
            lines += [INDENT + outcome for outcome in player.play(line)]
    return "\n".join(lines) + "\n"


class Player:
    """All clients share one transactional id."""

    def __init__(self) -> None:
        self.world = World()
        self.producers: dict[str, tuple[int, int]] = {}

    def play(self, line: str) -> list[str]:
        logged, before = len(self.world.log), list(self.world.markers)
        sent = set(map(id, before))
        words = line.split()
        answer = self._act(words)
        records = [f"log: {tell_record(*record[:2])}" for record in self.world.log[logged:]]
        markers = [f"markers: {tell_markers(marker)}" for marker in self.world.markers if id(marker) not in sent]
        return [*records, *([f"answer: {answer}"] if answer else []), *markers] or ["nothing happens"]

    def _act(self, words: list[str]) -> str | None:
        world = self.world
        match words:
            case ["init", name, *options]:
                timeout = dict(option.split("=") for option in options).get("timeout", "60s")
                return self._initialised(name, world.init(timeout_ms=milliseconds(timeout)))
            case ["raise", name]:
                return self._initialised(name, world.init(held=self.producers[name]))
            case ["add", name, *partitions]:
                return world.add(self.producers[name], *map(partition_of, partitions)).name
            case ["offsets", name]:
                return world.add_offsets(self.producers[name], OFFSETS).name
            case ["verify", name, *partitions]:
                return self._verified(self.producers[name], partitions)
            case ["commit" | "abort" as end, name]:
                return world.end(self.producers[name], end == "commit").name
            case _:
                return self._happen(words)

    def _happen(self, words: list[str]) -> str | None:
        world = self.world
        match words:
            case ["describe"]:
                request = DescribeTransactionsRequest(transactional_ids=[ID])
                (description,) = world.ask(world.coordinator.describe_transactions, request).transaction_states
                topics = [f"{topic.topic}-{index}" for topic in description.topics for index in topic.partitions]
                return " ".join(
                    [description.transaction_state, f"{description.producer_id}/{description.producer_epoch}", *topics]
                )
            case ["list"]:
                response = world.ask(world.coordinator.list_transactions, ListTransactionsRequest())
                description = [
                    f"{state.transactional_id} {state.transaction_state}" for state in response.transaction_states
                ]
                return ", ".join(description) or "none"
            case ["markers", "written"]:
                world.write_markers()
            case ["tick", duration]:
                world.advance(milliseconds(duration))
            case ["restart"]:
                world.fail_over()
            case ["appends", "fail", code]:
                world.is_refusing = ErrorCode[code]
            case ["appends", "work"]:
                world.is_refusing = ErrorCode.NONE
            case _:
                raise ValueError(f"no such command: {' '.join(words)}")
        return None

    def _initialised(self, name: str, response) -> str:
        if response.error_code != ErrorCode.NONE:
            return ErrorCode(response.error_code).name
        self.producers[name] = response.producer_id, response.producer_epoch
        return f"producer {response.producer_id}/{response.producer_epoch}"

    def _verified(self, producer: tuple[int, int], partitions: list[str]) -> str:
        request = to_verify(ID, producer, *map(partition_of, partitions))
        response = self.world.ask(self.world.coordinator.add_partitions_to_txn, request)
        return ", ".join(f"{item} {code.name}" for item, code in sorted(errors_of(response).items()))


def tell_record(key: bytes, value: bytes | None) -> str:
    transactional_id = decode_key(key)
    if value is None:
        return f"{transactional_id} forgotten"
    decoded = decode_value(transactional_id, value)
    partitions = sorted(map(str, decoded.partitions))
    producer = f"{decoded.producer_id}/{decoded.producer_epoch}"
    return " ".join([transactional_id, decoded.state.label, producer, *partitions])


def tell_markers(markers) -> str:
    end = "commit" if markers.is_commit else "abort"
    return " ".join([end, f"{markers.producer_id}/{markers.producer_epoch}", *sorted(map(str, markers.partitions))])


def milliseconds(text: str) -> int:
    return int(text[:-2]) if text.endswith("ms") else round(float(text.removesuffix("s")) * 1000)


def partition_of(text: str) -> TopicPartition:
    topic, _, index = text.rpartition("-")
    return TopicPartition(topic, int(index))
