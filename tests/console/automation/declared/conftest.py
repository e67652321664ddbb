"""Files typed on the page, compared and applied."""

import pytest

from console.kit.audit.models import AuditEvent
from tests.console.cluster.acls.rules import CONSOLE, on_cluster
from tests.console.confirming import digest_in

ADDRESS = "/declaration/"


class Files:
    """`texts` as one person sends them."""

    def __init__(self, browser, *texts: str, prune: bool = False, at_once: bool = False):
        self._browser = browser
        self._form = {"text": list(texts), "file": [f"f{number}.yaml" for number in range(len(texts))]}
        self._form |= {name: "on" for name, is_said in (("prune", prune), ("at_once", at_once)) if is_said}

    def compare(self):
        return self._browser.post(ADDRESS, self._form)

    def apply(self, shown=None, **more):
        shown = shown or self.compare()
        plan = shown.context["plan"]
        form = {**self._form, "digest": digest_in(shown), "typed_name": plan.typed_name, **more}
        return self._browser.post(ADDRESS, form)


@pytest.fixture
def files(client_of):
    """files(person, *texts)"""
    return lambda person, *texts, **more: Files(client_of(person), *texts, **more)


@pytest.fixture
def secured(cluster):
    cluster.acls.has_authorizer = True
    cluster.acls.super_users = frozenset()
    cluster.acls.own_principal = CONSOLE
    cluster.acls.create([on_cluster(CONSOLE, "ALL")])
    return cluster


def actions() -> list[tuple[str, str]]:
    """Of the audit, oldest first: what became of which."""
    return [(event.action, event.result) for event in AuditEvent.objects.order_by("id")]


def topics(cluster) -> dict[str, int]:
    return {topic.name: len(topic.partitions) for topic in cluster.describe_topics()}
