"""What can be planned and carried out: the pages of plans, by the names their actions have here. Pure.

Parameters are what the page's form asks for, by the same names. A plan is shown by a page that is asked with a query or
posted to with a form, and confirmed by posting to that page or to another.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.kit.plans.posted import CONFIRMATION_FIELDS

#: A value, or several of one name.
Parameters = Mapping[str, str | list[str]]
Pairs = list[tuple[str, str]]
_HALF_OF_A_CHARACTER = re.compile(r"[\ud800-\udfff]")


class BadParameter(Exception):
    """The message is a sentence that names it."""


@dataclass(frozen=True, slots=True)
class Action:
    """`path`, `query` and `form`: parameters of the page; a name that ends with * stands for all that begin so.

    `confirms`: the route that is posted to with the digest, where it is not `page`. `again`: parameters of the query
    that go with the confirmation. `is_at_once`: it changes so little that it has no plan.
    """

    name: str
    page: str
    summary: str
    path: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    confirms: str = ""
    is_at_once: bool = False

    @property
    def route(self) -> str:
        return self.confirms or self.page

    @property
    def described(self) -> dict[str, object]:
        parameters = [*self.path, *self.query, *self.form]
        return {
            "name": self.name,
            "summary": self.summary,
            "parameters": parameters,
            "needs_plan": not self.is_at_once,
        }

    def path_of(self, parameters: Parameters) -> dict[str, str]:
        """Raises BadParameter for one that is missing or none of this action's."""
        refuse_confirmation_fields(parameters)
        for name in parameters:
            if not any(_is(name, known) for known in (*self.path, *self.query, *self.form)):
                known = ", ".join((*self.path, *self.query, *self.form)) or "none"
                raise BadParameter(f"{self.name} has no parameter {name[:60]}; it has {known}.")
        found = {}
        for name in self.path:
            value = parameters.get(name)
            if not isinstance(value, str) or not value:
                raise BadParameter(f"{self.name} needs the parameter {name}.")
            found[name] = value
        return found

    def pairs(self, parameters: Parameters, known: Iterable[str]) -> Pairs:
        """Those of `parameters` that `known` names."""
        chosen = [name for name in parameters if name not in self.path and any(_is(name, each) for each in known)]
        return [(name, value) for name in chosen for value in _values(parameters[name])]


def refuse_confirmation_fields(names: Iterable[str]) -> None:
    """Raise BadParameter if a field of the form that confirms a plan is among `names`: a page would take it as such."""
    if refused := sorted(CONFIRMATION_FIELDS.intersection(names)):
        raise BadParameter(
            f"{refused[0]} is no parameter of a plan: plans/apply has a field of its own for all that confirms one."
        )


def _is(name: str, known: str) -> bool:
    return name.startswith(known[:-1]) if known.endswith("*") else name == known


def _values(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


_AMOUNTS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)

_ALL = (
    Action(
        "create-topic",
        "topic-create",
        "Create a topic",
        form=("name", "partition_count", "replication_factor", "configs"),
    ),
    Action(
        "delete-topic",
        "topic-delete",
        "Delete a topic; with `when` later after a day, in which keep-topics calls it off",
        path=("name",),
        query=("undo", "when"),
    ),
    Action("keep-topics", "topics-keep", "Call off the planned deletion of each `topic`", query=("topic",)),
    Action(
        "change-many-topics",
        "topics-many",
        "`do` delete, delete-later or set, to each `topic`: a `setting` and its `value`; `undo` takes one back",
        query=("topic", "do", "setting", "value", "undo"),
    ),
    Action(
        "add-partitions",
        "topic-add-partitions",
        "Give a topic more partitions",
        path=("name",),
        form=("partition_count",),
    ),
    Action(
        "copy-record",
        "topic-record-copy",
        "Append a record once more, to its topic or another",
        path=("name", "partition", "offset"),
        form=("to", "to_partition"),
    ),
    Action(
        "produce-tombstone",
        "topic-record-tombstone",
        "Append a tombstone for the key of a record",
        path=("name", "partition", "offset"),
    ),
    Action(
        "abort-transaction",
        "topic-abort",
        "End a transaction that no coordinator will, in one partition: the `offset` where it began",
        path=("name", "partition", "offset"),
    ),
    Action(
        "change-topic",
        "topic-settings",
        "Change settings of a topic: `setting` and `value`, as often as wanted",
        path=("name",),
        query=("setting", "value"),
        confirms="topic-set",
    ),
    Action(
        "change-retention",
        "topic-retention",
        "Change what retention keeps",
        path=("name",),
        query=("cleanup_policy", "retention_ms", "retention_bytes"),
        confirms="topic-configure",
    ),
    Action(
        "describe-topic",
        "topic-about",
        "Say whose a topic is: `labels` with spaces, `links` one on a line; what is left out is taken away",
        path=("name",),
        form=("owner", "labels", "links", "description"),
    ),
    Action(
        "delete-records",
        "topic-purge",
        "Delete records up to the `end`, a `time` (`at`) or an `offset` of one of the `partitions`",
        path=("name",),
        query=("to", "partitions", "offset", "at"),
    ),
    Action(
        "change-broker",
        "broker-settings",
        "Change a setting of a broker, or of all with `scope` all",
        path=("broker_id",),
        query=("setting", "value", "scope"),
        confirms="broker-set",
    ),
    Action(
        "move-between-directories",
        "broker-directories",
        "Move replicas, each `place` topic:partition, `to` another directory of their broker; `undo` puts them back",
        path=("broker_id",),
        query=("place", "to", "undo"),
    ),
    Action(
        "reset-group",
        "group-reset",
        "Put offsets to `earliest`, `latest`, `time` (`at`), `offset`, `shift` (`value`), or as a `group` (`like`)",
        path=("group",),
        query=("to", "topic", "partitions", "value", "at", "like", "undo"),
    ),
    Action("delete-group", "group-delete", "Delete a consumer group", path=("group",)),
    Action("forget-offsets", "group-forget", "Forget a group's offsets in a topic", path=("group",), query=("topic",)),
    Action(
        "apply-declaration",
        "declaration",
        "Make the cluster as files declare it: `text` and the name of its `file`, as often as wanted; `prune` takes "
        "away what they do not declare within their scope, topics after a day, or with `at_once` now",
        form=("text", "file", "prune", "at_once"),
    ),
    Action(
        "approve-change",
        "change",
        "Approve a change that waits, and have it carried out",
        path=("number",),
        confirms="change-approve",
    ),
    Action(
        "discard-change",
        "change-discard",
        "Discard a change that waits",
        path=("number",),
        form=("why",),
        is_at_once=True,
    ),
    Action("elect-leaders", "elect-leaders", "Let the preferred replicas lead"),
    Action(
        "move-partitions",
        "move-partitions",
        "Move replicas of a topic: `replicas-N`, brokers with commas between",
        query=("topic", "partition"),
        form=("throttle", "replicas-*"),
    ),
    Action("drain-broker", "move-partitions", "Move all replicas away from a broker", query=("drain", "throttle")),
    Action(
        "balance-brokers",
        "move-partitions",
        "Even out what brokers hold, lead and serve by goals: replicas, leaders, disk, in, out, or all",
        query=("balance", "changes", "throttle"),
    ),
    Action(
        "demote-broker",
        "move-partitions",
        "Let a broker lead nothing, by the order of replicas; elect-leaders makes it so at once",
        query=("demote", "throttle"),
    ),
    Action("spread-replicas", "move-partitions", "Even out what brokers hold", query=("spread", "throttle")),
    Action(
        "change-replication",
        "move-partitions",
        "Another replication factor of a topic",
        query=("topic", "factor", "throttle"),
    ),
    Action("undo-moves", "move-partitions", "Take a reassignment back", query=("undo", "throttle")),
    Action("call-off-moves", "call-off-moves", "Call moves off; `place`: topic:partition", query=("place",)),
    Action(
        "move-in-batches",
        "staged-move",
        "Move partitions in batches, from a time on; `moves`: topic → partition → brokers, as JSON",
        form=("moves", "size", "begins", "throttle"),
    ),
    Action(
        "throttle-batches",
        "staged-move-throttle",
        "Another throttle for a move in batches",
        path=("number",),
        query=("throttle",),
    ),
    *(
        Action(f"{deed}-batches", f"staged-move-{deed}", summary, path=("number",), is_at_once=True)
        for deed, summary in (
            ("pause", "Begin no other batch of a move until it is resumed"),
            ("resume", "Go on with a move in batches"),
            ("call-off", "Begin no other batch of a move any more"),
        )
    ),
    Action(
        "call-off-batch", "staged-move-cancel", "Call off what is on the move of a move in batches", path=("number",)
    ),
    Action(
        "change-quotas",
        "quota-change",
        "Change quotas of a user, a client id or an address",
        form=("about", "user", "client_id", "ip", *_AMOUNTS),
    ),
    Action(
        "create-rules",
        "acl-create",
        "Allow or deny in the cluster",
        query=("permission", "principal", "host", "resource", "pattern", "name", "operations"),
        confirms="acl-change",
    ),
    Action("change-rules", "acl-change", "Take rules away, or take a change of them back", query=("remove", "undo")),
    Action("register-schema", "schema-register", "Register a schema", form=("subject", "type", "text", "references")),
    Action(
        "change-subject",
        "schema-settings",
        "Compatibility and mode of a subject",
        path=("subject",),
        form=("level", "mode"),
    ),
    Action("change-schemas", "schema-defaults", "Compatibility and mode of all other subjects", form=("level", "mode")),
    Action(
        "delete-schema",
        "schema-delete",
        "Delete a subject, or a version",
        path=("subject",),
        query=("version", "permanent"),
    ),
    Action(
        "restore-schema",
        "schema-restore",
        "Register again what was deleted of a subject, all or one `version`",
        path=("subject",),
        query=("version",),
    ),
    Action("stop-process", "process-stop", "Stop a process", path=("name",)),
    Action("restart-process", "process-restart", "Restart a process", path=("name",)),
    Action("kill-process", "process-kill", "Kill a process", path=("name",)),
    Action("remove-process", "process-remove", "Forget a process; its files stay", path=("name",)),
    Action("start-process", "process-start", "Start a process", path=("name",), is_at_once=True),
    Action(
        "restart-always",
        "process-restart-always",
        "Start a process again after it has died",
        path=("name",),
        is_at_once=True,
    ),
    Action("restart-never", "process-restart-never", "Leave a process that has died", path=("name",), is_at_once=True),
    Action("add-broker", "process-add-broker", "Add a broker", form=("broker_id", "port", "log_dirs", "rack")),
    Action("confirm-healing", "healing-proposal", "Carry out what self-healing proposes", path=("number",)),
    Action(
        "set-healing",
        "healing-rule",
        "Say how far a kind of trouble heals itself: `mode` off, propose or act",
        path=("kind",),
        form=("mode", "minutes", "limit", "rate"),
    ),
    Action("decommission", "decommission", "Drain a broker and remove it", path=("name",), query=("throttle",)),
    Action(
        "begin-drill",
        "drill-begin",
        "Kill, pause or slow one process on purpose: `whom` controller, leader, zookeeper-leader or process:NAME",
        form=("fault", "whom", "topic", "seconds"),
    ),
    Action("rolling-restart", "rolling-restart", "Restart all brokers one after the other"),
    Action(
        "change-ensemble",
        "ensemble-change",
        "Grow or shrink the ensemble, or replace a server",
        query=("kind", "server"),
    ),
    Action("reset-stream", "stream-reset", "Let a stream job begin anew", path=("name",), query=("to",)),
    Action("remove-stream", "stream-remove", "Remove a stream job and its checkpoint", path=("name",)),
    Action("add-stream", "stream-add", "Add a stream job", path=("job",), form=("name", "*")),
    Action(
        "create-connector",
        "connector-create",
        "Create a connector: `as` json, `json` its configuration",
        path=("plugin",),
        form=("as", "json", "name", "sealed"),
    ),
    Action(
        "configure-connector",
        "connector-configure",
        "Configure a connector: `as` json, `json`",
        path=("name",),
        form=("as", "json", "sealed"),
    ),
    Action("delete-connector", "connector-delete", "Delete a connector", path=("name",)),
    Action("do-to-connector", "connector-do", "`deed`: pause, resume, stop, restart …", path=("name", "deed")),
    Action("restart-task", "connector-restart-task", "Restart a task of a connector", path=("name", "task")),
    Action(
        "alter-connector-offsets",
        "connector-offsets",
        "Put a stopped connector's offsets elsewhere",
        path=("name",),
        form=("offsets",),
    ),
    Action(
        "reset-connector-offsets", "connector-reset-offsets", "Forget a stopped connector's offsets", path=("name",)
    ),
)
ACTIONS: dict[str, Action] = {each.name: each for each in _ALL}


def action_named(name: str) -> Action:
    """Raises BadParameter."""
    if name not in ACTIONS:
        raise BadParameter(f"There is no action {name[:60]}; GET actions lists them.")
    return ACTIONS[name]


def texts(parameters: Mapping[str, object]) -> dict[str, str | list[str]]:
    """Numbers, texts and switches, or lists of them, as a form has them. Raises BadParameter."""
    return {
        _text(name): [_text(each) for each in value] if isinstance(value, list) else _text(value)
        for name, value in parameters.items()
    }


def _text(value: object) -> str:
    """A box is ticked by `on`. JSON can write halves of characters, which no form can send."""
    text = ("on" if value else "") if isinstance(value, bool) else str(value)
    if _HALF_OF_A_CHARACTER.search(text):
        raise BadParameter("Half of a character (a lone surrogate) stands in this.")
    return text
