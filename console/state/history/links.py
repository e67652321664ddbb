"""Where the object of a change has its page."""

from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from console.state.history.kinds import TOPIC_KINDS, ChangeKind

_SUBJECT = "subject "


def address_of(kind: str, object_name: str) -> str:
    """Return the address of the object's page, or an empty text where it has none."""
    try:
        return _address(kind, object_name)
    except NoReverseMatch:
        return ""


def _address(kind: str, name: str) -> str:
    if kind == ChangeKind.SETTINGS:
        return reverse("topic-settings", args=[name])
    if kind == ChangeKind.SCHEMA and name.startswith(_SUBJECT):
        return ""
    if kind in TOPIC_KINDS:
        return reverse("topic", args=[name])
    if kind in (ChangeKind.OFFSETS, ChangeKind.GROUP):
        return reverse("group", args=[name])
    if kind == ChangeKind.PROCESS:
        return reverse("process", args=[name])
    if kind == ChangeKind.ACL:
        return reverse("acls")
    if kind == ChangeKind.QUOTA:
        return f"{reverse('quotas')}?{urlencode({'search': name.rpartition(' ')[2]})}"
    number = name.removeprefix("broker-")
    if kind in (ChangeKind.BROKER, ChangeKind.BROKER_SETTINGS) and number.isdigit():
        return reverse("broker-settings" if kind == ChangeKind.BROKER_SETTINGS else "broker", args=[int(number)])
    return ""
