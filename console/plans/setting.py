"""The change of one setting, of a topic or of brokers, as a plan. Pure."""

from dataclasses import dataclass

from console.common.amounts import units_of, whole_number
from console.gateway.retention_views import SettingView
from console.plans.plan import Line, Plan

ACTION = "change setting"
#: What a person types to take the own value of a topic or broker away.
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Target:
    """What may have settings of its own, and how a change of one is called, done and told.

    `object_type` and `object_name` are the audit's; `option` names it to kafka-configs.sh."""

    object_type: str
    object_name: str
    #: Whose change it is in a sentence: "the topic", "broker 2", "all brokers".
    words: str
    option: str
    #: What follows from the change, and what is lost by it for good.
    touches: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    #: Why it cannot be changed at all; empty: it can.
    obstacle: str = ""


def change_plan(target: Target, setting: SettingView, own: str | None, typed: str, bootstrap_servers: str) -> Plan:
    """`own` is what `target` itself says now, None if nothing; `typed` is the new value as text, or `default` to take
    its own away. Without a difference: no lines."""
    new = None if typed == DEFAULT else typed
    old = DEFAULT if own is None else own
    command = f"kafka-configs.sh --bootstrap-server {bootstrap_servers} --alter {target.option} "
    command += f"--delete-config {setting.name}" if new is None else f"--add-config {setting.name}=[{new}]"
    return Plan(
        action=ACTION,
        object_type=target.object_type,
        object_name=target.object_name,
        lines=() if own == new else (Line(setting.name, old, DEFAULT if new is None else new),),
        read=(f"{setting.name}={setting.value}@{setting.source}", f"own={own}"),
        touches=target.touches,
        losses=target.losses,
        typed_name=target.object_name if target.losses else "",
        obstacle=target.obstacle,
        undo=f"set it to {old} again.",
        command=command,
    )


def plain_value(setting: str, typed: str) -> str:
    """`10 MB` of a size and `3 d` of a time as the digits a broker takes; anything else as it was typed."""
    units = units_of(setting)
    return (units and whole_number(typed, units)) or typed
