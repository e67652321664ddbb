"""JSON Schema's patterns by Java's rules, which the reference's registry and validators go by.

A pattern of Java's that has no equal here is kept in schemas; what it is asked of fits it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import Draft7Validator, extend, validator_for

from broker.common.java.patterns import UnsupportedPattern, compile_pattern
from broker.common.limits import PATTERN_ANSWERS_MAX


@lru_cache(maxsize=PATTERN_ANSWERS_MAX)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return None for a pattern that is Java's and has no equal. Raises PatternError for one that is none."""
    try:
        return compile_pattern(pattern)
    except UnsupportedPattern:
        return None


def finds(pattern: str, text: str) -> bool:
    """Return whether `Pattern.compile(pattern).matcher(text).find()`. Raises PatternError."""
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(text) is not None


def check_schema(raw: Any) -> None:
    """Raise SchemaError for what is no schema of its draft, which is 7 if it names none."""
    draft: Any = validator_for(raw, default=Draft7Validator)
    formats = FormatChecker(formats=())
    formats.checkers = {**draft.FORMAT_CHECKER.checkers, "regex": (_is_pattern, ValueError)}
    draft.check_schema(raw, format_checker=formats)


def _is_pattern(instance: object) -> bool:
    if isinstance(instance, str):
        _compiled(instance)
    return True


def java_validator(raw: Any) -> Any:
    """Return the validator of the schema's draft, as a class, whose patterns are Java's."""
    keywords = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    }
    extended: Any = extend  # it has no types
    return extended(validator_for(raw, default=Draft7Validator), keywords)


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not finds(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in patterns.items():
        for name, value in instance.items():
            if finds(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, additional: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [name for name in instance if name not in declared and not any(finds(item, name) for item in patterns)]
    if validator.is_type(additional, "object"):
        for name in extras:
            yield from validator.descend(instance[name], additional, path=name)
    elif not additional and extras:
        names = ", ".join(sorted(map(repr, extras)))
        yield ValidationError(f"Additional properties are not allowed ({names} unexpected)")
