"""Java's rules for texts: regular expressions, dates, numbers, case, Base64 and settings."""

import random
import re
import struct

from broker.common.java.base64 import decode_base64
from broker.common.java.dates import DateFormat
from broker.common.java.numbers import (
    decimal_text,
    double_text,
    float_text,
    parse_boolean,
    parse_decimal,
    parse_double,
    parse_float,
    parse_integer,
)
from broker.common.java.patterns import compile_pattern
from broker.config.properties import parse_properties
from broker.connect.api import ConfigError
from broker.connect.api.config import ConfigType, Password, parse_value
from broker.connect.transforms.patterns import java_regex, java_replacement
from broker.security.principal_rules import NoRuleMatches, PrincipalRules
from tests.reference.comparison import Subject
from tests.reference.notation import value_json
from tests.reference.subjects import values

_ATOMS = [
    *("a", "b", "ab", "x", "1", "-", " ", "é", "K", ".", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\h", "\\R"),
    *("[abc]", "[^a]", "[a-c]", "[a-c&&[^b]]", "[a[0-9]]", "[\\d-]", "[]a]", "[^\\s\\d]", "[a&&b]", "\\p{Alpha}"),
    *("\\p{Lu}", "\\p{L}", "\\P{Digit}", "\\p{Punct}", "\\p{IsAlphabetic}", "\\pL", "\\p{javaLowerCase}", "\\x41"),
    *("\\u0041", "\\t", "\\.", "\\\\", "\\Qa.b\\E", "^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z", "(?i)", "(?s)"),
    *("(?m)", "(?x)", "(?-i)", "\\1", "\\2", "\\k<n>", "{2}", "*", "\\y", "\\cA", "\\0101", "\\x{1F600}", "\\e", "#"),
    *("[\\p{L}&&[^\\p{Lu}]]", "[a-", "(?<=a)", "(?<!b)", "(?=b)", "(?!a)", "]", "}", "&&", "\\N{DIGIT ONE}", "\\v"),
]
_TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "A",
    "aab",
    "abc",
    "a.b",
    "1",
    "12",
    "a1",
    "a\n",
    "\n",
    "a\r\n",
    "a\nb",
    "é",
    "É",
    "K",
    "k",
]
_TEXTS += [" ", "a b", "\u2028", "\t", "xA", "aa", "aba", "-", "\U0001f600", "\u212a", "_", "ſ", "]", "\u0661", "\x85"]
_QUANTIFIERS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?", "??", "*+", "++", "{,2}", "{1,2}+"]


def _pattern(drawn: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(drawn.randrange(1, 4)):
        if depth < 2 and drawn.random() < 0.25:
            head = drawn.choice(["(", "(", "(?:", "(?<n>", "(?>", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?s-i:"])
            atom = f"{head}{_pattern(drawn, depth + 1)})"
        else:
            atom = drawn.choice(_ATOMS)
        parts.append(atom + drawn.choice(_QUANTIFIERS))
    return "|".join(filter(None, ["".join(parts), _pattern(drawn, depth + 1) if drawn.random() < 0.15 else ""]))


def _regex_case(drawn: random.Random) -> dict:
    return {"op": "regex", "pattern": _pattern(drawn), "text": "".join(drawn.choices(_TEXTS, k=drawn.randrange(1, 3)))}


def _regex(case: dict) -> dict:
    try:
        pattern = compile_pattern(case["pattern"])
    except ValueError:
        return {"refused": "configuration"}
    whole, match = pattern.fullmatch(case["text"]), pattern.search(case["text"])
    outcome = {"matches": _groups(whole), "find": _groups(match)}
    return outcome if match is None else {**outcome, "start": match.start()}


def _groups(match: re.Match | None) -> list | None:
    return None if match is None else [match.group(), *match.groups()]


def _replacement_case(drawn: random.Random) -> dict:
    return {
        "op": "regex",
        "pattern": drawn.choice(["(a)(b)?", "(?<n>.)", "a", "((a)b)", "(.*?)(-v\\d+)?", "(a|b)*"]),
        "text": drawn.choice(["ab", "a", "b", "xab", "aa-v1"]),
        "replacement": "".join(drawn.choices(["$1", "$2", "$0", "${n}", "\\$", "x", "$", "\\", "1", "$12"], k=2)),
    }


def _replaced(case: dict) -> dict:
    """What RegexRouter makes of it: the whole matches, and what is found first is replaced."""
    outcome = _regex(case)
    if outcome["find"] is None:
        return {**outcome, "replaced": case["text"]}
    try:
        pattern = java_regex("regex", case["pattern"])
        replace = java_replacement("replacement", case["replacement"], pattern)
    except ConfigError:
        return {"refused": "value"}
    start, groups = outcome["start"], outcome["find"]
    text = case["text"]
    return {**outcome, "replaced": text[:start] + replace(groups) + text[start + len(groups[0]) :]}


_LETTERS = [
    "yyyy",
    "yy",
    "y",
    "MM",
    "M",
    "MMM",
    "MMMM",
    "dd",
    "d",
    "HH",
    "H",
    "hh",
    "h",
    "K",
    "k",
    "mm",
    "ss",
    "SSS",
    "S",
]
_LETTERS += ["a", "E", "EEEE", "z", "Z", "X", "XX", "XXX", "G", "D", "DDD", "w", "ww", "W", "F", "u", "YYYY", "Y", "L"]
_SEPARATORS = ["-", "", " ", ":", "'T'", "/", "''", ".", "' o''clock '"]
_NOW_MS = 1_764_403_200_000


def _date_pattern(drawn: random.Random) -> str:
    if drawn.random() < 0.2:
        return drawn.choice(["yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "yyyyMMddHHmmss", "EEE, d MMM yyyy HH:mm:ss Z", "b", "'"])
    count = drawn.randrange(1, 6)
    return "".join(drawn.choice(_LETTERS) + drawn.choice(_SEPARATORS) for _ in range(count))


def _ms(drawn: random.Random) -> int:
    return drawn.choice(
        [drawn.randrange(-(10**14), 10**14), drawn.randrange(0, 2 * 10**12), drawn.choice(values.MOMENTS)]
    )


def _format_case(drawn: random.Random) -> dict:
    return {"op": "format_date", "pattern": _date_pattern(drawn), "ms": _ms(drawn)}


def _formatted(case: dict) -> dict:
    try:
        return {"text": DateFormat(case["pattern"], _NOW_MS).format(case["ms"])}
    except ValueError:
        return {"refused": "configuration"}


_ZONES = ["UTC", "GMT", "GMT+2", "GMT+02:00", "+0200", "-0130", "+02:00", "Z", "PST", "CEST", "pdt", "+02", "+2", "JST"]


def _parse_case(drawn: random.Random) -> dict:
    """A text that the format has written, then damaged now and then."""
    pattern = _date_pattern(drawn)
    text = _formatted({"pattern": pattern, "ms": _ms(drawn)}).get("text", "1")
    if drawn.random() < 0.4:
        text = re.sub(r"\d+", lambda match: str(int(match.group()) + drawn.choice([0, 0, 1, 30, -5])), text)
    if drawn.random() < 0.2:
        text = drawn.choice([f" {text}", text.lower(), text[:-1], f"{text}x", text.replace(" ", "  ")])
    if drawn.random() < 0.4:
        text = re.sub(r"UTC|\+0000|Z$", lambda _: drawn.choice(_ZONES), text)
    return {"op": "parse_date", "pattern": pattern, "text": text, "now": _NOW_MS}


def _parsed_date(case: dict) -> dict:
    try:
        form = DateFormat(case["pattern"], case["now"])
    except ValueError:
        return {"refused": "configuration"}
    try:
        return {"ms": form.parse(case["text"])}
    except ValueError:
        return {"refused": "value"}


def _number_text_case(drawn: random.Random) -> dict:
    bits = 64 if drawn.random() < 0.5 else 32
    number = drawn.getrandbits(bits) if drawn.random() < 0.6 else _simple_bits(drawn, bits)
    half = 1 << bits - 1
    return {"op": "double_text" if bits == 64 else "float_text", "bits": (number + half) % (2 * half) - half}


def _simple_bits(drawn: random.Random, bits: int) -> int:
    number = drawn.choice(
        [float(drawn.choice(values.FLOATS)), 10.0 ** drawn.randrange(-40, 38), drawn.randrange(10**9)]
    )
    form = ">d" if bits == 64 else ">f"
    return int.from_bytes(struct.pack(form, number if bits == 64 else max(min(number, 3e38), -3e38)), "big")


def _number_text(case: dict) -> dict:
    if case["op"] == "double_text":
        return {"text": double_text(struct.unpack(">d", struct.pack(">q", case["bits"]))[0])}
    return {"text": float_text(struct.unpack(">f", struct.pack(">i", case["bits"]))[0])}


_NUMBER_PARTS = [
    "1",
    "0",
    "9",
    "123456789",
    ".",
    "e",
    "E",
    "-",
    "+",
    "_",
    " ",
    "\t",
    "f",
    "d",
    "L",
    "NaN",
    "Infinity",
    "0x",
]
_NUMBER_PARTS += [
    "p",
    "inf",
    "nan",
    "\u0661",
    "\uff11",
    "A",
    "00",
    "1e400",
    "4.7",
    "true",
    "True",
    "\u00a0",
    "3.4028235e38",
]


def _parse_number_case(drawn: random.Random) -> dict:
    kinds = ["byte", "short", "int", "long", "double", "float", "decimal", "boolean"]
    text = (
        drawn.choice(values.TEXTS)
        if drawn.random() < 0.3
        else "".join(drawn.choices(_NUMBER_PARTS, k=drawn.randrange(1, 5)))
    )
    if drawn.random() < 0.2:
        text = repr(drawn.choice([drawn.uniform(-1e6, 1e6), drawn.uniform(0, 1e-40), 1 + drawn.random() * 1e-6]))
    return {"op": "parse_number", "kind": drawn.choice(kinds), "text": text}


_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}


def _parsed_number(case: dict) -> dict:
    kind, text = case["kind"], case["text"]
    try:
        if kind in _BITS:
            return {"number": str(parse_integer(text, _BITS[kind]))}
        match kind:
            case "double":
                return {"number": double_text(parse_double(text))}
            case "float":
                return {"number": float_text(parse_float(text))}
            case "decimal":
                return {"number": decimal_text(parse_decimal(text))}
        return {"number": "true" if parse_boolean(text) else "false"}
    except ValueError:
        return {"refused": "value"}


def _case_case(drawn: random.Random) -> dict:
    pool = ["a", "A", "ß", "İ", "ı", "Σ", "σ", "ς", "ǆ", "ŉ", "ﬁ", "É", "Ω", "K", " ", "1", "ᾳ", "\U00010400", "Ⅷ"]
    return {"op": "case", "text": "".join(drawn.choices([*pool, chr(drawn.randrange(0x20, 0x2FFF))], k=4))}


def _base64_case(drawn: random.Random) -> dict:
    return {
        "op": "base64",
        "text": "".join(
            drawn.choices(
                ["A", "b", "/", "+", "=", "==", " ", "-", "9", "\n"],
                [9, 9, 3, 3, 2, 2, 1, 1, 5, 1],
                k=drawn.randrange(7),
            )
        ),
    }


def _base64(case: dict) -> dict:
    try:
        return {"bytes": decode_base64(case["text"]).hex()}
    except ValueError:
        return {"refused": "value"}


def _config_case(drawn: random.Random) -> dict:
    kinds = ["BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST"]
    texts = [
        *values.TEXTS,
        "1_0",
        "0.5_0",
        " a , b,c",
        "a,,b",
        ",a,",
        "a,",
        "\u00a0a\u00a0",
        "yes",
        "+5",
        "0x1p3",
        "1f",
    ]
    return {"op": "config", "kind": drawn.choice(kinds), "text": drawn.choice(texts)}


def _config(case: dict) -> dict:
    try:
        value = parse_value("key", case["text"], ConfigType(case["kind"]))
    except ConfigError:
        return {"refused": "value"}
    return {"value": value_json(None, value.value if isinstance(value, Password) else value)}


def _properties_case(drawn: random.Random) -> dict:
    parts = [*("a", "b", "=", "=", ":", " ", "\t", "\f", "\n", "\n", "\r", "\r\n", "#", "!", "\\", "\\\\", "\\t")]
    parts += [
        *("\\u0041", "\\ud83d\\ude00", "\\:", "\\=", "\\ ", "é", "\u2028", "\x0b", "key", "x.y", "\\\n", "\\\r\n ")
    ]
    return {"op": "properties", "text": "".join(drawn.choices(parts, k=drawn.randrange(14)))}


def _properties(case: dict) -> dict:
    pairs = parse_properties(case["text"])
    return {"pairs": {key: value.rstrip(" \t\f") for key, value in pairs.items()}}


_RULE_PATTERNS = [
    "CN=(.*)",
    "^CN=(.*?),.*$",
    "CN=(\\w+)",
    "(.*)",
    "[a-z]*",
    "CN=(?<u>.)(.*)",
    "(a)|CN=.*",
    "\\p{L}=.*",
    "CN=(?<user>.*)",
    "CN=(",
]
_RULE_REPLACEMENTS = [
    "$1",
    "${user}",
    "${user}$1",
    "${x}",
    "$1@$2",
    "$0",
    "x",
    "",
    "$12",
    "\\$1",
    "a\\/b",
    "$",
    "$3y",
    "\\\\",
]


def _principal_case(drawn: random.Random) -> dict:
    rules = []
    for _ in range(drawn.randrange(1, 4)):
        case = drawn.choice(["", "", "L", "U", "X"] if drawn.random() < 0.1 else ["", "L", "U"])
        rule = f"RULE:{drawn.choice(_RULE_PATTERNS)}/{drawn.choice(_RULE_REPLACEMENTS)}/{case}"
        rules.append(drawn.choice([rule, rule, rule, "DEFAULT", ""]))
    name = drawn.choice(["CN=Duke", "CN=ab,OU=x", "abc", "CN=Ä,O=b", "", "CN=a/b"])
    return {"op": "principal", "text": drawn.choice([",", ", ", " "]).join(rules), "name": name}


def _principal(case: dict) -> dict:
    try:
        return {"user": PrincipalRules(case["text"]).user_of(case["name"])}
    except (ValueError, NoRuleMatches):
        return {"refused": "value"}


TEXTS = [
    Subject("regular_expressions", _regex_case, _regex, 4_000),
    Subject("replacements", _replacement_case, _replaced, 500),
    Subject("dates_written", _format_case, _formatted, 2_000),
    Subject("dates_read", _parse_case, _parsed_date, 3_000),
    Subject("number_texts", _number_text_case, _number_text, 2_000),
    Subject("numbers_read", _parse_number_case, _parsed_number, 3_000),
    Subject("case", _case_case, lambda case: {"lower": case["text"].lower(), "upper": case["text"].upper()}, 500),
    Subject("base64", _base64_case, _base64, 500),
    Subject("settings", _config_case, _config, 500),
    Subject("principal_rules", _principal_case, _principal, 2_000),
    Subject("properties", _properties_case, _properties, 3_000),
]
