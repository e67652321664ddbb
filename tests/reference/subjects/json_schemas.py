"""JSON Schema: what the registry takes beside the loader of Confluent's, and which documents fit beside validators."""

import json
import random
from typing import Any

from broker.registry.errors import InvalidSchema
from broker.registry.json_schema.java_patterns import java_validator
from broker.registry.json_schema.schema import parse
from tests.reference.comparison import Subject

_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
_NAMES = ["a", "b", "c1", "Ü", "$x"]
_PATTERNS = ["a", "^a", "^\\d+$", "^\\p{L}+$", "[a-c&&[^b]]", "(?<y>a)", "^.$", "\\w", "b\\z", "(?i)A", "^$", "a|b"]
_ODD_PATTERNS = ["(", "a**", "[a", "\\y", "(?P<n>a)"]
_TEXTS = ["", "a", "A", "ab", "b", "12", "é", "a\n", "c1", "\U0001f600", "abc"]
_NUMBERS = [0, 1, -1, 2, 3, 1.5, 2.0, 10, 1e3, 0.3, -0.0, 12345678901234567890]
_ODD = [None, True, "x", -1, 1.5, [], {}, [1], ["a", "a"], {"a": 1}, "number"]
_DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}


class SchemaMaker:
    """Draws schemas of one draft; `oddity` is the chance that a keyword's value is none that it may have."""

    def __init__(self, drawn: random.Random, draft: int, oddity: float = 0.0):
        self._drawn, self._draft, self._oddity = drawn, draft, oddity

    def whole(self) -> dict[str, Any]:
        schema = self.schema()
        while not isinstance(schema, dict):
            schema = self.schema()
        if self._drawn.random() < 0.3 or self._draft != 7:
            schema["$schema"] = _DRAFTS[self._draft]
        if self._drawn.random() < 0.2:
            place = "$defs" if self._draft > 7 else "definitions"
            schema[place] = {"d": self.schema(2)}
            schema.setdefault("allOf", []).append({"$ref": f"#/{place}/d"})
        return schema

    def schema(self, depth: int = 0) -> Any:
        drawn = self._drawn
        if depth and self._draft > 4 and drawn.random() < 0.08:
            return drawn.random() < 0.6
        schema: dict[str, Any] = {}
        if drawn.random() < 0.6:
            schema["type"] = drawn.choice(_TYPES) if drawn.random() < 0.85 else drawn.sample(_TYPES, 2)
        for _ in range(drawn.randrange(3)):
            keyword = drawn.choice(self._keywords(depth))
            schema[keyword] = drawn.choice(_ODD) if drawn.random() < self._oddity else self._value(keyword, depth)
        return schema

    def _keywords(self, depth: int) -> list[str]:
        keywords = ["enum", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems"]
        keywords += [
            "maxItems",
            "uniqueItems",
            "required",
            "minProperties",
            "maxProperties",
            "title",
            "default",
            "format",
        ]
        if depth < 3:
            keywords += ["properties"] * 3 + ["patternProperties", "additionalProperties", "items"] * 2
            keywords += ["allOf", "anyOf", "oneOf", "not"]
            keywords += [] if self._draft == 4 else ["propertyNames", "contains"]
            keywords += ["if"] if self._draft >= 7 else []
            keywords += ["prefixItems"] if self._draft == 2020 else []
            keywords += ["dependentSchemas", "dependentRequired"] if self._draft > 7 else ["dependencies"]
        keywords += [] if self._draft == 4 else ["const", "exclusiveMinimum", "exclusiveMaximum"]
        return keywords

    def _value(self, keyword: str, depth: int) -> Any:
        drawn = self._drawn
        match keyword:
            case "enum":
                return [value(drawn) for _ in range(drawn.randrange(1, 4))]
            case "const" | "default":
                return value(drawn)
            case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
                return drawn.choice(_NUMBERS)
            case "multipleOf":
                return drawn.choice([1, 2, 3, 0.1, 0.5, 1.5])
            case "pattern":
                return drawn.choice(_ODD_PATTERNS if drawn.random() < self._oddity else _PATTERNS)
            case "uniqueItems":
                return drawn.random() < 0.8
            case "required":
                return drawn.sample(_NAMES, drawn.randrange(1, 3))
            case "title":
                return "t"
            case "format":
                return drawn.choice(["x", "custom"])
            case "properties" | "dependentSchemas":
                return {name: self.schema(depth + 1) for name in drawn.sample(_NAMES, drawn.randrange(1, 4))}
            case "patternProperties":
                return {drawn.choice(_PATTERNS): self.schema(depth + 1)}
            case "dependentRequired":
                return {drawn.choice(_NAMES): drawn.sample(_NAMES, 1)}
            case "dependencies":
                return {
                    drawn.choice(_NAMES): drawn.choice([drawn.sample(_NAMES, 1), self.schema(3) or {"type": "object"}])
                }
            case "allOf" | "anyOf" | "oneOf" | "prefixItems":
                return [self.schema(depth + 1) for _ in range(drawn.randrange(1, 3))]
            case "additionalProperties" | "items" | "not" | "propertyNames" | "contains" | "if":
                return self.schema(depth + 1)
        return drawn.randrange(4)


def value(drawn: random.Random, depth: int = 0) -> Any:
    kind = drawn.randrange(7 if depth < 3 else 4)
    match kind:
        case 0:
            return drawn.choice([None, True, False])
        case 1:
            return drawn.choice(_NUMBERS)
        case 2 | 3:
            return drawn.choice(_TEXTS)
        case 4:
            return [value(drawn, depth + 1) for _ in range(drawn.randrange(4))]
    return {drawn.choice([*_NAMES, *_TEXTS]): value(drawn, depth + 1) for _ in range(drawn.randrange(4))}


def _schema_case(drawn: random.Random) -> dict:
    maker = SchemaMaker(drawn, drawn.choice([4, 6, 7, 7, 7]), drawn.choice([0.0, 0.05, 0.3]))
    return {"op": "json-schema", "text": json.dumps(maker.whole())}


def _document_case(drawn: random.Random) -> dict:
    draft = drawn.choice([4, 6, 7, 7, 7, 2019, 2020])
    schema = SchemaMaker(drawn, draft).whole()
    return {"op": "json-document", "text": json.dumps(schema), "document": json.dumps(value(drawn)), "draft": draft}


def _taken(case: dict) -> dict:
    try:
        parse(case["text"], (), is_new=True)
    except InvalidSchema:
        return {"refused": "value"}
    return {"accepted": True}


def _fits(case: dict) -> dict:
    schema = json.loads(case["text"])
    return {"fits": bool(java_validator(schema)(schema).is_valid(json.loads(case["document"])))}


JSON_SCHEMAS = (
    Subject("json_schemas", _schema_case, _taken, 3_000),
    Subject("json_documents", _document_case, _fits, 5_000),
)
