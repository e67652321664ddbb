"""What a person may type about a move: replicas of each partition, and a throttle."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms

from console.cluster.placement.goals import GOAL_WORDS
from console.cluster.placement.optimise import Goal
from console.cluster.placement.propose import CHANGES_MAX
from console.cluster.placement.sentences import ids
from console.cluster.placement.what_if import ADDED_MAX, Scenario
from console.state.clusters.models import Partition

_REPLICAS = re.compile(r"\d{1,9}(?:[ ,]+\d{1,9})*")
_MEGABYTE = 1_000_000
#: Partitions of one plan that somebody can still look through.
CHANGES_WISE = 200


class ThrottleForm(forms.Form):
    throttle = forms.DecimalField(
        label="Throttle, MB/s on each broker",
        required=False,
        min_value=Decimal("0.001"),
        max_value=1_000_000,
        decimal_places=3,
        widget=forms.NumberInput(attrs={"step": "any", "placeholder": "none"}),
    )

    @property
    def rate(self) -> int | None:
        """Bytes per second; None: no throttle."""
        typed = self.cleaned_data.get("throttle")
        return None if typed is None else int(typed * _MEGABYTE)


class GoalsForm(forms.Form):
    goal = forms.MultipleChoiceField(
        label="Alike in",
        choices=[(str(goal), words) for goal, words in GOAL_WORDS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    changes = forms.IntegerField(
        label="At most",
        required=False,
        min_value=1,
        max_value=CHANGES_MAX,
        widget=forms.NumberInput(attrs={"placeholder": CHANGES_WISE}),
    )

    @property
    def goals(self) -> list[Goal]:
        return [Goal(item) for item in self.cleaned_data["goal"]]


class WhatIfForm(forms.Form):
    added = forms.IntegerField(label="Brokers added", required=False, min_value=0, max_value=ADDED_MAX)
    traffic = forms.FloatField(label="Traffic, times", required=False, min_value=0.1, max_value=100)
    kept = forms.FloatField(label="Kept on disk, times", required=False, min_value=0.1, max_value=100)
    throttle = forms.FloatField(label="Throttle, MB/s", required=False, min_value=0.1, max_value=100_000)

    def __init__(self, racks: Mapping[int, str], *args: Any, **named: Any):
        super().__init__(*args, **named)
        self._racks = racks
        brokers = [(str(rack), f"broker {rack}") for rack in sorted(racks)]
        self.fields["lost"] = forms.MultipleChoiceField(
            label="Brokers lost", choices=brokers, required=False, widget=forms.CheckboxSelectMultiple
        )
        rack_names = sorted({rack for rack in racks.values() if rack})
        self.fields["rack"] = forms.ChoiceField(
            label="Rack lost", choices=[("", "none"), *((name, name) for name in rack_names)], required=False
        )

    @property
    def scenario(self) -> Scenario:
        fields = self.cleaned_data
        on_rack = {item for item, rack in self._racks.items() if fields["rack"] and rack == fields["rack"]}
        lost = frozenset({*map(int, fields["lost"])} | on_rack)
        return Scenario(lost, fields["added"] or 0, fields["traffic"] or 1.0, fields["kept"] or 1.0)


class MoveForm(ThrottleForm):
    """One text of brokers for each partition that is offered, filled in with those it has."""

    def __init__(self, partitions: list[Partition], *args: Any, **named: Any):
        super().__init__(*args, **named)
        self.partitions = partitions
        for partition in partitions:
            self.fields[_field_of(partition.partition)] = forms.CharField(
                label=f"Replicas of partition {partition.partition}", initial=ids(partition.replicas), max_length=200
            )

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        for partition in self.partitions:
            text = cleaned.get(_field_of(partition.partition), "").strip(" ,")
            if text and not _REPLICAS.fullmatch(text):
                self.add_error(_field_of(partition.partition), "Numbers of brokers, with commas between them.")
        return cleaned

    @property
    def targets(self) -> dict[tuple[str, int], tuple[int, ...]]:
        return {
            (partition.topic.name, partition.partition): tuple(
                map(int, re.findall(r"\d+", self.cleaned_data[_field_of(partition.partition)]))
            )
            for partition in self.partitions
        }

    @property
    def rows(self) -> list[tuple[Partition, forms.BoundField]]:
        return [(partition, self[_field_of(partition.partition)]) for partition in self.partitions]


def _field_of(partition: int) -> str:
    return f"replicas-{partition}"
