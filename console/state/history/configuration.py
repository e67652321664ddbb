"""What changed in settings, ACLs and quotas between two reads of them, as events with old and new values. Pure.

A secret has no value here: Kafka does not tell it, so only its setting and removal are seen.
"""

from collections.abc import Iterable, Mapping

from console.kit.gateway.acls.interface import AclRule
from console.kit.gateway.brokers.interface import BrokerSetting
from console.kit.gateway.moves.interface import RATE_KEYS, REPLICA_KEYS
from console.kit.gateway.quotas.interface import Quotas, entity_text, value_text
from console.state.history.damage import tone_of
from console.state.history.differences import HistoryEvent, Values

#: By object, its values by name.
State = Mapping[str, Mapping[str, str]]
HIDDEN = "(hidden)"
DEFAULT = "default"
#: What all brokers have in common, where they have nothing of their own.
ALL_BROKERS = "all brokers"
#: As the audit has it of a rule that is there.
RULE = "a rule"
#: Values named in a sentence, and letters of each.
NAMED_MAX, VALUE_LENGTH_MAX = 5, 60


def differences(before: State, after: State) -> dict[str, Values]:
    """Return the differing values of objects in both, by object."""
    changed = {name: changed_values(before[name], values) for name, values in after.items() if name in before}
    return {name: values for name, values in changed.items() if values}


def changed_values(before: Mapping[str, str], after: Mapping[str, str]) -> Values:
    """Return (old, new) by name; None where there is no value."""
    names = sorted(before.keys() | after.keys())
    pairs = ((name, (before.get(name), after.get(name))) for name in names)
    return {name: pair for name, pair in pairs if pair[0] != pair[1]}


def in_sentence(values: Values) -> str:
    """Return `retention.ms 604800000 → 3600000; cleanup.policy default → compact`."""
    named = [f"{name} {_short(old)} → {_short(new)}" for name, (old, new) in list(values.items())[:NAMED_MAX]]
    more = len(values) - len(named)
    return "; ".join(named) + (f"; {more} more" if more else "")


def topic_settings_events(before: State, after: State) -> list[HistoryEvent]:
    return [
        HistoryEvent("settings", name, f"{name}: {in_sentence(values)}", tone_of(values), values=values)
        for name, values in differences(before, after).items()
    ]


def broker_settings(settings: Mapping[int, Iterable[BrokerSetting]]) -> dict[str, dict[str, str]]:
    """Return what each broker sets itself (file and dynamic), and what all have in common."""
    state: dict[str, dict[str, str]] = {}
    for broker_id, of_broker in settings.items():
        own = state.setdefault(f"broker-{broker_id}", {})
        for setting in of_broker:
            for source, value in setting.values_by_source.items():
                text = HIDDEN if setting.is_sensitive or value is None else value
                if source == "cluster":
                    state.setdefault(ALL_BROKERS, {})[setting.name] = text
                elif source == "broker":
                    own[setting.name] = text
                elif source == "file":
                    own[f"{setting.name} (server.properties)"] = text
    if state:
        state.setdefault(ALL_BROKERS, {})
    return state


def broker_settings_events(before: State, after: State) -> list[HistoryEvent]:
    return [
        HistoryEvent("brokerconfig", name, f"{_broker(name)}: {in_sentence(values)}", tone_of(values), values=values)
        for name, values in differences(before, after).items()
    ]


def throttled_brokers(state: State) -> dict[str, int]:
    """Return by broker (or all of them) the lowest rate of a replication throttle (KIP-73), in bytes per second."""
    changes = {
        name: [int(values[key]) for key in RATE_KEYS if values.get(key, "").isdigit()] for name, values in state.items()
    }
    return {name: min(rates) for name, rates in sorted(changes.items()) if rates}


def throttled_topics(state: State) -> list[str]:
    """Return the topics that name replicas for which a throttle holds."""
    return sorted(name for name, values in state.items() if any(values.get(key) for key in REPLICA_KEYS))


def acl_state(rules: Iterable[AclRule]) -> dict[str, dict[str, str]]:
    """Return the ACLs in words, with their resource."""
    return {str(rule): {"about": rule.about} for rule in rules}


def acl_events(before: State, after: State) -> list[HistoryEvent]:
    """Return the events of added and removed ACLs; a rule is never changed."""
    events = []
    for rule in sorted(before.keys() ^ after.keys()):
        is_new = rule in after
        about = (after if is_new else before)[rule].get("about", rule)
        values: Values = {rule: (None, RULE) if is_new else (RULE, None)}
        sentence = f"ACL {'added' if is_new else 'removed'}: {rule}"
        events.append(HistoryEvent("acl", about, sentence, "plain" if is_new else "warning", values=values))
    return events


def quota_state(quotas: Quotas) -> dict[str, dict[str, str]]:
    return {
        entity_text(entity): {key: value_text(key, value) for key, value in values.items()}
        for entity, values in quotas.items()
    }


def quota_events(before: State, after: State) -> list[HistoryEvent]:
    """Return events of quotas; an entity without quotas counts as absent."""
    names = sorted(before.keys() | after.keys())
    changed = {name: changed_values(before.get(name, {}), after.get(name, {})) for name in names}
    return [
        HistoryEvent("quota", name, f"Quota of {name}: {in_sentence(values)}", tone_of(values), values=values)
        for name, values in changed.items()
        if values
    ]


def _broker(name: str) -> str:
    return name if name == ALL_BROKERS else name.replace("broker-", "Broker ")


def _short(value: str | None) -> str:
    text = DEFAULT if value is None else value or '""'
    return text if len(text) <= VALUE_LENGTH_MAX else f"{text[: VALUE_LENGTH_MAX - 1]}…"
