"""Who tries it out."""

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def browser(administrator: User, client_of) -> Client:
    return client_of(administrator)
