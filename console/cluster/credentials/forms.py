"""What a person may say of a Kafka user. The password itself is asked for last, beside the plan it belongs to."""

from django import forms

from console.kit.gateway.credentials.interface import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    MECHANISMS,
    USER_LENGTH_MAX,
    user_refusal,
)

PASSWORD_LENGTH_MIN, PASSWORD_LENGTH_MAX = 8, 256
GENERATED, TYPED = "generated", "typed"
_WAYS = {GENERATED: "Made here, and shown once", TYPED: "Typed by you, when you confirm"}


class PasswordForm(forms.Form):
    """Form for an existing user. Mechanisms that are not chosen keep the password they have."""

    mechanisms = forms.MultipleChoiceField(
        choices=[(name, name) for name in MECHANISMS], widget=forms.CheckboxSelectMultiple, initial=[MECHANISMS[0]]
    )
    iterations = forms.IntegerField(min_value=ITERATIONS_MIN, max_value=ITERATIONS_MAX, initial=2 * ITERATIONS_MIN)
    password_is = forms.ChoiceField(label="The password", choices=_WAYS.items(), initial=GENERATED)

    @property
    def wanted(self) -> dict[str, int]:
        return dict.fromkeys(self.cleaned_data["mechanisms"], self.cleaned_data["iterations"])

    @property
    def is_typed(self) -> bool:
        return self.cleaned_data["password_is"] == TYPED

    @property
    def fields_again(self) -> list[tuple[str, object]]:
        """The form fields that make the same plan again."""
        mechanisms = [("mechanisms", mechanism) for mechanism in self.cleaned_data["mechanisms"]]
        return [*mechanisms, *((name, item) for name, item in self.cleaned_data.items() if name != "mechanisms")]


class CreateForm(PasswordForm):
    name = forms.CharField(label="User", max_length=USER_LENGTH_MAX)
    field_order = ("name", "mechanisms", "iterations", "password_is")

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if refusal := user_refusal(name):
            raise forms.ValidationError(refusal)
        return name


def password_refusal(password: str) -> str:
    """Return why the password is refused, without repeating it; empty if it is not.

    Kafka's clients send other letters in different forms of the same text (no SASLprep), so only ASCII is sure.
    """
    if not PASSWORD_LENGTH_MIN <= len(password) <= PASSWORD_LENGTH_MAX:
        return f"A password has {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters."
    if not password.isascii() or not password.isprintable():
        return "Letters, digits and signs of ASCII only: clients write others differently."
    return ""
