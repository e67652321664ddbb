"""Changes to connectors as plans: what is done, what it touches, what is lost, how it is undone. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote as shell_quote
from urllib.parse import quote

from console.ecosystem.connectors.answers import ConnectorView, OffsetView, TaskView, compact
from console.ecosystem.connectors.failed_stage import failed_stage
from console.ecosystem.connectors.masking import MASK, masked_value
from console.ecosystem.connectors.places import WRITTEN_KEYS, place_in
from console.kit.access.internal_names import InternalTopics
from console.kit.plans.plan import Plan, PlanLine

OBJECT_TYPE = "connector"
CREATE, CONFIGURE, DELETE = "create connector", "configure connector", "delete connector"
ALTER_OFFSETS, RESET_OFFSETS = "alter offsets of connector", "reset offsets of connector"
#: What is asked of a connector as it is, by its address.
PAUSE, STOP, RESUME, RESTART, RESTART_FAILED, RESTART_ALL = (
    "pause",
    "stop",
    "resume",
    "restart",
    "restart-failed",
    "restart-all",
)


@dataclass(frozen=True, slots=True)
class ConnectorAction:
    """Something done to a connector without saying how it should be configured."""

    action: str
    verb: str
    then: str
    touches: tuple[str, ...]
    undo: str
    method: str
    path: str
    #: States in which there is nothing to do, or in which it cannot be done.
    done_in: frozenset[str] = frozenset()


_RESTARTED = "Source offsets and committed offsets stay: it goes on from them, and may write again what it wrote since."
DEEDS = {
    PAUSE: ConnectorAction(
        "pause connector", "Pause", "PAUSED",
        ("Its tasks stay where they are and do nothing. A sink's group keeps its members, and its lag grows.",),
        "resume it.", "PUT", "/pause", frozenset({"PAUSED"}),
    ),
    STOP: ConnectorAction(
        "stop connector", "Stop", "STOPPED",
        ("Its tasks end and give back what they hold; configuration and offsets stay.",
         "Only a stopped connector's offsets can be altered or reset."),
        "resume it.", "PUT", "/stop", frozenset({"STOPPED"}),
    ),
    RESUME: ConnectorAction(
        "resume connector", "Resume", "RUNNING",
        ("It goes on from the offsets it has. One that was stopped gets new tasks first.",),
        "pause or stop it.", "PUT", "/resume", frozenset({"RUNNING"}),
    ),
    RESTART: ConnectorAction(
        "restart connector", "Restart the connector", "restarted",
        ("The connector itself is restarted; its tasks keep running.",),
        "there is nothing to take back.", "POST", "/restart",
    ),
    RESTART_FAILED: ConnectorAction(
        "restart failed tasks of connector", "Restart what failed", "restarted",
        ("The connector, if it failed, and its failed tasks are restarted; the others keep running.", _RESTARTED,
         "If why it failed is still there, it fails again."),
        "there is nothing to take back.", "POST", "/restart?includeTasks=true&onlyFailed=true",
    ),
    RESTART_ALL: ConnectorAction(
        "restart connector and tasks", "Restart all of it", "restarted",
        ("The connector and all its tasks are restarted.", _RESTARTED),
        "there is nothing to take back.", "POST", "/restart?includeTasks=true&onlyFailed=false",
    ),
}  # fmt: skip


def connector_action_plan(deed: ConnectorAction, view: ConnectorView, address: str) -> Plan:
    """Plan the action; a restart confirms only the names, since what has failed changes meanwhile."""
    is_restart = deed.then == "restarted"
    again = fails_again(view) if "includeTasks=true" in deed.path else ""
    return Plan(
        action=deed.action,
        object_type=OBJECT_TYPE,
        object_name=view.name,
        lines=tuple(_restarted(deed, view)) if is_restart else (PlanLine("state", view.state, deed.then),),
        read=() if is_restart else (f"state={view.state}",),
        touches=(again, *deed.touches) if again else deed.touches,
        losses=(),
        safe_because="Offsets stay: it goes on where it was." if is_restart and not again else "",
        undo=deed.undo,
        command=_command(deed.method, address, view.name, deed.path),
        obstacle=_obstacle(deed, view),
    )


def task_plan(view: ConnectorView, number: int, address: str) -> Plan:
    """Plan restarting one task."""
    task = next((task for task in view.tasks if task.number == number), None)
    again = fails_again(view, number)
    return Plan(
        action="restart task of connector",
        object_type=OBJECT_TYPE,
        object_name=view.name,
        lines=(PlanLine(f"task {number}", task.state if task else None, "restarted", is_told=True),),
        read=(),
        touches=(*((again,) if again else ()), f"Task {number} is restarted; the others keep running.", _RESTARTED),
        losses=(),
        safe_because="" if again else "Offsets stay: it goes on where it was.",
        undo="there is nothing to take back.",
        command=_command("POST", address, view.name, f"/tasks/{number}/restart"),
        obstacle="" if task else f"There is no task {number} now.",
    )


def fails_again(view: ConnectorView, number: int | None = None) -> str:
    """Return why a restart meets the same failure, in one sentence; empty: that is not known.

    Connect restarts tasks when a connector is configured, so a failed task has failed with the configuration of now.
    `number`: of this task alone.
    """
    tasks = (task for task in (view.own, *view.tasks) if task.is_failed and number in (None, task.number))
    return next(filter(None, map(_fails_again, tasks)), "")


def _fails_again(task: TaskView) -> str:
    stage, place = failed_stage(task.trace), place_in(task.trace)
    if stage is None or not stage.is_certain_to_fail_again:
        return ""
    record = f"the record at offset {place.offset} of partition {place.partition}" if place else "a record"
    return f"It fails again as it is configured: its {stage.words} failed at {record}."


def _restarted(deed: ConnectorAction, view: ConnectorView) -> list[PlanLine]:
    only_failed = "onlyFailed=true" in deed.path
    units = [("connector", view.own), *((f"task {task.number}", task) for task in view.tasks)]
    if "includeTasks=true" not in deed.path:
        units = units[:1]
    chosen = [(name, unit.state) for name, unit in units if unit.is_failed or not only_failed]
    return [PlanLine(name, state, deed.then, is_told=True) for name, state in chosen] or [
        PlanLine("connector", view.state, "as it is: nothing failed", is_told=True)
    ]


def _obstacle(deed: ConnectorAction, view: ConnectorView) -> str:
    if deed.then == "restarted" and view.state in ("STOPPED", "PAUSED"):
        return f"It is {view.state.lower()}: resume it instead."
    return f"It is {view.state.lower()} already." if view.state in deed.done_in else ""


@dataclass(frozen=True, slots=True)
class ConnectorChange:
    """A configuration as it is and as it should be, secrets and all; None: there is no such connector, or will be none.

    `prints` stands for each value that it hangs on, so that a plan tells no secret."""

    name: str
    old: Mapping[str, str] | None
    new: Mapping[str, str] | None
    declared: Collection[str]
    prints: Mapping[str, str]


def configuration_plan(change: ConnectorChange, address: str, internal: InternalTopics, group: str = "") -> Plan:
    """Plan a configuration. `internal`: topics that it may not write. `group`: of a sink, whose offsets stay behind
    when it is deleted.
    """
    old, new = change.old or {}, change.new or {}
    lines = (_line(change, key) for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key))
    read = (f"{key}={value}" for key, value in sorted(change.prints.items()))
    plan = Plan(CREATE, OBJECT_TYPE, change.name, tuple(lines), tuple(read), losses=(), safe_because="")
    if change.new is None:
        return _deletion(plan, group, address)
    body = {key: masked_value(key, value, change.declared) for key, value in sorted(new.items())}
    command = _command("PUT", address, change.name, "/config", body)
    plan = replace(plan, obstacle=_internal_topic(new, internal), command=command)
    if change.old is None:
        return replace(plan, touches=("Connect starts it at once.",), undo="delete it.")
    anew = "Connect restarts the connector and its tasks with this; they continue at their offsets."
    losses = (_SECRET_LOST,) if _loses_secret(plan.lines) else ()
    return replace(plan, action=CONFIGURE, touches=(anew,), losses=losses, undo=_undo_of(plan.lines))


def _internal_topic(config: Mapping[str, str], internal: InternalTopics) -> str:
    """Return why a connector may not write to its topic; empty: it may."""
    written = (config.get(key, "").strip() for key in WRITTEN_KEYS)
    topic = next((topic for topic in written if topic in internal), "")
    return f"{topic} is an internal topic, which its service alone writes: name another topic." if topic else ""


def _deletion(plan: Plan, group: str, address: str) -> Plan:
    name = plan.object_name
    return replace(
        plan,
        action=DELETE,
        safe_because="",
        losses=(f"{name} and all its tasks end, and its configuration is gone from Connect.",),
        touches=tuple(_left_behind(group)),
        undo="create it again from the configuration that is kept here; the list offers it. Secrets are not kept, and "
        "have to be typed again.",
        typed_name=name,
        command=_command("DELETE", address, name, ""),
    )


def _line(change: ConnectorChange, key: str) -> PlanLine:
    def shown(values: Mapping[str, str] | None) -> str | None:
        value = (values or {}).get(key)
        return None if value is None else masked_value(key, value, change.declared)

    old, new = shown(change.old), shown(change.new)
    return PlanLine(key, old, f"{new} (another)" if new is not None and old == new else new)


_SECRET_LOST = "The console keeps no secrets: the replaced secret cannot be put back from here."


def _loses_secret(lines: Sequence[PlanLine]) -> bool:
    return any(MASK in str(line.old) for line in lines)


def _undo_of(lines: Sequence[PlanLine]) -> str:
    if _loses_secret(lines):
        return (
            "configure it as before, which is kept here; a secret that is replaced is not, and has to be typed again."
        )
    return "configure it as before, which is kept here."


def _left_behind(group: str) -> list[str]:
    if group:
        return [
            f"The consumer group {group} and its offsets stay: a sink of the same name goes on from them. It can be "
            "deleted on its page."
        ]
    return [
        "Its source offsets stay in Connect: a connector of the same name goes on from them, unless they are reset."
    ]


def offsets_plan(
    name: str, now: Sequence[OffsetView], wanted: Sequence[OffsetView] | None, state: str, address: str
) -> Plan:
    """Plan offsets. `wanted`: those that are set, an offset None removes its own. None: all are removed."""
    known = {compact(view.partition): view for view in now}
    is_reset = wanted is None
    changed = [OffsetView(partition.partition, None) for partition in now] if wanted is None else wanted
    lines = []
    for view in changed:
        before = known.get(compact(view.partition))
        old = (before.position or None) if before else None
        if old != (view.position or None):
            lines.append(PlanLine(view.place, old, view.position or None))
    body = None if is_reset else {"offsets": [{"partition": e.partition, "offset": e.offset} for e in changed]}
    return Plan(
        action=RESET_OFFSETS if is_reset else ALTER_OFFSETS,
        object_type=OBJECT_TYPE,
        object_name=name,
        lines=tuple(lines),
        read=(f"state={state}", *(f"{compact(partition.partition)}={compact(partition.offset)}" for partition in now)),
        losses=(
            "It forgets how far it was: a source begins again, a sink where its consumer's auto.offset.reset says.",
        )
        if is_reset
        else ("What lies between the old and the new offset is left out for good, or read a second time.",),
        safe_because="",
        undo="set them as they were, which is kept here.",
        typed_name=name if is_reset else "",
        obstacle="" if state == "STOPPED" else f"It is {state.lower()}: stop it first, pausing is not enough.",
        command=_command("DELETE" if is_reset else "PATCH", address, name, "/offsets", body),
    )


def _command(method: str, address: str, name: str, path: str, body: object = None) -> str:
    """Return the shell command; a password is left to be typed."""
    url = shell_quote(f"{address}/connectors/{quote(name, safe='')}{path}")
    if body is None:
        return f"curl -X {method} {url}"
    return f"curl -X {method} -H 'Content-Type: application/json' -d {shell_quote(compact(body))} {url}"
