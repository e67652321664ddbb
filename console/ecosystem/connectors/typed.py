"""What somebody typed of a configuration, where the secrets that a page does not show stand masked. Pure."""

import json
from collections.abc import Collection, Iterable, Mapping

from console.ecosystem.connectors.answers import (
    KEYS_MAX,
    NAME_LENGTH_MAX,
    OFFSETS_MAX,
    VALUE_LENGTH_MAX,
    OffsetView,
    compact,
)
from console.ecosystem.connectors.masking import MASK, is_secret, masked_value, secrets_in
from console.kit.common.foreign_json import parse_foreign_json

#: Of all of it together, in JSON.
TEXT_LENGTH_MAX = 512 * 1024
NOT_KEPT = "Type it: no value of it is kept here."


class TypedError(Exception):
    """The text is no configuration; the message says why."""


def name_problem(name: str) -> str:
    """Return why a connector cannot have that name; empty if it can."""
    if not name.strip():
        return "A connector needs a name."
    if len(name) > NAME_LENGTH_MAX or not name.isprintable() or name != name.strip():
        return f"A name has at most {NAME_LENGTH_MAX} characters, all of them visible, and no blank at its ends."
    return ""


def from_json(text: str) -> dict[str, str]:
    """Raises TypedError."""
    try:
        document = parse_foreign_json(text)
    except (ValueError, RecursionError) as error:
        raise TypedError(f"This is no JSON: {error}."[:300]) from None
    if isinstance(document, dict) and isinstance(document.get("config"), dict):
        document = {
            **({"name": document["name"]} if isinstance(document.get("name"), str) else {}),
            **document["config"],
        }
    if not isinstance(document, dict):
        raise TypedError("A configuration is an object: keys and their values.")
    return _checked({key: item if isinstance(item, str) else compact(item) for key, item in _valued(document).items()})


def from_lines(text: str) -> dict[str, str]:
    """Parse `key=value` lines. Raises TypedError."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if wrong := next((line for line in lines if "=" not in line or line.startswith("=")), None):
        raise TypedError(f"Each line is key=value; this is not: {wrong[:80]}")
    return _checked({key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)})


def to_lines(config: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={value}" for key, value in sorted(config.items()))


def to_json(config: Mapping[str, str]) -> str:
    return json.dumps(dict(sorted(config.items())), indent=2, ensure_ascii=False)


def resolved(
    typed: Mapping[str, str], *known: Mapping[str, str], declared: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return `typed` with its secrets: a masked value is the first of `known` that is masked alike; and errors by
    key.
    """
    config, problems = {}, {}
    for key, value in typed.items():
        if MASK not in value:
            config[key] = value
            continue
        originals = [item[key] for item in known if key in item and masked_value(key, item[key], declared) == value]
        if originals:
            config[key] = originals[0]
        else:
            problems[key] = NOT_KEPT
    return config, problems


def new_secrets(config: Mapping[str, str], old: Mapping[str, str], declared: Collection[str]) -> dict[str, str]:
    """Return values that hold a secret, and did not before."""
    return {
        key: value for key, value in config.items() if old.get(key) != value and _holds_secret(key, value, declared)
    }


def _holds_secret(key: str, value: str, declared: Collection[str]) -> bool:
    return masked_value(key, value, declared) != value or is_secret(key, declared)


def secrets_of(*configs: Mapping[str, str], declared: Collection[str]) -> list[str]:
    return [secret for config in configs for secret in secrets_in(config, declared)]


def offsets_from(text: str) -> list[OffsetView]:
    """Raises TypedError."""
    try:
        document = parse_foreign_json(text)
    except (ValueError, RecursionError) as error:
        raise TypedError(f"This is no JSON: {error}."[:300]) from None
    listed = document.get("offsets") if isinstance(document, dict) else document
    if not isinstance(listed, list) or not listed or len(listed) > OFFSETS_MAX:
        raise TypedError('A list is needed, as [{"partition": {…}, "offset": {…}}].')
    for value in listed:
        if not isinstance(value, dict) or not isinstance(value.get("partition"), dict) or "offset" not in value:
            raise TypedError("Each of them is an object with partition and offset.")
        if not isinstance(value["offset"], dict | None):
            raise TypedError("An offset is an object, or null.")
    return [OffsetView(line["partition"], line["offset"]) for line in listed]


def offsets_text(offsets: Iterable[OffsetView]) -> str:
    return json.dumps([{"partition": e.partition, "offset": e.offset} for e in offsets], indent=2, ensure_ascii=False)


def _valued(document: Mapping[str, object]) -> dict[str, object]:
    return {str(key): value for key, value in document.items() if value is not None}


def _checked(config: dict[str, str]) -> dict[str, str]:
    if len(config) > KEYS_MAX:
        raise TypedError(f"A configuration has at most {KEYS_MAX} keys.")
    if long := next((key for key, value in config.items() if len(value) > VALUE_LENGTH_MAX or len(key) > 255), None):
        raise TypedError(f"The value of {long[:80]} is too long.")
    return config
