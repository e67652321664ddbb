"""What a person may say about a topic."""

from django import forms

from console.cluster.notes.models import DESCRIPTION_LENGTH_MAX, OWNER_LENGTH_MAX
from console.cluster.notes.note_text import NoteText, lines_of, parse_labels, parse_links


class NoteForm(forms.Form):
    owner = forms.CharField(required=False, max_length=OWNER_LENGTH_MAX)
    labels = forms.CharField(required=False, max_length=500)
    links = forms.CharField(required=False, max_length=6_000, widget=forms.Textarea(attrs={"rows": 3}))
    description = forms.CharField(
        required=False, max_length=DESCRIPTION_LENGTH_MAX, widget=forms.Textarea(attrs={"rows": 6})
    )

    def clean_labels(self) -> str:
        try:
            return parse_labels(self.cleaned_data["labels"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_links(self) -> str:
        try:
            return lines_of(parse_links(self.cleaned_data["links"]))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_description(self) -> str:
        return self.cleaned_data["description"].replace("\r\n", "\n").strip()

    @property
    def text(self) -> NoteText:
        return NoteText(**{name: self.cleaned_data[name] for name in ("owner", "description", "labels", "links")})
