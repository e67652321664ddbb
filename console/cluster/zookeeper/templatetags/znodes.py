"""Paths and transaction numbers of znodes in templates."""

from urllib.parse import quote

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def as_query(path: str) -> SafeString:
    """Return the path as the query of a deep link; its slashes stay readable."""
    return mark_safe(f"path={quote(path, safe='/')}")


@register.filter
def as_hex(number: int) -> str:
    """Format a 64-bit number as ZooKeeper does: 0x100000003."""
    return f"0x{number & 0xFFFF_FFFF_FFFF_FFFF:x}"
