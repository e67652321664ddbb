"""Which settings of a topic its tab changes, and what a new value comes to where it does not say so itself. Pure.

What decides which records are deleted is changed on the retention tab, where the loss is worked out first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.setting import SettingChange, SettingsPlan, SettingTarget, change_plan

#: The settings that decide what is deleted, in the order they are shown.
RETENTION_KEYS = ("cleanup.policy", "retention.ms", "retention.bytes")

UNCLEAN = (
    "A replica that is not in sync may lead as soon as none in sync is left: what it lacks is lost for good, "
    "acknowledged records too."
)


#: Settings by which no record is deleted and no client is refused, whatever their value.
_HARMLESS = frozenset(
    (
        *("compression.type", "compression.gzip.level", "compression.lz4.level", "compression.zstd.level"),
        *("flush.ms", "flush.messages", "index.interval.bytes", "preallocate", "file.delete.delay.ms"),
    )
)
_WHY_HARMLESS = "By this setting no record is deleted and no client is refused."


def topic_target(topic: str, topic_id: str = "") -> SettingTarget:
    follow = "Every replica of the topic follows the new value at once; no record is touched by the change itself."
    return SettingTarget("topic", topic, "the topic", {"topic": topic}, (follow,), identity=topic_id)


def changeable(settings: Iterable[SettingView]) -> dict[str, SettingView]:
    """Return the settings that the topic's tab can change, by name."""
    return {setting.name: setting for setting in settings if setting.name not in RETENTION_KEYS}


def settings_plan(
    topic: str,
    replication_factor: int,
    settings: Iterable[SettingView],
    wanted: Sequence[tuple[str, str]],
    bootstrap_servers: str,
    topic_id: str,
) -> SettingsPlan | None:
    """Plan settings. `wanted`: names with their new values; None where one is no setting to change here."""
    known = changeable(settings)
    if any(name not in known for name, _ in wanted):
        return None
    target, changes = topic_target(topic, topic_id), []
    for name, value in wanted:
        setting = known[name]
        changes.append(SettingChange(setting, (setting.value or "") if setting.source == "topic" else None, value))
        target = with_cautions(target, name, value, replication_factor)
    target = replace(target, safe_because=why_safe(name for name, _ in wanted))
    return change_plan(target, changes, bootstrap_servers)


def why_safe(names: Iterable[str]) -> str:
    """Return why a change of these settings is safe; empty where that is not known."""
    return _WHY_HARMLESS if all(name in _HARMLESS for name in names) else ""


def with_cautions(target: SettingTarget, name: str, value: str, replication_factor: int) -> SettingTarget:
    """Return `target`, a topic, with cautions on what follows if `name` becomes `value`."""
    if name == "unclean.leader.election.enable" and value.lower() == "true":
        return replace(target, losses=(*target.losses, UNCLEAN))
    if name == "min.insync.replicas" and value.isdecimal() and int(value) > replication_factor:
        return replace(target, losses=(*target.losses, _no_writer(int(value), replication_factor)))
    if name == "min.insync.replicas" and value.isdecimal():
        return replace(target, touches=(*target.touches, *_of_min_isr(int(value), replication_factor)))
    if name == "max.message.bytes":
        return replace(target, touches=(*target.touches, "Consumers must be able to take a batch of that size."))
    return target


def _no_writer(least: int, replicas: int) -> str:
    return f"No acks=all producer can write any more: a partition has {_copies(replicas)}, not {least}."


def _of_min_isr(least: int, replicas: int) -> tuple[str, ...]:
    if least == replicas and replicas > 1:
        return (f"It has {_copies(replicas)}: one dead broker stops every acks=all producer of its partitions.",)
    if least == 1 and replicas > 1:
        return ("A record may be acknowledged while one broker alone holds it, and is lost with that broker.",)
    return ()


def _copies(replicas: int) -> str:
    return f"{replicas} replica{'s' * (replicas > 1)}"
