"""Schemas, values and records that are drawn for Connect's plugins."""

import base64
import random

DATE, TIME, TIMESTAMP, DECIMAL = (
    f"org.apache.kafka.connect.data.{name}" for name in ("Date", "Time", "Timestamp", "Decimal")
)
TEXTS = [
    *("", "a", "42", " 42", "1_000", "-1", "+7", "true", "TRUE", "yes", "1.5", "1e3", "NaN", "inf", "Infinity"),
    *("0x10", "1.", ".5", "5f", "128", "-129", "32768", "2147483648", "9223372036854775808", "\u0661\u0662", "\u00fc"),
    *("null", "2024-02-30", "1.0E10", "é\u2028", "a:b", '"q"', "[1,2]", '{"a":1}', "12345678901234567890.5"),
]
INTS = [0, 1, -1, 5, 127, 128, -128, 255, 32767, 32768, 65535, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63)]
FLOATS = [
    *("0.0", "-0.0", "1.0", "0.1", "1.0E7", "9999999.0", "1.0E-3", "9.9E-4", "1.0E10", "1.5", "-2.5", "0.3"),
    *("NaN", "Infinity", "-Infinity", "1.0E300", "4.7", "123456.789", "1.0E-5", "4.9E-324", "2.0E-3", "16777217.0"),
]
MOMENTS = [0, 1, -1, 86_399_999, 1_700_000_000_123, 951_782_400_000, -1_000, 4_102_444_800_000, -12_219_292_800_000]
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def integer(drawn: random.Random, kind: str) -> list:
    half = 1 << BITS[kind] - 1
    number = drawn.choice(INTS) if drawn.random() < 0.8 else drawn.randrange(-half, half)
    return [kind, str((number + half) % (2 * half) - half)]


def primitive(drawn: random.Random, kind: str) -> list:
    match kind:
        case "boolean":
            return [kind, drawn.random() < 0.5]
        case "float32" | "float64":
            number = drawn.choice(FLOATS) if drawn.random() < 0.8 else repr(drawn.uniform(-1e9, 1e9))
            return [kind, _single(number) if kind == "float32" else number]
        case "string":
            return [kind, drawn.choice(TEXTS)]
        case "bytes":
            return [kind, base64.b64encode(drawn.randbytes(drawn.randrange(4))).decode()]
    return integer(drawn, kind)


def _single(text: str) -> str:
    from broker.common.java.numbers import float_text

    return float_text(float(text))


KINDS = ["boolean", "int8", "int16", "int32", "int64", "float32", "float64", "string", "bytes"]


def field(drawn: random.Random, depth: int = 0) -> tuple[dict, list | None]:
    """A schema and a value of it."""
    schema, value = _typed(drawn, depth)
    if drawn.random() < 0.4:
        schema["optional"] = True
        if drawn.random() < 0.3:
            value = None
    if schema["type"] in KINDS and schema.get("name") is None and drawn.random() < 0.15:
        schema["default"] = primitive(drawn, schema["type"])
        if drawn.random() < 0.5:
            value = None
    return schema, value


def _typed(drawn: random.Random, depth: int) -> tuple[dict, list]:
    kind = drawn.choice([*KINDS, "logical", "logical", *(["array", "map", "struct"] if depth < 2 else [])])
    if kind == "logical":
        return _logical(drawn)
    if kind == "struct":
        return struct(drawn, depth + 1)
    if kind in ("array", "map"):
        inner = drawn.choice(["int32", "string", "float64"])
        values = [primitive(drawn, inner) for _ in range(drawn.randrange(3))]
        if kind == "array":
            return {"type": kind, "values": {"type": inner}}, ["list", values]
        pairs = [[["string", f"k{at}"], value] for at, value in enumerate(values)]
        return {"type": kind, "keys": {"type": "string"}, "values": {"type": inner}}, ["map", pairs]
    return {"type": kind}, primitive(drawn, kind)


def _logical(drawn: random.Random) -> tuple[dict, list]:
    name = drawn.choice([DATE, TIME, TIMESTAMP, TIMESTAMP, DECIMAL])
    ms = drawn.choice(MOMENTS)
    if name == DECIMAL:
        number = drawn.choice(["1.50", "-0.01", "0.00", "12345678901234567.89"])
        return {"type": "bytes", "name": name, "version": 1, "parameters": {"scale": "2"}}, ["decimal", number]
    if name == DATE:
        return {"type": "int32", "name": name, "version": 1}, ["date", str(ms - ms % 86_400_000)]
    if name == TIME:
        return {"type": "int32", "name": name, "version": 1}, ["date", str(ms % 86_400_000)]
    return {"type": "int64", "name": name, "version": 1}, ["date", str(ms)]


NAMES = ["x", "y", "z"]


def struct(drawn: random.Random, depth: int = 0) -> tuple[dict, list]:
    names = drawn.sample(NAMES, drawn.randrange(1, 4))
    pairs = {name: field(drawn, depth) for name in names}
    schema = {"type": "struct", "fields": [[name, pair[0]] for name, pair in pairs.items()]}
    if drawn.random() < 0.2:
        schema |= {"name": "n", "version": 2}
    return schema, ["struct", {name: pair[1] for name, pair in pairs.items() if pair[1] is not None}]


def schemaless(drawn: random.Random, depth: int = 0) -> list | None:
    kind = drawn.choice(["boolean", "int64", "int64", "float64", "string", "string", "null", "list", "map", "bytes"])
    if kind == "null" or (depth > 1 and kind in ("list", "map")):
        return None
    if kind == "list":
        return [kind, [schemaless(drawn, depth + 1) for _ in range(drawn.randrange(3))]]
    if kind == "map":
        return mapping(drawn, depth + 1)
    return primitive(drawn, kind)


def mapping(drawn: random.Random, depth: int = 0) -> list:
    names = drawn.sample(NAMES, drawn.randrange(1, 4))
    return ["map", [[["string", name], schemaless(drawn, depth)] for name in names]]


def record(drawn: random.Random, whole: bool = False) -> dict:
    """A record of a sink or source; `whole`: its value may be no map or struct."""
    node: dict = {"topic": drawn.choice(["t", "orders", "orders-v12", "a.b"]), "partition": drawn.randrange(3)}
    if drawn.random() < 0.8:
        node["timestamp"] = drawn.choice([0, 1_700_000_000_123, 951_782_400_000])
    if drawn.random() < 0.7:
        node["offset"] = drawn.randrange(100)
    if drawn.random() < 0.5:
        node["value_schema"], node["value"] = field(drawn) if whole else struct(drawn)
        if node["value"] is None:
            del node["value"]
    elif drawn.random() < 0.95:
        node["value"] = schemaless(drawn) if whole else mapping(drawn)
    if drawn.random() < 0.2:
        node["headers"] = [["h", {"type": "string"}, ["string", "v"]]]
    return node
