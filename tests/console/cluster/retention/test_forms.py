import pytest

from console.cluster.retention.forms import RetentionForm


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", ""),
        ("-1", "-1"),
        ("Default", "default"),
        ("604800000", "604800000"),
        ("7 d", "604800000"),
        ("3.5d", "302400000"),
        ("90 min", "5400000"),
        ("0", "0"),
    ],
)
def test_a_time_may_be_typed_with_its_unit(typed, meant):
    form = RetentionForm({"retention_ms": typed})

    assert form.is_valid(), form.errors
    assert form.changes["retention.ms"] == meant


@pytest.mark.parametrize(("typed", "meant"), [("10 GB", "10000000000"), ("1.5kb", "1500"), ("42", "42")])
def test_a_size_may_be_typed_with_its_unit(typed, meant):
    form = RetentionForm({"retention_bytes": typed})

    assert form.is_valid(), form.errors
    assert form.changes["retention.bytes"] == meant


@pytest.mark.parametrize("typed", ["-2", "soon", "7 weeks", "1.5", "1e9", "٣", "7 GB", "1" * 19])
def test_what_is_no_time_is_refused(typed):
    assert not RetentionForm({"retention_ms": typed}).is_valid()
