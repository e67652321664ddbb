"""Moves in batches on the page of placement, which does not know of any."""

from django import template

from console.automation.staged_moves.queries import moves_for

register = template.Library()
register.simple_tag(moves_for)
