"""What goes into a group coordinator and comes out of it: who asks, what to append, what to answer."""

from dataclasses import dataclass, field
from typing import NamedTuple

from broker.protocol.schema import Message


@dataclass(frozen=True, slots=True)
class Client:
    """Who sent a JoinGroup: the request header's client id and version, the connection's address."""

    client_id: str
    client_host: str
    api_version: int


class OffsetsRecord(NamedTuple):
    """A record for the coordinator's partition of `__consumer_offsets`; a null value is a tombstone."""

    key: bytes
    value: bytes | None


class Answer(NamedTuple):
    """The response to the request that came with `token`."""

    token: int
    response: Message


@dataclass(frozen=True, slots=True)
class Note:
    """Something an operator may want to find in the log: an event in constant words, and its facts."""

    event: str
    facts: dict[str, object]


class Producer(NamedTuple):
    """Whose transaction records belong to."""

    producer_id: int
    producer_epoch: int


@dataclass(slots=True)
class Outcome:
    """Append and replay `records` first, all or none; send `responses` when the records are committed.

    An outcome without records may still show what earlier records did, so its responses should not overtake them.
    """

    records: list[OffsetsRecord] = field(default_factory=list)
    #: Append as a transactional batch of this producer, without sequence numbers; None: as a plain one.
    producer: Producer | None = None
    responses: list[Answer] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """One call into the coordinator: when it happens and what it has led to so far."""

    now_ms: int  #: for deadlines
    wall_ms: int  #: for what is written down
    outcome: Outcome = field(default_factory=Outcome)

    def append(self, key: bytes, value: bytes | None) -> None:
        self.outcome.records.append(OffsetsRecord(key, value))

    def answer(self, token: int, response: Message) -> None:
        self.outcome.responses.append(Answer(token, response))

    def note(self, event: str, **facts: object) -> None:
        self.outcome.notes.append(Note(event, facts))
