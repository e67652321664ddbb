"""Sound records pass on as they are; unsound ones go to a dead-letter topic, with the reason and where they came from.

A rule is `FIELD is present`, `FIELD is number`, `FIELD >= 0` (also <, <=, >, =, !=), `FIELD in a b c` or `FIELD matches
REGEX`; rules are divided by semicolons. `value is json` is the rule that the whole value is JSON. A field that is not
said breaks every rule about it but `is json`. A rule is never code: it compares, nothing else.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from broker.config.definition import REQUIRED, Key, accepting
from broker.spark.dead_letters import BROKEN, HEADERS, judge, observe, why_dead
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.fields import SparkField, parse_field, text_of
from broker.spark.parameters import INPUT_TOPIC, OUTPUT_TOPIC, topic_key

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RULES_MAX = 50
RULE_LENGTH_MAX = 300
_RULE = re.compile(r"(\S+)\s+(is|in|matches|>=|<=|!=|>|<|=)\s+(\S.*)")


class QualityRule(NamedTuple):
    """`operand` is a number for <, <=, >, >=; a text for all others."""

    field: SparkField
    operator: str
    operand: str
    text: str

    def __str__(self) -> str:
        return self.text


@accepting("rules divided by semicolons (as $.amount >= 0; $.account is present; $.kind in a b)")
def parse_rules(text: str) -> tuple[QualityRule, ...]:
    rules = tuple(_parse_rule(part.strip()) for part in text.split(";") if part.strip())
    if not 0 < len(rules) <= RULES_MAX:
        raise ValueError(text)
    return rules


def _parse_rule(text: str) -> QualityRule:
    match = _RULE.fullmatch(text)
    if match is None or len(text) > RULE_LENGTH_MAX:
        raise ValueError(text)
    rule = QualityRule(parse_field(match[1]), match[2], match[3].strip(), text)
    if rule.operator == "is" and rule.operand not in ("present", "number", "json"):
        raise ValueError(text)
    if rule.operator in (">", ">=", "<", "<="):
        float(rule.operand)
    if rule.operator == "matches":
        try:
            re.compile(rule.operand)
        except re.error:
            raise ValueError(text) from None
    return rule


def holds(rule: QualityRule) -> "Column":
    """Return True, false or, if the field is missing, null."""
    from pyspark.sql import functions as f

    text = text_of(rule.field)
    number = text.try_cast("double")
    match rule.operator, rule.operand:
        case "is", "present":
            return text.isNotNull()
        case "is", "number":
            return number.isNotNull()
        case "is", "json":
            return f.try_parse_json(text).isNotNull()
        case "in", words:
            return text.isin(words.split())
        case "matches", pattern:
            return text.rlike(pattern)
        case "=", wanted:
            return text == wanted
        case "!=", wanted:
            return text != wanted
    bound = float(rule.operand)
    comparisons = {">": number > bound, ">=": number >= bound, "<": number < bound, "<=": number <= bound}
    return comparisons[rule.operator]


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    rules = {rule.text: holds(rule) for rule in settings["rules"]}
    records = observe(judge(inputs.topic(settings["input.topic"], headers=True), rules))
    is_dead = f.size(BROKEN) > 0
    its_own = f.coalesce("headers", f.array().cast(HEADERS))
    return records.select(
        "key",
        "value",
        f.when(is_dead, settings["dead.letter.topic"]).otherwise(settings["output.topic"]).alias("topic"),
        f.when(is_dead, f.concat(its_own, why_dead())).otherwise(f.col("headers")).alias("headers"),
    )


JOB = Job(
    name="quality_filter",
    meaning="Passes sound records on; unsound ones go to a dead-letter topic with the reason.",
    keys=(
        INPUT_TOPIC,
        OUTPUT_TOPIC,
        topic_key("dead.letter.topic", "Where unsound records go."),
        Key("rules", parse_rules, REQUIRED, "What a sound record says, as $.amount >= 0; $.account is present."),
    ),
    build=build,
    writes=("output.topic", "dead.letter.topic"),
)
