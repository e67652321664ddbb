"""High values and suspicious payments, found with what is remembered of each account.

An alert is written for a payment that is high in itself (`high.value`), the one too many in a short time
(`count.max` within `count.ms`), many times what the account usually pays (`unusual.factor`), or large right after tiny
ones (`probe.value`, a stolen card being tried out). What is remembered of an account is a few numbers; it is forgotten
when nothing was heard of it for `forget.ms`. What is no payment goes to `dead.letter.topic`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from broker.config.definition import Key, parse_int
from broker.spark.dead_letters import DEAD_LETTER_TOPIC, sift, with_dead_letters
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.fields import number_of, text_of, time_of, time_rule
from broker.spark.parameters import (
    DAY_MS,
    INPUT_TOPIC,
    OUTPUT_TOPIC,
    TIME_FIELD,
    TIME_FORMAT,
    WATERMARK_MS,
    duration_key,
    field_key,
)

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.state import GroupState

#: Before that many payments nothing is unusual.
USUAL_AFTER = 5
_ALERTS = "key STRING, value STRING"
#: As JSON: a state with an array in it does not survive Spark's Python workers.
_STATE = "history STRING"


class Payment(NamedTuple):
    """`place` is partition and offset: with the time it orders payments, and it names the payment in its alert."""

    time_ms: int
    amount: float
    place: str


@dataclass(frozen=True, slots=True)
class History:
    """What is remembered of an account: when its last payments were, how many, how much, and its last tiny one."""

    times: tuple[int, ...] = ()
    count: int = 0
    total: float = 0.0
    probed_ms: int | None = None

    @property
    def written(self) -> str:
        return json.dumps([self.times, self.count, self.total, self.probed_ms])

    @classmethod
    def read(cls, text: str) -> "History":
        times, *rest = json.loads(text)
        return cls(tuple(times), *rest)


@dataclass(frozen=True, slots=True)
class Rules:
    high_value: float
    count_max: int
    count_ms: int
    unusual_factor: float
    probe_value: float
    probe_ms: int


def judge(history: History, payment: Payment, rules: Rules) -> tuple[History, list[str]]:
    """Return the history with the payment in it, and why the payment is suspicious; no reason: it is not. Pure."""
    recent = [time for time in history.times if 0 <= payment.time_ms - time < rules.count_ms]
    reasons = []
    if payment.amount >= rules.high_value:
        reasons.append("high value")
    if len(recent) >= rules.count_max:
        reasons.append("too many")
    if history.count >= USUAL_AFTER and payment.amount >= rules.unusual_factor * history.total / history.count > 0:
        reasons.append("unusual")
    is_probe = payment.amount <= rules.probe_value
    probed = history.probed_ms is not None and 0 <= payment.time_ms - history.probed_ms <= rules.probe_ms
    if probed and not is_probe and payment.amount >= rules.unusual_factor * rules.probe_value:
        reasons.append("large after tiny")
    return (
        History(
            _newest(history.times, payment.time_ms, rules),
            history.count + 1,
            history.total + payment.amount,
            payment.time_ms if is_probe else history.probed_ms,
        ),
        reasons,
    )


def _newest(times: tuple[int, ...], time_ms: int, rules: Rules) -> tuple[int, ...]:
    """Return the newest times in order: a payment may arrive after one that was made later."""
    ordered = sorted((*times, time_ms))
    return tuple(time for time in ordered if ordered[-1] - time < rules.count_ms)[-rules.count_max :]


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    account, amount = text_of(settings["account.field"]), number_of(settings["amount.field"])
    rules = {
        f"{settings['account.field'].source} is present": account.isNotNull(),
        f"{settings['amount.field'].source} is number": amount.isNotNull(),
        **time_rule(settings["time.field"], settings),
    }
    sifted = sift(inputs, settings["input.topic"], rules, settings)
    payments = sifted.sound.select(
        account.alias("account"),
        amount.alias("amount"),
        time_of(settings["time.field"], settings).alias("time"),
        f.concat_ws("-", "topic", "partition", "offset").alias("place"),
    )
    alerts = (
        payments.withColumn("time_ms", f.unix_millis("time"))
        .withWatermark("time", f"{settings['watermark.ms']} milliseconds")
        .groupBy("account")
        .applyInPandasWithState(_judge_account(settings), _ALERTS, _STATE, "append", "EventTimeTimeout")
    )
    return with_dead_letters(alerts, settings, sifted)


def _judge_account(
    settings: Settings,
) -> "Callable[[tuple[str], Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]":
    rules = Rules(
        high_value=settings["high.value"],
        count_max=settings["count.max"],
        count_ms=settings["count.ms"],
        unusual_factor=settings["unusual.factor"],
        probe_value=settings["probe.value"],
        probe_ms=settings["probe.ms"],
    )
    forget_ms = settings["forget.ms"]

    def judge_account(
        key: tuple[str], frames: "Iterator[pd.DataFrame]", state: "GroupState"
    ) -> "Iterator[pd.DataFrame]":
        import pandas as pd

        if state.hasTimedOut:
            state.remove()
            return
        history = History.read(state.get[0]) if state.exists else History()
        alerts = []
        for payment in sorted(_payments(frames)):
            history, reasons = judge(history, payment, rules)
            if reasons:
                alerts.append(_alert(key[0], payment, reasons))
        state.update((history.written,))
        newest_ms = max(history.times, default=0)
        state.setTimeoutTimestamp(max(newest_ms + forget_ms, state.getCurrentWatermarkMs() + 1))
        yield pd.DataFrame({"key": [key[0]] * len(alerts), "value": alerts}, dtype=object)

    return judge_account


def _payments(frames: "Iterator[pd.DataFrame]") -> Iterator[Payment]:
    for frame in frames:
        for value in frame.itertuples(index=False):
            yield Payment(int(value.time_ms), float(value.amount), value.place)


def _alert(account: str, payment: Payment, reasons: list[str]) -> str:
    return json.dumps(
        {
            "account": account,
            "amount": payment.amount,
            "time_ms": payment.time_ms,
            "reasons": reasons,
            "record": payment.place,
        }
    )


JOB = Job(
    name="fraud_detection",
    meaning="Alerts for high values and suspicious payments, from what is remembered of each account.",
    keys=(
        INPUT_TOPIC,
        OUTPUT_TOPIC,
        field_key("account.field", "$.account", "Who pays."),
        field_key("amount.field", "$.amount", "How much."),
        Key("high.value", float, 10_000.0, "A payment of at least this amount is always reported.", at_least=0),
        Key(
            "count.max",
            parse_int,
            5,
            "Number of payments within count.ms that is still usual.",
            at_least=1,
            at_most=1_000,
        ),
        duration_key(
            "count.ms", 60_000, "Length of the window in which an account's payments are counted.", at_least=1
        ),
        Key(
            "unusual.factor", float, 10.0, "Multiple of the account's mean from which a payment is unusual.", at_least=1
        ),
        Key("probe.value", float, 2.0, "A payment up to this is tiny.", at_least=0),
        duration_key("probe.ms", 600_000, "How long after a tiny payment a large one is reported."),
        duration_key(
            "forget.ms", 30 * DAY_MS, "Time without payments after which an account is forgotten.", at_least=1_000
        ),
        TIME_FIELD,
        TIME_FORMAT,
        WATERMARK_MS,
        DEAD_LETTER_TOPIC,
    ),
    build=build,
    writes=("output.topic", "dead.letter.topic"),
)
