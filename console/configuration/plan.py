"""The change of one setting as a plan. Pure.

What decides which records of a topic are deleted is changed on its retention tab, where the loss is worked out first.
"""

from collections.abc import Iterable

from console.configuration.target import Target
from console.gateway.retention_views import SettingView
from console.plans.plan import Line, Plan
from console.retention.amounts import units_of, whole_number
from console.retention.plan import DEFAULT
from console.retention.plan import KEYS as RETENTION_KEYS

ACTION = "change setting"


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


def changeable(settings: Iterable[SettingView]) -> dict[str, SettingView]:
    """By name, those that the tab of a topic changes."""
    return {each.name: each for each in settings if each.name not in RETENTION_KEYS}
