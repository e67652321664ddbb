"""What a person may type about records that shall go, and the offsets that come back with the confirmation."""

import re
from collections.abc import Iterable
from typing import Any

from django import forms

from console.cluster.retention.purge import PARTITIONS_MAX, PurgeBound
from console.kit.common.clock import moment_of
from console.kit.common.partition_numbers import parse_partitions

_OFFSET_MAX = 2**63 - 1
_PLACE = re.compile(r"([0-9]{1,6}):([0-9]{1,19})")
_LABELS = {
    PurgeBound.END: "the end: everything that is there now",
    PurgeBound.TIME: "a moment",
    PurgeBound.OFFSET: "an offset",
}


class PurgeForm(forms.Form):
    to = forms.ChoiceField(label="Delete up to", choices=[(item.value, _LABELS[item]) for item in PurgeBound])
    partitions = forms.CharField(label="Partitions", required=False, max_length=1_000)
    offset = forms.IntegerField(label="First offset that stays", required=False, min_value=0, max_value=_OFFSET_MAX)
    at = forms.CharField(label="Moment", required=False, max_length=40)

    def __init__(self, partition_count: int, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._partition_count = partition_count

    def clean_partitions(self) -> frozenset[int]:
        try:
            partitions = parse_partitions(self.cleaned_data["partitions"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        if partitions and max(partitions) >= self._partition_count:
            raise forms.ValidationError(f"It has {self._partition_count} partitions, from 0 on.")
        return partitions

    def clean_at(self) -> int | None:
        text = self.cleaned_data["at"].strip()
        moment = moment_of(text)
        if text and moment is None:
            raise forms.ValidationError("A moment as 2026-11-21T06:30:00Z.")
        return max(0, round(moment.timestamp() * 1_000)) if moment else None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        upto = cleaned.get("to")
        if upto == PurgeBound.TIME and "at" in cleaned and cleaned["at"] is None:
            self.add_error("at", "Which moment?")
        if upto == PurgeBound.OFFSET and "offset" in cleaned:
            if cleaned["offset"] is None:
                self.add_error("offset", "Which offset?")
            if len(cleaned.get("partitions") or ()) != 1:
                self.add_error("partitions", "An offset is one partition's own: choose one.")
        return cleaned


def parse_places(texts: Iterable[str]) -> dict[int, int]:
    """Parse `partition:offset` each, as a plan's form sends them. Raises ValueError."""
    offsets: dict[int, int] = {}
    for text in texts:
        match = _PLACE.fullmatch(text)
        if match is None or int(match[2]) > _OFFSET_MAX or len(offsets) == PARTITIONS_MAX:
            raise ValueError("These are no offsets of partitions.")
        offsets[int(match[1])] = int(match[2])
    return offsets
