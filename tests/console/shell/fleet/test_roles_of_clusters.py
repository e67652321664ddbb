"""A person's role in one cluster: set on the person's page by plan, kept from who is nobody there."""

import pytest

from console.kit.access.models import ClusterRole
from tests.console.confirming import digest_in
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])


@pytest.fixture
def form(staging, viewer):
    return {"role": "viewer", "is_active": "on", f"cluster-{STAGING}": "nothing", "cluster-main": ""}


def test_a_role_in_a_cluster_is_a_plan_like_any_other_right(form, client_of, administrator, viewer):
    client, address = client_of(administrator), f"/users/{viewer.pk}/"
    planned = client.post(address, form)
    assert "in the cluster staging" in planned.text
    assert client.post(address, {**form, "digest": digest_in(planned)}).status_code == 302
    assert [(role.cluster, role.role) for role in ClusterRole.objects.filter(user=viewer)] == [(STAGING, "nothing")]
    assert client_of(viewer).get("/c/staging/").status_code == 404
    assert client_of(viewer).get("/").status_code == 200


def test_a_role_that_is_as_everywhere_again_is_none_of_its_own(form, client_of, administrator, viewer):
    ClusterRole.objects.create(user=viewer, cluster=STAGING, role="operator")
    ClusterRole.objects.create(user=viewer, cluster="removed", role="nothing")
    client, address, form = client_of(administrator), f"/users/{viewer.pk}/", form | {f"cluster-{STAGING}": ""}
    assert client.post(address, {**form, "digest": digest_in(client.post(address, form))}).status_code == 302
    assert list(ClusterRole.objects.values_list("cluster", flat=True)) == ["removed"]


def test_nobody_administers_one_cluster_alone(form, client_of, administrator, viewer):
    answer = client_of(administrator).post(f"/users/{viewer.pk}/", form | {f"cluster-{STAGING}": "admin"})
    assert answer.status_code == 422
    ClusterRole.objects.create(user=viewer, cluster=STAGING, role="operator")
    assert client_of(viewer).get("/c/staging/users/").status_code == 403


def test_an_administrator_is_one_in_every_cluster(staging, client_of, administrator):
    ClusterRole.objects.create(user=administrator, cluster=STAGING, role="nothing")
    assert client_of(administrator).get("/c/staging/users/").status_code == 200
