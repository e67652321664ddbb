"""A program with a token, and the person it belongs to."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from console.kit.access.api_tokens import SCOPES, make_token


class Program:
    """Asks with a token and no cookie."""

    def __init__(self, person, scopes=tuple(SCOPES), days=1):
        self.token, self.secret = make_token(
            person, f"t{timezone.now().timestamp()}", list(scopes), days, timezone.now()
        )
        self._client = Client(headers={"Authorization": f"Bearer {self.secret}"})

    def get(self, path, **query):
        return self._client.get(f"/api/v1/{path}", query)

    def post(self, path, **body):
        return self._client.post(f"/api/v1/{path}", body, content_type="application/json")

    def plan(self, action, **parameters):
        return self.post("plans", action=action, parameters=parameters)

    def apply(self, plan, **more):
        return self.post("plans/apply", digest=plan["digest"], **plan["apply"], **more)

    def end_later(self, **ago):
        type(self.token).objects.filter(pk=self.token.pk).update(ends_at=timezone.now() - timedelta(**ago))


@pytest.fixture
def program(db):
    return Program
