"""The departure of a broker on the page of its process, which does not know of departures."""

from django import template

from console.decommission.queries import open_departure

register = template.Library()
register.simple_tag(open_departure)
