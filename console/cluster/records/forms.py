"""What a person may type to produce a record."""

import json
from typing import Any

from django import forms
from django.db.models import QuerySet

from console.cluster.records.by_schema import encode_for
from console.kit.common.current_cluster import here
from console.kit.common.form_choices import set_choices
from console.kit.gateway.interface import PARTITIONS_PER_TOPIC_MAX
from console.state.clusters.models import Topic

#: The console's own limit for a key or value; a topic's max.message.bytes may be lower, and the broker says so.
RECORD_BYTES_MAX = 1_000_000
HEADERS_MAX = 100
#: Which of key and value are encoded by a schema.
_BY_SCHEMA = {"schema": ("value",), "schemas": ("key", "value")}
_WRITTEN_AS = [("text", "text"), ("json", "text, the value checked as JSON"), ("hex", "hex")]
#: Where there is a registry.
_WRITTEN_BY_SCHEMA = [
    ("schema", "the value JSON, written by the topic's latest schema; the key text"),
    ("schemas", "JSON both, written by the topic's latest schemas"),
]
_AREA = {"rows": 2, "spellcheck": "false"}


class ProduceForm(forms.Form):
    """`record` are key, value and headers as bytes. A blank key is no key; a null value is a tombstone."""

    partition = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    key = forms.CharField(required=False, strip=False, max_length=RECORD_BYTES_MAX, widget=forms.Textarea(_AREA))
    value = forms.CharField(
        required=False, strip=False, max_length=RECORD_BYTES_MAX, widget=forms.Textarea({**_AREA, "rows": 6})
    )
    is_null = forms.BooleanField(required=False, label="Null value (a tombstone: compaction then drops the key)")
    written_as = forms.ChoiceField(
        label="Key and value are",
        choices=_WRITTEN_AS,
        required=False,
    )
    headers = forms.CharField(required=False, max_length=20_000, widget=forms.Textarea(_AREA))

    def __init__(self, topic: Topic, *args: Any, **named: Any):
        super().__init__(*args, **named)
        self._topic = topic.name
        if here.SCHEMA_REGISTRY is not None:
            set_choices(self, "written_as", [*_WRITTEN_AS, *_WRITTEN_BY_SCHEMA])
        choices = [("", "by key"), *((index, str(index)) for index in range(topic.partition_count))]
        set_choices(self, "partition", choices)

    def clean_headers(self) -> tuple[tuple[str, bytes], ...]:
        lines = [line for line in self.cleaned_data["headers"].splitlines() if line.strip()]
        if len(lines) > HEADERS_MAX:
            raise forms.ValidationError(f"At most {HEADERS_MAX} headers.")
        pairs = [line.partition(":") for line in lines]
        if not all(separator and name.strip() for name, separator, _ in pairs):
            raise forms.ValidationError("One header on a line, as name: value.")
        return tuple((name.strip(), value.strip().encode()) for name, _, value in pairs)

    def clean(self) -> dict[str, object]:
        fields = super().clean() or {}
        written_as = fields.get("written_as") or "text"
        if written_as == "json" and fields.get("value"):
            self._check_json(fields["value"])
        for name in ("key", "value"):
            if fields.get(name):
                fields[name] = self._bytes_of(name, fields[name].replace("\r\n", "\n"), written_as)
        if fields.get("is_null") and fields.get("value"):
            self.add_error("value", "A tombstone has no value: empty this field, or untick the box.")
        fields["key"] = fields.get("key") or None
        fields["value"] = None if fields.get("is_null") else fields.get("value") or b""
        return fields

    def _bytes_of(self, name: str, text: str, written_as: str) -> bytes:
        if name in _BY_SCHEMA.get(written_as, ()):
            data, problem = encode_for(self._topic, name, text)
            if problem:
                self.add_error(name, problem)
            return data
        data = text.encode()
        if written_as == "hex":
            try:
                data = bytes.fromhex(text)
            except ValueError:
                self.add_error(name, "Two hexadecimal digits for each byte, white space between is fine.")
        if len(data) > RECORD_BYTES_MAX:
            self.add_error(name, f"At most {RECORD_BYTES_MAX} bytes.")
        return data

    def _check_json(self, text: str) -> None:
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            self.add_error("value", f"This is no JSON: {error}.")


class CopyForm(forms.Form):
    """`names`: of topics the person may choose."""

    to = forms.CharField(label="Into the topic", max_length=249)
    to_partition = forms.IntegerField(
        label="Partition", required=False, min_value=0, max_value=PARTITIONS_PER_TOPIC_MAX
    )

    def __init__(self, names: QuerySet[Topic], *args: Any, **named: Any):
        super().__init__(*args, **named)
        self._names = names

    def clean_to(self) -> str:
        name = self.cleaned_data["to"]
        if not self._names.filter(name=name).exists():
            raise forms.ValidationError("There is no such topic that you operate.")
        return name
