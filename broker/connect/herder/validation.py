"""Whether a connector's configuration is right: each key with what it means, its value and what is wrong with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import is_of_security, is_secret
from broker.common.bounded_patterns import TooManyWays
from broker.config.definition import ConfigError as WrongReference
from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigType,
    ConfigValue,
    ConnectError,
    SinkConnector,
    SourceConnector,
)
from broker.connect.api.config import Password
from broker.connect.herder.aliased import aliased, check_aliased
from broker.connect.herder.blind_validation import blind_infos
from broker.connect.herder.common_keys import class_error, common_keys, connector_keys, converter_keys, version_errors
from broker.connect.herder.errors import BadRequest
from broker.connect.overrides import overrides_of
from broker.connect.plugins import LoadError, PluginKind, WrongKindError, lookup
from broker.connect.plugins.compatible import advice_for, own_class, rename_to_source_keys, translate
from broker.connect.settings import WorkerSettings
from broker.connect.tasks.boundaries import BOUNDARY, OWN_TOPIC
from broker.connect.tasks.topic_creation import read_topic_rules
from broker.connect.transforms.patterns import java_regex

Props = Mapping[str, Any]


def connector_class(props: Props) -> type[SourceConnector | SinkConnector]:
    """Raises ConnectError."""
    given = props.get("connector.class")
    if not given:
        raise ConnectError("Connector config {} contains no connector type")
    name = own_class(given)
    try:
        source: type[SourceConnector] = lookup(name, PluginKind.SOURCE)
        return source
    except LoadError:
        raise
    except ConnectError:
        try:
            sink: type[SinkConnector] = lookup(name, PluginKind.SINK)
            return sink
        except ConnectError:
            raise ConnectError(
                f"Failed to find any class that implements Connector and which name matches {name}{advice_for(name)}"
            ) from None


def validate(raw: Props, settings: WorkerSettings) -> dict[str, Any]:
    """Validate a connector's configuration, and return ConfigInfos. Raises ConnectError for a class that is none. Runs
    plugin code: not for the herder's thread.

    What was a reference is checked as what it stands for, and shown as a reference, in errors as well.
    """
    given = {key: value for key, value in raw.items() if value is not None}
    try:
        props: dict[str, Any] = dict.fromkeys(raw) | settings.providers.resolve(given)
    except WrongReference as error:
        raise ConnectError(str(error)) from None
    if props == raw:
        infos = _validate(raw, props, settings)
    else:
        infos = blind_infos(raw, props, lambda props: _validate(raw, props, settings))
    return infos | {"name": raw["connector.class"]}


def _validate(raw: Props, props: Props, settings: WorkerSettings) -> dict[str, Any]:
    """Validate `raw`, whose references are resolved in `props`. Returns ConfigInfos, whose errors may quote resolved
    values.
    """
    cls = connector_class(props)
    translation = translate(props)
    own = translation.props
    common = common_keys(cls, own, settings) + aliased(own)
    values = {property_.name: property_ for property_ in common.validate(own)}
    for property_ in cls().validate(own):
        known = values.get(property_.name)
        values[property_.name] = property_ if known is None else _merged(known, property_)
    _check_together(cls, raw, own, values, settings)
    rename_to_source_keys(values, translation)
    for name, item in values.items():
        if name in raw and raw[name] != props[name]:
            values[name] = ConfigValue(name, raw[name], item.recommended_values, item.errors, item.visible)
    definition = _renamed(common + cls.CONFIG + converter_keys(own), translation.origins)
    configs = [{"definition": _definition(definition, name), "value": _value(item)} for name, item in values.items()]
    groups = list(dict.fromkeys(key.group for key in definition.keys.values() if key.group))
    return {
        "error_count": sum(len(value.errors) for value in values.values()),
        "groups": groups,
        "configs": configs,
    }


def _check_together(
    cls: type[SourceConnector | SinkConnector],
    raw: Props,
    props: Props,
    values: dict[str, ConfigValue],
    settings: WorkerSettings,
) -> None:
    """Add what no key's own declaration says."""
    for key, error in version_errors(cls, props):
        values[key].errors.append(error)
    check_aliased(props, values)
    if issubclass(cls, SinkConnector):
        _check_topics(props, values)
    _check_converters(raw, props, values)
    for name, value in props.items():
        if value is None:
            values.setdefault(name, ConfigValue(name)).errors.append(
                "Null value can not be supplied as the configuration value."
            )
    _check_overrides(props, values, settings)
    if issubclass(cls, SourceConnector):
        _check_topic_rules(props, values)
        _check_boundaries(cls(), props, values, settings)


def _renamed(definition: ConfigDef, origins: Mapping[str, str]) -> ConfigDef:
    return ConfigDef(*(replace(key, name=origins.get(key.name, key.name)) for key in definition.keys.values()))


def _check_topics(props: Props, values: dict[str, ConfigValue]) -> None:
    """Note an error for a sink that reads its own dead letters: it would write them again, for ever."""
    pattern, dead_letters = props.get("topics.regex"), props.get("errors.deadletterqueue.topic.name")
    topics = {part.strip() for part in (props.get("topics") or "").split(",")} - {""}
    if bool(topics) is bool(pattern):
        both = "topics and topics.regex are mutually exclusive options, but both are set."
        for key in ("topics", "topics.regex"):
            values[key].errors.append(both if pattern else "Must configure one of topics or topics.regex")
    if dead_letters in topics:
        listed = ", ".join(values["topics"].value or ())
        values["topics"].errors.append(
            f"The DLQ topic '{dead_letters}' may not be included in the list of topics ('topics=[{listed}]') consumed "
            "by the connector"
        )
    if not pattern:
        return
    try:
        is_read = java_regex("topics.regex", pattern).fullmatch(dead_letters or "") and dead_letters
    except (ConfigError, TooManyWays) as error:
        values["topics.regex"].errors.append(str(error))
        return
    if is_read:
        values["topics.regex"].errors.append(
            f"The DLQ topic '{dead_letters}' may not be matched by the regex for the topics ('topics.regex={pattern}') "
            "consumed by the connector"
        )


def _check_overrides(props: Props, values: dict[str, ConfigValue], settings: WorkerSettings) -> None:
    """Validate client overrides, each under its own key, as Kafka does (KIP-458); a login needs more than a policy's
    consent.
    """
    allowed: dict[str, dict[str, str]] = {}
    for key, option, text in overrides_of(props):
        value = values.setdefault(key, ConfigValue(key, Password(text) if is_secret(option) else text))
        if objection := settings.policy.objection(option, text):
            value.errors.append(objection)
        else:
            allowed.setdefault(key.split(".")[0], {})[key] = text
    for kind, overrides in allowed.items():
        try:
            settings.security_of(kind, overrides)
        except ClientConfigError as error:
            at_fault = next(
                (key for key in overrides if is_of_security(key.partition(".override.")[2])), next(iter(overrides))
            )
            values[at_fault].errors.append(str(error))


def _check_topic_rules(props: Props, values: dict[str, ConfigValue]) -> None:
    groups = values["topic.creation.groups"]
    if len(set(groups.value or ())) < len(groups.value or ()):
        listed = ", ".join(groups.value)
        groups.errors.append(f"Invalid value [{listed}] for configuration {groups.name}: Duplicate alias provided.")
    try:
        read_topic_rules(props)
    except ConfigError as error:
        values.setdefault(error.name, ConfigValue(error.name)).errors.append(str(error))


def _check_boundaries(
    connector: SourceConnector, props: Props, values: dict[str, ConfigValue], settings: WorkerSettings
) -> None:
    taken = {settings.values.get(name) for name in ("config_storage_topic", "status_storage_topic")}
    if props.get(OWN_TOPIC) and props[OWN_TOPIC] in taken:
        values[OWN_TOPIC].errors.append(f"{props[OWN_TOPIC]} is a topic of the workers themselves.")
    if str(props.get("exactly.once.support", "")).lower() == "required":
        errors = values["exactly.once.support"].errors
        if not settings.is_exactly_once:
            errors.append("This worker does not have exactly-once source support enabled.")
        if connector.exactly_once_support(props) is not True:
            errors.append("The connector does not support exactly-once semantics with the provided configuration.")
    if str(props.get(BOUNDARY, "")).lower() == "connector" and not connector.can_define_transaction_boundaries(props):
        values[BOUNDARY].errors.append(
            "The connector does not support connector-defined transaction boundaries with the given configuration. "
            "Please reconfigure it to use a different transaction boundary definition."
        )


def require_valid(props: Props, settings: WorkerSettings) -> None:
    """Raises BadRequest with every error in one sentence, as Kafka writes it."""
    try:
        infos = validate(props, settings)
    except ConnectError as error:
        raise BadRequest(str(error)) from None
    errors = [text for config in infos["configs"] for text in config["value"]["errors"]]
    if errors:
        raise BadRequest(
            f"Connector configuration is invalid and contains the following {len(errors)} error(s):\n"
            + "\n".join(errors)
            + "\nYou can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`"
        )


def key_infos(cls: type) -> list[dict[str, Any]]:
    is_connector = issubclass(cls, SourceConnector | SinkConnector)
    definition: ConfigDef = connector_keys(cls) if is_connector else getattr(cls, "CONFIG", ConfigDef())
    return [info for name in definition.keys if (info := _definition(definition, name))]


def _merged(one: ConfigValue, other: ConfigValue) -> ConfigValue:
    errors = list(dict.fromkeys([*one.errors, *other.errors]))
    return ConfigValue(one.name, other.value, other.recommended_values, errors, other.visible)


def _check_class(value: ConfigValue, kind: PluginKind) -> None:
    try:
        lookup(value.value, kind)
    except ConnectError as error:
        value.errors.append(class_error(value, error, kind))
        if not isinstance(error, WrongKindError):
            value.value = None


def _check_converters(raw: Props, props: Props, values: dict[str, ConfigValue]) -> None:
    for name in ("key.converter", "value.converter"):
        if props.get(name):
            _check_class(values[name], PluginKind.CONVERTER)
            _check_converter(name, raw, props, values)
    if props.get("header.converter"):
        _check_class(values["header.converter"], PluginKind.HEADER_CONVERTER)


def _check_converter(name: str, raw: Props, props: Props, values: dict[str, ConfigValue]) -> None:
    """Note errors of a converter's own keys; a secret must be a reference, because REST shows configurations."""
    try:
        definition: ConfigDef = lookup(props[name], PluginKind.CONVERTER).CONFIG  # type: ignore[attr-defined]  # each converter has one
    except ConnectError:
        return
    prefix = f"{name}."
    own = {key.removeprefix(prefix): value for key, value in props.items() if key.startswith(prefix)}
    for config_value in definition.validate(own):
        key = prefix + config_value.name
        if definition.keys[config_value.name].type is ConfigType.PASSWORD and key in raw and raw[key] == props[key]:
            config_value.errors.append(
                f"Invalid value for configuration {key}: a secret must be a reference, ${{provider:…}}"
            )
        # What is refused may be a secret in a place where nobody expects one, as in an address.
        shown = None if config_value.errors else config_value.value
        values.setdefault(key, ConfigValue(key, shown)).errors.extend(config_value.errors)


def _definition(definition: ConfigDef, name: str) -> dict[str, Any] | None:
    key = definition.keys.get(name)
    if key is None:
        return None
    return {
        "name": key.name,
        "type": str(key.type),
        "required": key.is_required,
        "default_value": None if key.is_required else _text(key.default),
        "importance": str(key.importance),
        "documentation": key.documentation,
        "group": key.group,
        "order": key.order,
        "order_in_group": key.order,  # so Kafka calls it since 4.0; forms made for an older one read `order`
        "width": str(key.width),
        "display_name": key.display_name or key.name,
        "dependents": list(key.dependents),
    }


def _value(value: ConfigValue) -> dict[str, Any]:
    return {
        "name": value.name,
        "value": _text(value.value),
        "recommended_values": [_text(recommended_value) for recommended_value in value.recommended_values],
        "errors": value.errors,
        "visible": value.visible,
    }


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Password):
        return "[hidden]"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
