"""A stream job is removed where its checkpoint is known of."""

from django.conf import settings
from django.urls import reverse

from console.processes.models import ManagedProcess


def test_a_stream_job_is_not_removed_as_a_mere_process(db, operator, client_of):
    ManagedProcess.objects.create(name="counts", kind="stream", host=settings.HOST_NAME)
    response = client_of(operator).post(reverse("process-remove", args=["counts"]), {"typed_name": "counts"})

    assert response.url == reverse("stream-remove", args=["counts"])
    assert client_of(operator).get(response.url).status_code == 403
    assert ManagedProcess.objects.filter(name="counts").exists()
