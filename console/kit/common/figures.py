"""Numbers and moments as an operator reads them."""

from datetime import UTC, datetime, timedelta
from typing import Protocol

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.kit.common.clock import now_ms, utc
from console.kit.common.time_range import iso_of
from console.kit.common.zones import current_zone

register = template.Library()

#: What stands where nothing is known.
UNKNOWN = "–"
NARROW_NO_BREAK_SPACE = "\u202f"


@register.filter
def grouped(value: int | None) -> str:
    """Format 1234567 as 1 234 567, with narrow no-break spaces."""
    return UNKNOWN if value is None else f"{value:,}".replace(",", NARROW_NO_BREAK_SPACE)


@register.filter
def rate(value: float | None) -> str:
    """Format records per second: whole numbers from ten on, one decimal below, so that a trickle is seen."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    return grouped(round(value)) if value >= 10 else f"{value:.1f}"


@register.filter
def size(count: int | None) -> str:
    """Format bytes in the largest unit that leaves a whole part, three figures: 0 B, 999 B, 1.23 KB, 45.6 MB."""
    if count is None:
        return UNKNOWN
    value, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB", "PB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    figures = f"{count}" if unit == "B" else f"{value:.3g}" if value < 999.5 else f"{value:.0f}"
    return f"{figures}{NARROW_NO_BREAK_SPACE}{unit}"


@register.filter
def byte_size(per_second: float | None) -> str:
    """Format bytes per second, as `size`."""
    return size(None if per_second is None else round(per_second))


@register.filter
def milliseconds(value: float | None) -> str:
    """Format a short time in its own unit, two figures and more: 340 µs, 1.2 ms, 45 ms, 1.3 s."""
    if value is None:
        return UNKNOWN
    for limit, factor, unit in ((1, 1_000, "µs"), (1_000, 1, "ms")):
        if value < limit:
            return f"{_short(value * factor)}{NARROW_NO_BREAK_SPACE}{unit}"
    return f"{_short(value / 1_000)}{NARROW_NO_BREAK_SPACE}s"


def _short(value: float) -> str:
    return f"{value:.1f}" if 0 < value < 10 else f"{value:.0f}"


@register.filter
def share(value: float | None) -> str:
    """Format a ratio of 0 to 1 as percent, 100 % only if nothing failed; 99.98 %, 97.1 %."""
    if value is None:
        return UNKNOWN
    percent = 100 * value
    text = "100" if value >= 1 else f"{min(percent, 99.99):.2f}" if percent >= 99 else f"{percent:.1f}"
    return f"{text}{NARROW_NO_BREAK_SPACE}%"


#: What Java writes for the largest number, which stands for no limit.
_LARGEST = (2**63 - 1, 2**31 - 1)


@register.filter
def signed_size(count: int | None) -> str:
    """Format bytes that come or go: +1.2 MB, −3 KB, 0 B."""
    if count is None:
        return UNKNOWN
    return f"{'+' if count > 0 else '−' if count < 0 else ''}{size(abs(count))}"


class LimitSetting(Protocol):
    """A setting of a topic or a broker: its name and its value, None while the value is unset or a secret."""

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str | None: ...


@register.filter
def limit_text(setting: LimitSetting) -> str:
    """Return `(7 d)` for 604800000 of a setting in ms, `(1.5 GB)` for one in bytes, `(no limit)` for the largest number
    and a retention of -1; nothing for other settings.
    """
    text = setting.value or ""
    if not text.removeprefix("-").isdecimal():
        return ""
    number = int(text)
    if number in _LARGEST or (number == -1 and "retention" in setting.name):
        return "(no limit)"
    if setting.name.endswith("bytes"):
        return f"({size(number)})" if number >= 1_000 else ""
    if not setting.name.endswith(".ms"):
        return ""
    for unit_ms, unit in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")):
        if number >= unit_ms:
            return f"({number / unit_ms:.3g} {unit})"
    return ""


@register.filter
def duration(value_ms: int | None) -> str:
    """Format a span of time in its two largest units: 800 ms, 12 s, 4 min 10 s, 2 h 5 min, 3 d 4 h."""
    if value_ms is None:
        return UNKNOWN
    if value_ms < 1_000:
        return f"{value_ms}{NARROW_NO_BREAK_SPACE}ms" if value_ms else "0"
    seconds = value_ms // 1_000
    for size_s, unit, rest_s, rest_unit in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if seconds >= size_s:
            rest = seconds % size_s // rest_s
            more = f" {rest}{NARROW_NO_BREAK_SPACE}{rest_unit}" if rest and seconds < 100 * size_s else ""
            return f"{seconds // size_s}{NARROW_NO_BREAK_SPACE}{unit}{more}"
    return f"{seconds}{NARROW_NO_BREAK_SPACE}s"


@register.filter
def age(at_ms: int) -> str:
    """Return how old data of `at_ms` is now; the page's script keeps counting."""
    return f"{max(0, (now_ms() - at_ms) // 1000)} s old" if at_ms else "no data yet"


@register.filter
def moment(at: int | datetime | None) -> SafeString | str:
    """Format an instant to the second, in the zone of the page. Takes ms since the epoch or a datetime; 0 is
    unknown.
    """
    return _element(at, "s") if at else UNKNOWN


@register.filter
def moment_ms(at_ms: int | None) -> SafeString | str:
    """Format as `moment`, with milliseconds, to tell apart records of one second. 0 is a valid time."""
    return UNKNOWN if at_ms is None else _element(at_ms, "ms")


@register.filter
def moment_minute(at: int | datetime | None) -> SafeString | str:
    """Format as `moment`, to the minute."""
    return _element(at, "min") if at else UNKNOWN


@register.filter
def short_moment(at_ms: int) -> SafeString | str:
    """Format as `moment`, for a narrow column: the time of day, or the day if it is not today."""
    return _element(at_ms, "short") if at_ms else UNKNOWN


_PRECISIONS = {"s": "seconds", "ms": "milliseconds", "min": "minutes"}


def _element(at: int | datetime, form: str) -> SafeString | str:
    """Return an element whose text `static/js/times.js` rewrites for a page in another zone."""
    when = at if isinstance(at, datetime) else utc(at)
    if when is None:
        return _beyond(at)
    minutes = _offset_minutes(when)
    here = _shifted(when, minutes)
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}" if minutes else "UTC"
    if form == "short":
        is_today = here.date() == _shifted(datetime.fromtimestamp(now_ms() / 1_000, UTC), minutes).date()
        text = f"{here:%H:%M:%S} {zone}" if is_today else f"{here.date()}"
    else:
        text = f"{here.isoformat(' ', _PRECISIONS[form])} {zone}"
    return format_html('<time datetime="{}" data-form="{}">{}</time>', iso_of(when), form, text)


def _offset_minutes(when: datetime) -> int:
    """Return the UTC offset of the page's zone then, without the seconds that some had until 1972."""
    try:
        offset = when.astimezone(current_zone()).utcoffset() or timedelta()
    except OverflowError:
        return 0  # the first or last day of the calendar, which ends in another zone
    return int(offset.total_seconds() / 60)


def _shifted(when: datetime, minutes: int) -> datetime:
    """Return what a clock that is `minutes` ahead of UTC shows, without a zone."""
    return when.astimezone(UTC).replace(tzinfo=None) + timedelta(minutes=minutes)


register.filter("iso", iso_of)


def _beyond(at_ms: int | datetime) -> str:
    return f"{at_ms} ms since 1970"


@register.filter
def minute(at: datetime) -> str:
    """Format as `moment`, to the minute and without an HTML element."""
    return f"{at:%Y-%m-%d %H:%M UTC}"


@register.filter
def day(at_ms: int) -> str:
    """Return the day, in UTC."""
    return _written(at_ms, "%Y-%m-%d")


def _written(at_ms: int, form: str) -> str:
    when = utc(at_ms)
    return _beyond(at_ms) if when is None else when.strftime(form)


@register.filter
def hour(at_ms: int) -> str:
    """Return the hour that begins at `at_ms`, in UTC."""
    return _written(at_ms, "%Y-%m-%d %H:%M UTC")


@register.filter
def utc_time(at_ms: int) -> str:
    """Return hour and minute in UTC, as `14:05 UTC`, for a sentence that is drawn in no zone of a reader."""
    return _written(at_ms, "%H:%M UTC")


@register.filter
def utc_minute(at_ms: int) -> str:
    """Format as `utc_time`, with the day."""
    return _written(at_ms, "%Y-%m-%d %H:%M UTC")


@register.filter
def facts(values: dict[str, object]) -> str:
    """Format a small dictionary on one line: `partition_count 3, replication_factor 1`."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


#: Values that a row shows at once; what has more of them, or longer ones, is folded.
FACTS_SHOWN = 6
FACTS_LENGTH_SHOWN = 300


@register.filter
def is_long(values: dict[str, object]) -> bool:
    """Return True if `facts` would fill more of a row than a person reads in passing."""
    return len(values) > FACTS_SHOWN or len(facts(values)) > FACTS_LENGTH_SHOWN


@register.filter
def first_fact(values: dict[str, object]) -> str:
    """Return the first of `facts`, cut to a line."""
    text = facts(dict(list(values.items())[:1]))
    return text if len(text) <= FACTS_LENGTH_SHOWN // 3 else f"{text[: FACTS_LENGTH_SHOWN // 3]}…"
