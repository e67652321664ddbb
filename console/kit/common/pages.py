"""Templates as Django has them, but for who asks a page from within the process: that one is given what the page would
show instead of having it drawn (`api/door.py`).
"""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.backends.django import DjangoTemplates, Template

from console.kit.common.user_request import InnerRequest


class Pages(DjangoTemplates):
    def get_template(self, template_name: str) -> Template:
        return _Page.of(super().get_template(template_name))


class _Page(Template):
    @classmethod
    def of(cls, template: Template) -> "_Page":
        return cls(template.template, template.backend)

    def render(self, context: Mapping[str, Any] | None = None, request: HttpRequest | None = None) -> str:
        if isinstance(request, InnerRequest):
            request.shown = dict(context or {})
            return ""
        return super().render(None if context is None else dict(context), request)
