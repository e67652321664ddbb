"""Java's GregorianCalendar in UTC, lenient: Julian before 15 October 1582, weeks begin on Sunday. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

DAY_MS = 86_400_000
#: Day of 1970 on which the Gregorian calendar begins.
_CUTOVER = -141_427
_CUTOVER_YEAR = 1582
_SUNDAY = 1
#: What a parsed text has set: the stamp, which is higher the later it was set, and the value.
Fields = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class CalendarFields:
    """`year` is that of the era, `month` begins with 0, `day_of_week` with 1 for Sunday."""

    is_ad: bool
    year: int
    month: int
    day: int
    day_of_year: int
    day_of_week: int
    week_year: int
    week_of_year: int
    week_of_month: int
    day_of_week_in_month: int
    ms_of_day: int


def gregorian_day(year: int, month: int, day: int = 1) -> int:
    """Return the days since 1970-01-01 of a date of the Gregorian calendar; the month begins with 0."""
    year, month = year + month // 12, month % 12
    shifted = year - (month < 2)
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * ((month + 10) % 12) + 2) // 5
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year + day - 719_469


def julian_day(year: int, month: int, day: int = 1) -> int:
    """Return the days since 1970-01-01 of a date of the Julian calendar; the month begins with 0."""
    year, month = year + month // 12, month % 12
    shifted = year - (month < 2)
    day_of_year = (153 * ((month + 10) % 12) + 2) // 5
    return shifted * 365 + shifted // 4 + day_of_year + day - 719_471


def calendar_fields(ms: int) -> CalendarFields:
    """Return what Calendar.get tells of a moment in milliseconds since 1970."""
    day, ms_of_day = divmod(ms, DAY_MS)
    is_gregorian = day >= _CUTOVER
    first_of = gregorian_day if is_gregorian else julian_day
    year = 1970 + day * 400 // 146_097 if is_gregorian else 1970 + (day + 13) * 4 // 1_461
    while first_of(year + 1, 0) <= day:
        year += 1
    while first_of(year, 0) > day:
        year -= 1
    month = next(month for month in range(11, -1, -1) if first_of(year, month) <= day)
    first_of_year = _first_of_year(year)
    week_year, week = _week(year, day)
    first_of_month = first_of(year, month)
    day_of_month = day - first_of_month + 1
    return CalendarFields(
        is_ad=year > 0,
        year=year if year > 0 else 1 - year,
        month=month,
        day=day_of_month,
        day_of_year=day - first_of_year + 1,
        day_of_week=_day_of_week(day),
        week_year=week_year,
        week_of_year=week,
        week_of_month=(day - _sunday_until(first_of_month)) // 7 + 1,
        day_of_week_in_month=(day_of_month - 1) // 7 + 1,
        ms_of_day=ms_of_day,
    )


def moment(fields: Fields, offset_ms: int | None = None) -> int:
    """Return the milliseconds since 1970 of what was set (Calendar.computeTime, lenient). Raises ValueError.

    `offset_ms` is that of a zone by its name; `zone_offset` and `dst_offset` among the fields count before it.
    """
    values = {name: value for name, (_, value) in fields.items()}
    if (week := _week_date(fields)) is not None:
        values, used = {**values, **week}, {"month", "day"}
    else:
        used = _date_fields_used(fields)
    year = values.get("year", 1970)
    if not values.get("era", 1):
        year = 1 - year
    elif values.get("era", 1) != 1:
        raise ValueError("Invalid era")
    day, ms_of_day = divmod(_ms_of_day(fields, values), DAY_MS)
    offset = values.get("zone_offset", offset_ms or 0) + values.get("dst_offset", 0)
    ms = (day + _day(year, values, used, day)) * DAY_MS + ms_of_day - offset
    return (ms + (1 << 63)) % (1 << 64) - (1 << 63)


def _ms_of_day(fields: Fields, values: Mapping[str, int]) -> int:
    def stamp(name: str) -> int:
        return fields[name][0] if name in fields else 0

    twelve = max(stamp("hour"), stamp("am_pm")) if stamp("hour") and stamp("am_pm") else 0
    latest = max(twelve, stamp("hour_of_day")) or max(stamp("hour"), stamp("am_pm"))
    if latest and latest == stamp("hour_of_day"):
        hours = values["hour_of_day"]
    else:
        hours = values.get("hour", 0) + 12 * values.get("am_pm", 0) if latest else 0
    seconds = (hours * 60 + values.get("minute", 0)) * 60 + values.get("second", 0)
    return seconds * 1000 + values.get("millisecond", 0)


def _date_fields_used(fields: Fields) -> set[str]:
    """Return which fields determine the day: the group that was completed last (Calendar.selectFields)."""

    def stamp(name: str) -> int:
        return fields[name][0] if name in fields else 0

    def both(name: str) -> int:
        return max(stamp(name), weekday) if stamp(name) and weekday else 0

    weekday, month_week, month_day, year_week = stamp("day_of_week"), "week_of_month", "day_of_week_in_month", "week"
    day, of_year = stamp("day"), stamp("day_of_year")
    in_month, of_month, in_year = both(month_week), both(month_day), both(year_week)
    best = max(day, in_month, of_month, of_year, in_year)
    if not best:
        in_month, of_month, in_year = stamp(month_week), max(stamp(month_day), weekday), stamp(year_week)
        best = max(in_month, of_month, in_year)
        if not best:
            best = day = stamp("month")
    used = {"day_of_week"} if weekday else set()
    if best == day:
        return {"month", "day"}
    if best == in_month and stamp(month_week) >= stamp(year_week):
        is_week = in_month != of_month or stamp(month_week) >= stamp(month_day)
        return used | {"month", month_week if is_week else month_day}
    if best == of_month and stamp(month_day) >= stamp(year_week):
        return used | {"month"} | ({month_day} if stamp(month_day) else set())
    return {"day_of_year"} if best == of_year else used | {year_week}


def _week_date(fields: Fields) -> dict[str, int] | None:
    """Return year, month and day of a week year (CalendarBuilder.establish), None where none was set after the year."""
    if "week_year" not in fields or fields["week_year"][0] <= fields.get("year", (0, 0))[0]:
        return None
    week = fields["week"][1] if "week" in fields else 1
    weekday = fields["day_of_week"][1] if "day_of_week" in fields else _SUNDAY
    if weekday >= 8:
        weekday -= 1
        week, weekday = week + weekday // 7, weekday % 7 + 1
        weekday = weekday % 7 + 1
    elif weekday <= 0:
        week, weekday = week + (weekday - 1) // 7, (weekday - 1) % 7 + 1
        weekday = weekday % 7 + 1
    year = fields["week_year"][1]
    start = _sunday_until(_first_of_year(year))
    day_fields = calendar_fields((start + weekday - _SUNDAY + 7 * (week - 1)) * DAY_MS)
    return {"era": int(day_fields.is_ad), "year": day_fields.year, "month": day_fields.month, "day": day_fields.day}


def _day(year: int, values: Mapping[str, int], used: set[str], extra: int) -> int:
    """Return the day of the calendar in which it lies; `extra` days come from hours beyond 24."""
    julian = _day_in(julian_day, year, values, used)
    if year < _CUTOVER_YEAR and julian + extra < _CUTOVER:
        return julian
    gregorian = _day_in(gregorian_day, year, values, used)
    if year > _CUTOVER_YEAR and gregorian + extra >= _CUTOVER:
        return gregorian
    if year < _CUTOVER_YEAR or used & {"day_of_year", "week"}:
        return julian
    return gregorian if gregorian + extra >= _CUTOVER and julian + extra >= _CUTOVER else julian


def _day_in(first_of: Callable[[int, int], int], year: int, values: Mapping[str, int], used: set[str]) -> int:
    weekday = values["day_of_week"] if "day_of_week" in used else _SUNDAY
    if "month" not in used:
        first = first_of(year, 0)
        if "day_of_year" in used:
            return first + values["day_of_year"] - 1
        start = _sunday_until(first)
        if weekday != _SUNDAY:
            start = _weekday_until(start + 6, weekday)
        return start + 7 * (values.get("week", 0) - 1)
    first = first_of(year, values.get("month", 0))
    if "day" in used:
        return first + values["day"] - 1 if "day" in values else first
    if "week_of_month" in used:
        start = _sunday_until(first)
        if "day_of_week" in used:
            start = _weekday_until(start + 6, weekday)
        return start + 7 * (values["week_of_month"] - 1)
    number = values["day_of_week_in_month"] if "day_of_week_in_month" in used else 1
    if number >= 0:
        return _weekday_until(first + 7 * number - 1, weekday)
    length = first_of(year, values.get("month", 0) + 1) - first
    return _weekday_until(first + length + 7 * (number + 1) - 1, weekday)


def _first_of_year(year: int) -> int:
    return gregorian_day(year, 0) if year > _CUTOVER_YEAR else julian_day(year, 0)


def _week(year: int, day: int) -> tuple[int, int]:
    """Return week year and week: the first week is that of 1 January."""
    following = _sunday_until(_first_of_year(year + 1))
    if day >= following:
        return year + 1, 1
    return year, (day - _sunday_until(_first_of_year(year))) // 7 + 1


def _day_of_week(day: int) -> int:
    return (day + 4) % 7 + 1


def _weekday_until(day: int, weekday: int) -> int:
    """Return the last day with that weekday that is not after `day`."""
    return day - (_day_of_week(day) - weekday) % 7


def _sunday_until(day: int) -> int:
    return _weekday_until(day, _SUNDAY)
