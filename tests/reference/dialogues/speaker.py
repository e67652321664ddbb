"""Speaks a dialogue with one broker, and leaves the broker as it was."""

import contextlib
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

from broker.common.errors import ProtocolError
from broker.protocol.schema import Message
from tests.reference.dialogues.cleaning import clean
from tests.reference.dialogues.messages import InvalidStep, json_of, request_of
from tests.reference.dialogues.normalise import MARK, Names, in_order, normalised
from tests.reference.dialogues.tools import Tools
from tests.reference.dialogues.wire import PlainConnection, WireError

#: What a broker says while it is still busy with the step before: CONCURRENT_TRANSACTIONS, UNSTABLE_OFFSET_COMMIT, and
#: coordinators that load.
_ASK_AGAIN = {14, 15, 16, 51, 88}
_RETRIED_FOR_S = 2.0
_AWAITED_FOR_S = 1.0
_SETTLED_WITHIN_S = 30.0
_POLL_S = 0.004
#: They list all there are.
_LISTS = {"LIST_GROUPS": "groups", "LIST_TRANSACTIONS": "transaction_states"}
#: Their effect is seen by other requests a moment later.
_CHANGES = {
    "CREATE_TOPICS", "DELETE_TOPICS", "CREATE_PARTITIONS", "ALTER_CONFIGS", "INCREMENTAL_ALTER_CONFIGS",
    "CREATE_ACLS", "DELETE_ACLS", "ALTER_CLIENT_QUOTAS", "ALTER_USER_SCRAM_CREDENTIALS",
    "ALTER_PARTITION_REASSIGNMENTS", "ELECT_LEADERS", "DELETE_RECORDS",
}  # fmt: skip


#: They end a transaction, whose markers are written behind them.
_ENDS = {"END_TXN", "INIT_PRODUCER_ID"}
#: Their subcommands do not know of it.
_SERVER_FIRST = {"kafka-features", "kafka-transactions"}
#: What else than topics has to be cleaned behind a tool.
_OF_TOOLS = {
    "kafka-configs": {"INCREMENTAL_ALTER_CONFIGS", "ALTER_CLIENT_QUOTAS", "ALTER_USER_SCRAM_CREDENTIALS"},
    "kafka-acls": {"CREATE_ACLS"},
    "kafka-reassign-partitions": {"INCREMENTAL_ALTER_CONFIGS"},
}


#: Of dialogues and of marks, whichever side they are for: two may speak with one broker.
_numbers, _marks = count(1), count(1)


class Speaker:
    """One broker that dialogues are spoken with, one after the other."""

    def __init__(self, host: str, port: int, login_port: int, tools: Tools):
        self.bootstrap_server = f"{host}:{port}"
        self.tools = tools
        self._places = {None: (host, port), "user": (host, login_port)}

    def outcome(self, case: dict) -> dict:
        """Return what each step was answered; `invalid` for a case that is no dialogue."""
        unique = f"d{next(_numbers):06}"
        with contextlib.ExitStack() as stack:
            talk = _Talk(self, stack, unique)
            try:
                return {"steps": [talk.step(step) for step in case["steps"]]}
            except (InvalidStep, ProtocolError, KeyError, TypeError, AttributeError):
                return {"invalid": True}
            finally:
                clean(self, talk.apis)

    def connection(self, user: str | None = None) -> PlainConnection:
        return PlainConnection(*self._places["user" if user else None], user)

    @contextlib.contextmanager
    def connected(self) -> Iterator[PlainConnection]:
        connection = self.connection()
        with contextlib.closing(connection):
            yield connection

    def settle(self) -> None:
        """Wait until changes before this one are in effect: changes of a quota are seen in their order.

        The second of two marks is seen only when all that came with the first has been published.
        """
        with self.connected() as connection:
            for _ in range(2):
                self._mark(connection, next(_marks))

    def _mark(self, connection: PlainConnection, number: int) -> None:
        entity = [{"entity_type": "user", "entity_name": MARK}]
        change = {"entity": entity, "ops": [{"key": "consumer_byte_rate", "value": 1000.0 + number}]}
        connection.exchange(request_of("ALTER_CLIENT_QUOTAS", 0, {"entries": [change]}), 0)
        question = {"components": [{"entity_type": "user", "match_type": 0, "match": MARK}], "strict": True}
        deadline = time.monotonic() + _SETTLED_WITHIN_S
        while time.monotonic() < deadline:
            response: Any = connection.exchange(request_of("DESCRIBE_CLIENT_QUOTAS", 0, question), 0)
            values = [value.value for entry in response.entries or () for value in entry.values]
            if values == [1000.0 + number]:
                return
            time.sleep(_POLL_S)
        raise AssertionError("a quota that was set is not seen")


class _Talk:
    """One dialogue while it lasts: its connections, what earlier steps were answered, its aliases."""

    def __init__(self, speaker: Speaker, stack: contextlib.ExitStack, unique: str):
        self._speaker, self._stack, self._unique = speaker, stack, unique
        self._names = Names(unique)
        self._connections: dict[tuple[str, str | None], PlainConnection] = {}
        self._answers: dict[str, Any] = {}
        self._pending: dict[str, tuple[PlainConnection, Message, int]] = {}
        self.apis: set[str] = set()

    def step(self, step: dict) -> Any:
        """Return the normalised response, or what became of the connection instead."""
        if "take" in step:
            connection, request, version = self._pending.pop(step["take"])
            return self._received(request, step["take"], lambda: connection.receive(request.api, version), version)
        if "tool" in step:
            return self._typed(step["tool"], self._resolved(step["words"]))
        version = step["version"]
        body = self._resolved(step.get("body", {}))
        self._names.text(str(body))
        request = request_of(step["api"], version, body)
        connection = self._connection(step.get("on", "a"), step.get("user"))
        self.apis.add(step["api"])
        if step.get("later"):
            connection.send(request, version)
            self._pending[step["as"]] = (connection, request, version)
            return "sent"
        until = step.get("until")
        exchange = lambda: self._exchange(connection, request, version, until)  # noqa: E731
        response = self._received(request, step.get("as"), exchange, version)
        if step["api"] in _CHANGES:
            self._speaker.settle()
        if step["api"] in _ENDS and (transactional_id := body.get("transactional_id")):
            self._await_markers(connection, transactional_id)
        return response

    def _await_markers(self, connection: PlainConnection, transactional_id: str) -> None:
        """Wait while a transaction's markers are on their way."""
        question = request_of("DESCRIBE_TRANSACTIONS", 0, {"transactional_ids": [transactional_id]})
        deadline = time.monotonic() + _SETTLED_WITHIN_S
        while "'Prepare" in str(json_of(connection.exchange(question, 0), 0)) and time.monotonic() < deadline:
            time.sleep(_POLL_S)

    def _typed(self, tool: str, words: list[str]) -> dict:
        """Return what a command-line tool prints, on the cluster of the dialogue."""
        self.apis |= _OF_TOOLS.get(tool, set())
        server = ["--bootstrap-server", self._speaker.bootstrap_server]
        ended = self._speaker.tools(tool, [*server, *words] if tool in _SERVER_FIRST else [*words, *server])
        self._speaker.settle()
        return normalised(ended, self._names)

    def _exchange(self, connection: PlainConnection, request: Message, version: int, until: int | None) -> Message:
        """Ask again while the broker is busy, or for a while until it answers the error `until`."""
        deadline = time.monotonic() + (_RETRIED_FOR_S if until is None else _AWAITED_FOR_S)
        while True:
            response = connection.exchange(request, version)
            answer = json_of(response, version)
            codes = set(_codes(answer))
            is_final = not _ASK_AGAIN & codes and "'Prepare" not in str(answer) and (until is None or until in codes)
            if is_final or time.monotonic() > deadline:
                return response
            time.sleep(_POLL_S)

    def _received(self, request: Message, alias: str | None, receive: Any, version: int) -> Any:
        try:
            answer = json_of(receive(), version)
        except WireError as error:
            self._connections.clear()
            return str(error)
        answer = self._own(request, answer)
        if alias is not None:
            self._answers[alias] = answer
        return normalised(answer, self._names)

    def _own(self, request: Message, answer: dict) -> dict:
        """Return a response without groups and transactions of earlier dialogues."""
        answer = in_order(answer)
        name = _LISTS.get(request.api.name)
        return answer if name is None else {**answer, name: [one for one in answer[name] if self._unique in str(one)]}

    def _connection(self, name: str, user: str | None) -> PlainConnection:
        if (name, user) not in self._connections:
            connection = self._speaker.connection(user)
            self._stack.callback(connection.close)
            self._connections[name, user] = connection
        return self._connections[name, user]

    def _resolved(self, node: Any) -> Any:
        """Return a body with `{n}` made unique, and `{"$": "step.path"}` replaced by what that step was answered."""
        if isinstance(node, str):
            return node.replace("{n}", self._unique)
        if isinstance(node, list):
            return [self._resolved(element) for element in node]
        if not isinstance(node, dict):
            return node
        if "$" in node:
            return self._answered(node["$"]) + node.get("plus", 0) if "plus" in node else self._answered(node["$"])
        return {name: self._resolved(value) for name, value in node.items()}

    def _answered(self, path: str) -> Any:
        first, *rest = path.split(".")
        value = self._answers[first]
        for part in rest:
            try:
                value = value[int(part)] if isinstance(value, list) else value[part]
            except (IndexError, ValueError) as error:
                raise InvalidStep(path) from error
        return value


def _codes(node: Any) -> Iterator[int]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "error_code":
                yield value
            else:
                yield from _codes(value)
    elif isinstance(node, list):
        for element in node:
            yield from _codes(element)
