"""The sidebar's links for its template."""

from django import template
from django.template.context import Context

from console.shell.web.navigation import ShownLink, shown_sections

register = template.Library()


@register.simple_tag(takes_context=True)
def navigation(context: Context) -> list[tuple[str, list[ShownLink]]]:
    """Return the headings and links that the person on this page is shown."""
    return shown_sections(context)  # type: ignore[arg-type]  # it is read by names alone
