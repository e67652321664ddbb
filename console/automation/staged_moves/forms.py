"""What a person may type about a move in batches: how many at once, when, and a throttle."""

from datetime import datetime

from django import forms

from console.cluster.placement.forms import ThrottleForm
from console.cluster.placement.move import PARTITIONS_MAX
from console.kit.common.clock import moment_of

SIZE_WISE = 20


class StageForm(ThrottleForm):
    size = forms.IntegerField(label="Partitions at once", required=False, min_value=1, max_value=PARTITIONS_MAX)
    begins = forms.CharField(label="Begins at", required=False, max_length=40)

    def clean_size(self) -> int:
        return self.cleaned_data["size"] or SIZE_WISE

    def clean_begins(self) -> datetime | None:
        """Return the begin, to the minute; None: at once."""
        typed = self.cleaned_data["begins"].strip()
        if not typed:
            return None
        moment = moment_of(typed)
        if moment is None:
            raise forms.ValidationError("A day and a time, as 2026-05-01T22:00Z.")
        return moment.replace(second=0, microsecond=0)
