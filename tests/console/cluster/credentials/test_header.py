"""The pages of a Kafka user have the header of one object."""

import pytest

from console.cluster.credentials.models import ScramUser
from console.cluster.quotas.models import QuotaRow


@pytest.mark.parametrize("page", ["+password", "+delete"])
def test_mechanisms_rules_and_quotas_stand_above_both_pages(cluster, administrator, client_of, page):
    cluster.credentials.set_password("alice", "correct-horse", {"SCRAM-SHA-256": 4_096})
    user = ScramUser.objects.create(name="alice", mechanisms={"SCRAM-SHA-256": 4_096}, rule_count=2)
    QuotaRow.objects.create(digest="a", path="users/alice", words="user alice", rank=3)
    text = client_of(administrator).get(f"/kafka-users/{user.pk}/{page}/").content.decode()
    header = text[text.index("object-head") : text.index("</header>", text.index("object-head"))]
    assert ">alice</h1>" in header
    assert "SHA-256" in header
    assert "/access-lists/rules/?principal=User%3Aalice" in header
    assert f'href="/kafka-users/{user.pk}/+password/"' in header
    assert f'href="/kafka-users/{user.pk}/+delete/"' in header
    assert text.count("<h1") == 1
