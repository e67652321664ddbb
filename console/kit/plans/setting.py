"""The change of settings, of a topic or of brokers, as a plan. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.kit.common.amounts import units_of, whole_number
from console.kit.gateway.commands import shell_command
from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.plan import Plan, PlanLine

ACTION, ACTION_OF_MANY = "change setting", "change settings"
#: What a person types to take the own value of a topic or broker away.
DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPlan(Plan):
    """A change of settings of one object."""

    #: The name of each setting that changes → its new value, None to take the object's own away.
    wanted: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class SettingTarget:
    """What may have settings of its own, and how a change of one is called, done and told.

    `object_type` and `object_name` are the audit's; `options` name it to kafka-configs."""

    object_type: str
    object_name: str
    #: Whose change it is in a sentence: "the topic", "broker 2", "all brokers".
    words: str
    options: Mapping[str, object]
    #: What follows from the change, and what is lost by it for good.
    touches: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    #: Why it cannot be changed at all; empty: it can.
    obstacle: str = ""
    #: As of a plan; empty: what the value comes to is not known here.
    safe_because: str = ""
    #: Which of the name it is, where another may take it.
    identity: str = ""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """`own` is what the target itself says now, None if nothing; `typed` is the new value as text, or `default` to take
    its own away."""

    setting: SettingView
    own: str | None
    typed: str

    @property
    def old(self) -> str:
        return DEFAULT if self.own is None else self.own

    @property
    def new(self) -> str | None:
        """Return the new value of the object's own, None if it has none."""
        return None if self.typed == DEFAULT else self.typed

    @property
    def is_empty(self) -> bool:
        return self.own == self.new


def change_plan(target: SettingTarget, changes: Sequence[SettingChange], bootstrap_servers: str) -> SettingsPlan:
    """Plan all changes as one. Without a difference: no lines."""
    real = [change for change in changes if not change.is_empty]
    return SettingsPlan(
        wanted={change.setting.name: change.new for change in real},
        action=ACTION if len(changes) == 1 else ACTION_OF_MANY,
        object_type=target.object_type,
        object_name=target.object_name,
        lines=tuple(PlanLine(change.setting.name, change.old, change.typed) for change in real),
        read=(
            *((target.identity,) if target.identity else ()),
            *(
                text
                for change in changes
                for text in (
                    f"{change.setting.name}={change.setting.value}@{change.setting.source}",
                    f"own={change.own}",
                )
            ),
        ),
        touches=target.touches,
        losses=target.losses,
        safe_because=target.safe_because,
        typed_name=target.object_name if target.losses else "",
        obstacle=target.obstacle,
        undo=_undo(changes),
        command=_command(target, real or changes, bootstrap_servers),
    )


def _undo(changes: Sequence[SettingChange]) -> str:
    if len(changes) == 1:
        return f"set it to {changes[0].old} again."
    return f"set them back: {', '.join(f'{change.setting.name} to {change.old}' for change in changes)}."


def _command(target: SettingTarget, changes: Sequence[SettingChange], bootstrap_servers: str) -> str:
    added = {change.setting.name: change.typed for change in changes if change.typed != DEFAULT}
    deleted = [change.setting.name for change in changes if change.typed == DEFAULT]
    return configs_command(bootstrap_servers, target.options, added, deleted)


def configs_command(
    bootstrap_servers: str, entity: Mapping[str, object], added: Mapping[str, str], deleted: Sequence[str]
) -> str:
    """Return the command; brackets keep the commas of a value together."""
    options = {
        "alter": True,
        **entity,
        "add-config": ",".join(f"{name}=[{value}]" for name, value in added.items()) or None,
        "delete-config": ",".join(deleted) or None,
    }
    return shell_command("kafka-configs", bootstrap_servers, options)


def plain_value(setting: str, typed: str) -> str:
    """Return `10 MB` of a size and `3 d` of a time as the digits a broker takes; anything else as it was typed."""
    units = units_of(setting)
    return (units and whole_number(typed, units)) or typed
