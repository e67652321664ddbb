"""The change of one setting of a topic as a plan. Pure.

What decides which records are deleted is changed on the retention tab, where the loss is worked out first.
"""

from collections.abc import Iterable

from console.gateway.retention_views import SettingView
from console.plans.plan import Line, Plan
from console.retention.plan import DEFAULT
from console.retention.plan import KEYS as RETENTION_KEYS

ACTION = "change setting"


def change_plan(topic: str, setting: SettingView, typed: str, bootstrap_servers: str) -> Plan:
    """`typed` is the new value as text, or `default` to take the topic's own away. Without a difference: no lines."""
    is_own = setting.source == "topic"
    new = None if typed == DEFAULT else typed
    is_same = not is_own if new is None else is_own and setting.value == new
    old = (setting.value or "") if is_own else DEFAULT
    command = f"kafka-configs.sh --bootstrap-server {bootstrap_servers} --alter --topic {topic} "
    command += f"--delete-config {setting.name}" if new is None else f"--add-config {setting.name}=[{new}]"
    return Plan(
        action=ACTION,
        object_type="topic",
        object_name=topic,
        lines=() if is_same else (Line(setting.name, old, DEFAULT if new is None else new),),
        read=(f"{setting.name}={setting.value}@{setting.source}",),
        touches=(
            "Every replica of the topic follows the new value at once; no record is touched by the change itself.",
        ),
        undo=f"set it to {old} again.",
        command=command,
    )


def changeable(settings: Iterable[SettingView]) -> dict[str, SettingView]:
    """By name, those that this tab changes."""
    return {each.name: each for each in settings if each.name not in RETENTION_KEYS}
