"""The decommission of a broker on the page of its process, which does not know of any."""

from django import template

from console.automation.decommission.queries import open_decommission

register = template.Library()
register.simple_tag(open_decommission)
