"""What a person may type about a reset."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django import forms

from console.kit.common.clock import now_ms, utc
from console.kit.common.partition_numbers import parse_partitions
from console.kit.common.time_range import iso_of, read_moment
from console.state.consumers.reset import Aim, ResetKind

_LABELS = {
    ResetKind.EARLIEST: "the oldest record",
    ResetKind.LATEST: "the log's end",
    ResetKind.TIME: "a moment",
    ResetKind.OFFSET: "an offset",
    ResetKind.SHIFT: "a shift by records",
    ResetKind.GROUP: "where another group is",
}
_OFFSET_MAX = 2**63 - 1


class ResetForm(forms.Form):
    """`aim()` is what was asked for. `is_topic` knows the topics the person may choose."""

    to = forms.ChoiceField(label="Put offsets to", choices=[(kind.value, _LABELS[kind]) for kind in ResetKind])
    topic = forms.CharField(label="Topic", required=False, max_length=249)
    partitions = forms.CharField(label="Partitions", required=False, max_length=1_000)
    value = forms.IntegerField(label="Offset or shift", required=False, min_value=-_OFFSET_MAX, max_value=_OFFSET_MAX)
    at = forms.CharField(label="Moment", required=False, max_length=40)
    like = forms.CharField(label="Other group", required=False, max_length=249)

    def __init__(self, is_topic: Callable[[str], bool], *args: Any, **named: Any):
        super().__init__(*args, **named)
        self._is_topic = is_topic
        self.fields["topic"].widget.attrs.update(list="reset-topics", autocomplete="off", spellcheck="false")

    def clean_topic(self) -> str:
        topic = self.cleaned_data["topic"].strip()
        if topic and not self._is_topic(topic):
            raise forms.ValidationError("There is no such topic that you may see.")
        return topic

    def clean_partitions(self) -> frozenset[int]:
        try:
            return parse_partitions(self.cleaned_data["partitions"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    @property
    def at_shown(self) -> str:
        """Return the moment as its field shows it: `now-10m` as the time that it was."""
        at_ms = self.cleaned_data.get("at") if self.is_bound and self.is_valid() else None
        return iso_of(utc(at_ms)) if at_ms is not None else str(self["at"].value() or "")

    def clean_at(self) -> int | None:
        text = self.cleaned_data["at"].strip()
        if not text:
            return None
        try:
            moment = read_moment(text, now_ms()) or datetime.fromisoformat(text)
            aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(0, round(aware.timestamp() * 1_000))
        except (ValueError, OverflowError):
            raise forms.ValidationError("Write the moment as 2026-11-21T06:30:00Z, or as now-10m.") from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        kind = cleaned.get("to")
        if kind == ResetKind.TIME and "at" in cleaned and cleaned["at"] is None:
            self.add_error("at", "Which moment?")
        if kind == ResetKind.GROUP and not (cleaned.get("like") or "").strip():
            self.add_error("like", "Which group?")
        if kind in (ResetKind.OFFSET, ResetKind.SHIFT) and "value" in cleaned and cleaned["value"] is None:
            self.add_error("value", "Which offset?" if kind == ResetKind.OFFSET else "By how many records?")
        if kind == ResetKind.OFFSET and (cleaned.get("value") or 0) < 0:
            self.add_error("value", "An offset is not below zero; to go back by some records choose a shift.")
        if cleaned.get("partitions") and not cleaned.get("topic"):
            self.add_error("partitions", "Choose the topic whose partitions these are.")
        return cleaned

    def aim(self) -> Aim:
        cleaned = self.cleaned_data
        return Aim(
            ResetKind(cleaned["to"]),
            cleaned["topic"],
            cleaned["partitions"],
            cleaned.get("value") or 0,
            cleaned.get("at") or 0,
            cleaned["like"].strip(),
        )
