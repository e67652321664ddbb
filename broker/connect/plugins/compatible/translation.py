"""A configuration for another product's connector as one of ours: pure, the same for validation and for tasks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from broker.common.java.numbers import trim
from broker.connect.api import ConfigError, ConfigValue
from broker.connect.plugins.compatible.connectors import CONNECTORS
from broker.connect.plugins.compatible.setting import ForeignConnector, ForeignSetting

_CLASS = "connector.class"


@dataclass(frozen=True)
class ConfigTranslation:
    """`props` are ours; `origins` has the key of theirs for each of ours that comes from another key; `refusals` has
    a sentence for each of theirs that has no counterpart."""

    props: dict[str, Any]
    origins: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)


def translate(props: Mapping[str, Any]) -> ConfigTranslation:
    """Return the configuration as it is, where its connector is one of ours."""
    connector = CONNECTORS.get(trim(str(props.get(_CLASS) or "")))
    if connector is None:
        return ConfigTranslation(dict(props))
    own: dict[str, Any] = dict(connector.defaults) | {_CLASS: connector.ours}
    translation = ConfigTranslation(own)
    for key, text in props.items():
        if key != _CLASS:
            _add(translation, key, text, connector.setting_of(key))
    _derive(translation, connector, props)
    return translation


def rename_to_source_keys(values: dict[str, ConfigValue], translation: ConfigTranslation) -> None:
    """Rename, in place, what validation has found of our keys to theirs, and add what has no counterpart."""
    for ours, theirs in translation.origins.items():
        if (item := values.pop(ours, None)) is None:
            continue
        pattern = re.compile(rf"(?<![\w.]){re.escape(ours)}(?![\w.])")
        errors = [pattern.sub(theirs, error) for error in item.errors]
        if theirs in values:
            values[theirs].errors.extend(errors)
        else:
            values[theirs] = ConfigValue(theirs, item.value, [], errors, item.visible)
    for theirs, sentence in translation.refusals.items():
        values.setdefault(theirs, ConfigValue(theirs)).errors[:] = [sentence]


def _add(translation: ConfigTranslation, key: str, text: Any, setting: ForeignSetting | None) -> None:
    if setting is None:
        translation.props[key] = text
    elif text is None:
        translation.props[setting.ours or key] = None
    elif setting.ours is not None and setting.values is None:
        _put(translation, setting.ours, text, key)
    elif setting.values is None:
        translation.refusals[key] = f"{key} is not supported: {setting.advice}."
    elif (value := _value_of(setting.values, text)) is None:
        translation.refusals[key] = f"Invalid value {text} for configuration {key}: {_choices(setting)}."
    elif setting.ours is not None and value:
        _put(translation, setting.ours, value, key)


def _put(translation: ConfigTranslation, ours: str, text: str, key: str) -> None:
    translation.props[ours] = text
    if ours != key:
        translation.origins[ours] = key


def _value_of(values: Mapping[str, str], text: str) -> str | None:
    """Return the value; classes are known by their simple names, too."""
    lower = trim(text).lower()
    if "*" in values or not lower:
        return values.get("*", "")
    return values.get(lower, values.get(lower.rpartition(".")[2]))


def _choices(setting: ForeignSetting) -> str:
    known = f"this worker knows {', '.join(setting.values or ())}"
    return f"{known}; {setting.advice}" if setting.advice else known


def _derive(translation: ConfigTranslation, connector: ForeignConnector, props: Mapping[str, Any]) -> None:
    if connector.derive is None:
        return
    try:
        derived = connector.derive({key: text for key, text in props.items() if text is not None})
    except ConfigError as error:
        translation.refusals[error.name] = str(error)
        return
    for ours, (text, key) in derived.items():
        _put(translation, ours, text, key)
