"""The frame of every page for its templates: the sidebar, the tabs, the account menu; the style and the script."""

from django import template
from django.template.context import Context

from console.shell.web.bundles import address_of
from console.shell.web.navigation import Navigation, navigation_of

register = template.Library()


@register.simple_tag(takes_context=True)
def navigation(context: Context) -> Navigation:
    """Return what the person on this page is shown."""
    return navigation_of(context)  # type: ignore[arg-type]  # it is read by names alone


@register.simple_tag
def bundle(kind: str) -> str:
    """Return the address of the bundle of `kind`, css or js."""
    return address_of(kind)
