"""Plays the stories in tests/transcripts/group: each command must lead to what is written, indented, below it.

    # prose, to the end of the line
    join GROUP CLIENT [version=N] [session=10s] [rebalance=60s] [type=T] [protocols=A,B] [metadata=TEXT] [instance=I]
                      [member=ID] [reason=TEXT]                         one JoinGroup, with the id the client has
    enter GROUP CLIENT …                                                with no id: MEMBER_ID_REQUIRED, then join
    sync GROUP CLIENT [CLIENT=ASSIGNMENT …]      heartbeat GROUP CLIENT       leave GROUP CLIENT …
    commit GROUP CLIENT TOPIC-PARTITION=OFFSET … (client "-": no member)      fetch GROUP [TOPIC-PARTITION …]
    txn commit GROUP PRODUCER TOPIC-PARTITION=OFFSET …      marker PRODUCER commit|abort
    stable fetch GROUP [TOPIC-PARTITION …]       delete offsets GROUP TOPIC-PARTITION …
    partition deleted TOPIC-PARTITION            the controller says so
    describe GROUP        list                   delete GROUP
    tick 3s               time passes            hang up CLIENT       its parked request's connection closes
    restart               another broker replays the log and takes over
    next append fails ERROR                      next commit fails ERROR      appended, but not committed

Run with REWRITE_TRANSCRIPTS=1 in the environment to write down what happens now, then read the diff.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.group.config import GroupConfig
from tests.broker.coordinator.group.telling import lines_since
from tests.broker.coordinator.group.world import SentRequest, World

STORIES = sorted((Path(__file__).parents[2] / "transcripts" / "group").glob("*.txt"))
INDENT = "    "


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story_goes_as_written(path: Path):
    written = path.read_text()
    happens = play(written)
    if os.environ.get("REWRITE_TRANSCRIPTS"):
        path.write_text(happens)
        pytest.skip("rewritten; read the diff")
    assert happens == written


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story_opens_with_what_it_is_about(path: Path):
    assert path.read_text().startswith("# ")


def test_there_are_stories():
    assert len(STORIES) >= 10


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
    def __init__(self) -> None:
        self.world = World(GroupConfig())

    def play(self, line: str) -> list[str]:
        for phrase, action in self._phrases().items():
            if line.startswith(phrase):
                sent = action(*line.removeprefix(phrase).split())
                outcome = lines_since(self.world)
                is_parked = isinstance(sent, SentRequest) and sent.is_parked
                return [*outcome, f"{sent.name}: parked"] if is_parked else outcome or ["nothing happens"]
        raise ValueError(f"no such command: {line}")

    def _phrases(self) -> dict[str, Callable]:
        world = self.world
        return {
            "join ": lambda group, name, *options: world.join(group, name, **_join_options(options)),
            "enter ": lambda group, name, *options: world.enter(group, name, **_join_options(options)),
            "sync ": lambda group, name, *parts: world.sync(group, name, dict(p.split("=") for p in parts)),
            "heartbeat ": world.heartbeat,
            "leave ": world.leave,
            "commit ": lambda group, name, *offsets: world.commit(group, name, dict(map(_offset, offsets))),
            "txn commit ": self._txn_commit,
            "marker ": lambda producer, how: world.end_transaction(int(producer), how == "commit"),
            "fetch ": lambda group, *partitions: world.fetch(group, _partitions(partitions)),
            "stable fetch ": lambda group, *partitions: world.fetch(group, _partitions(partitions), 9, True),
            "delete offsets ": lambda group, *partitions: world.delete_offsets(group, _partitions(partitions)),
            "partition deleted ": self._delete_partition,
            "describe ": world.describe,
            "list": world.list_groups,
            "delete ": world.delete,
            "tick ": lambda duration: world.advance(_milliseconds(duration)),
            "hang up ": self._hang_up,
            "restart": world.restart,
            "next append fails ": lambda code: setattr(world, "append_error", ErrorCode[code]),
            "next commit fails ": lambda code: setattr(world, "commit_error", ErrorCode[code]),
        }

    def _txn_commit(self, group: str, producer: str, *offsets: str) -> SentRequest:
        return self.world.txn_commit(group, int(producer), dict(map(_offset, offsets)))

    def _delete_partition(self, text: str) -> None:
        topic, _, index = text.rpartition("-")
        self.world.delete_partitions((topic, int(index)))
        self.world.advance(0)

    def _hang_up(self, name: str) -> None:
        parked = [sent for sent in self.world.sent.values() if sent.name == name and sent.is_parked]
        self.world.hang_up(parked[-1])


_JOIN_OPTIONS = {
    "version": ("version", int),
    "session": ("session_ms", lambda text: _milliseconds(text)),
    "rebalance": ("rebalance_ms", lambda text: _milliseconds(text)),
    "type": ("protocol_type", str),
    "protocols": ("protocols", lambda text: tuple(text.split(","))),
    "metadata": ("metadata", str),
    "instance": ("instance_id", str),
    "member": ("member_id", lambda text: "" if text == "none" else text),
    "reason": ("reason", str),
}


def _join_options(options: tuple[str, ...]) -> dict[str, object]:
    given = dict(option.split("=", 1) for option in options)
    return {_JOIN_OPTIONS[name][0]: _JOIN_OPTIONS[name][1](text) for name, text in given.items()}


def _milliseconds(text: str) -> int:
    return int(text[:-2]) if text.endswith("ms") else round(float(text.removesuffix("s")) * 1000)


def _offset(text: str) -> tuple[tuple[str, int], int]:
    partition, offset = text.split("=")
    topic, _, index = partition.rpartition("-")
    return (topic, int(index)), int(offset)


def _partitions(texts: tuple[str, ...]) -> dict[str, list[int]] | None:
    results: dict[str, list[int]] = {}
    for text in texts:
        topic, _, index = text.rpartition("-")
        results.setdefault(topic, []).append(int(index))
    return results or None
