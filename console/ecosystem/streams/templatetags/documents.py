"""A job's documentation on a page: what its author put between backticks is set as code."""

import re

from django import template
from django.utils.html import escape, linebreaks
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
_CODE = re.compile(r"`([^`\n]+)`")


@register.filter
def documented(text: str) -> SafeString:
    """Return paragraphs; the rest of the text is escaped, since a job's file may be anyone's."""
    return mark_safe(linebreaks(_CODE.sub(r"<code>\1</code>", str(escape(text)))))
