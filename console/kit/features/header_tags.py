"""`{% object_header "topic" topic %}` at the top of an object's pages."""

from collections.abc import Mapping
from typing import Any

from django import template

from console.kit.features.headers import shown_header

register = template.Library()


@register.inclusion_tag("components/object-header.html", takes_context=True)
def object_header(
    context: Mapping[str, Any], name: str, thing: object, tier: str = "", at_ms: int = 0
) -> dict[str, object]:
    """Draw the header `name` of `thing`. `tier` and `at_ms` say which data the page shows, and how old they are."""
    request = context["request"]
    header = shown_header(name, thing, request.user, context.get("read_only", ""), request.path)
    return {"header": header, "facts": header.facts, "tier": tier, "at_ms": at_ms}
