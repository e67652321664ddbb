"""What a row of a list asks about the person it is drawn for."""

from django import template

from console.access.reach import Resource
from console.access.rights import Right, reach_of

register = template.Library()


@register.filter
def is_process_operable_by(name: str, user) -> bool:
    """A row that is pushed is drawn for nobody: it reaches only those whose rights have no exceptions."""
    return not user or Right.OPERATE in reach_of(user).rights_on(Resource.PROCESS, name)
