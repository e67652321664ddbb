"""What follows when a broker's setting, or that of all brokers, is changed while they run. Pure."""

from collections.abc import Iterable, Mapping

from console.cluster.brokers.doors import losses_of, parse_protocols
from console.kit.gateway.brokers.interface import BrokerSetting
from console.kit.plans.setting import SettingTarget

#: What all brokers together are called in the audit, and typed to confirm.
ALL = "all"
#: Keys by which records are deleted that nobody asked to delete.
_DELETING = {
    "log.retention.ms": "retention.ms",
    "log.retention.minutes": "retention.ms",
    "log.retention.hours": "retention.ms",
    "log.retention.bytes": "retention.bytes",
    "log.cleanup.policy": "cleanup.policy",
}
_UNCLEAN = "unclean.leader.election.enable"
_CAUTIONS = {
    "min.insync.replicas": "Topics that do not set it themselves follow: with fewer replicas in sync than that, "
    "acks=all is refused; with a smaller one less stands between an acknowledged record and its loss.",
    _UNCLEAN: "True lets a replica that is not in sync lead: what it lacks is lost.",
    "message.max.bytes": "Followers and consumers must be able to take a batch of that size.",
    "leader.replication.throttled.rate": "Too small a rate keeps followers from ever catching up.",
    "follower.replication.throttled.rate": "Too small a rate keeps this broker from ever catching up.",
    "max.connections": "Connections that are open stay; new ones beyond it are closed.",
}


def setting_target(
    broker_id: int | None, setting: BrokerSetting, everywhere: Mapping[int, Iterable[BrokerSetting]], value: str = ""
) -> SettingTarget:
    """Return the target of a setting: one broker, or all (None). `everywhere` has each broker's answer."""
    name = ALL if broker_id is None else str(broker_id)
    words = "all brokers" if broker_id is None else f"broker {broker_id}"
    options: dict[str, object] = {"entity-type": ["brokers"], "entity-default": broker_id is None}
    if broker_id is not None:
        options["entity-name"] = [broker_id]
    touches = [_who_follows(broker_id, setting.name, everywhere)]
    touches += [_CAUTIONS[setting.name]] if setting.name in _CAUTIONS else []
    losses = (*_losses(setting, value), *losses_of(setting.name, value, _protocols(broker_id, everywhere)))
    return SettingTarget("broker", name, words, options, tuple(touches), losses, _obstacle(setting))


def own_value(broker_id: int | None, setting: BrokerSetting) -> str | None:
    """Return the dynamic value of the broker, or of the cluster; None if there is none."""
    return setting.values_by_source.get("cluster" if broker_id is None else "broker")


def _who_follows(broker_id: int | None, name: str, everywhere: Mapping[int, Iterable[BrokerSetting]]) -> str:
    if broker_id is not None:
        return f"Broker {broker_id} follows the new value at once, without a restart; it outlives one. Others do not."
    with_own = [
        item
        for item, views in sorted(everywhere.items())
        if any(s.name == name and "broker" in s.values_by_source for s in views)
    ]
    sentence = "Every broker follows the new value at once, without a restart, and so does one that starts later"
    if not with_own:
        return f"{sentence}."
    named = ", ".join(map(str, with_own))
    return f"{sentence}; but not broker {named}, which has a value of its own."


def _protocols(broker_id: int | None, everywhere: Mapping[int, Iterable[BrokerSetting]]) -> dict[str, str]:
    """Return protocols of the broker's listeners; for all brokers, those that any of them has."""
    view_lists = [views for item, views in everywhere.items() if broker_id in (None, item)]
    maps = [s.value for views in view_lists for s in views if s.name == "listener.security.protocol.map" and s.value]
    return {name: protocol for text in maps for name, protocol in parse_protocols(text).items()}


def _losses(setting: BrokerSetting, value: str) -> tuple[str, ...]:
    if setting.name == _UNCLEAN and value.lower() == "true":
        return (_CAUTIONS[_UNCLEAN],)
    if setting.name not in _DELETING:
        return ()
    topic_key = _DELETING[setting.name]
    return (
        f"Every topic that does not set {topic_key} itself follows: records that the new value does not keep are "
        "deleted for good when the brokers next look, within minutes. The retention tab of a topic previews it.",
    )


def _obstacle(setting: BrokerSetting) -> str:
    if setting.is_sensitive:
        return f"{setting.name} is a secret: it is changed at a shell, so that no page and no audit row holds it."
    if setting.is_read_only:
        return f"{setting.name} cannot change while a broker runs: change its file and restart it."
    return ""
