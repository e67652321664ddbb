"""What may be said about a topic, and the plan of a change."""

import pytest

from console.cluster.notes.note_text import NoteText, change_plan, lines_of, parse_labels, parse_links


def test_labels_are_separated_by_commas_or_spaces_and_there_once():
    assert parse_labels("PII, team:payments  pii") == "pii team:payments"
    assert parse_labels("") == ""


@pytest.mark.parametrize("text", ["<b>", "a" * 41, "-x", " ".join(f"label-{n}" for n in range(11))])
def test_what_is_no_label_is_refused(text):
    with pytest.raises(ValueError, match="label"):
        parse_labels(text)


def test_a_link_has_words_or_is_called_by_its_host():
    links = parse_links("Runbook of orders https://wiki.example/orders?x=1\n\nhttps://grafana.example/d/1")
    assert links == [
        ["Runbook of orders", "https://wiki.example/orders?x=1"],
        ["grafana.example", "https://grafana.example/d/1"],
    ]
    assert parse_links(lines_of(links)) == links


@pytest.mark.parametrize(
    "text",
    [
        "javascript:alert(1)",
        "x data:text/html,hi",
        "//wiki.example",
        "https://",
        "http://[",
        "Runbook",
        "https://e.example/" + "x" * 500,
        "\n".join(f"https://e.example/{n}" for n in range(11)),
    ],
)
def test_nobody_is_led_to_what_is_no_page(text):
    with pytest.raises(ValueError, match="link"):
        parse_links(text)


def test_only_what_differs_is_changed_and_all_of_it_is_confirmed():
    now = NoteText(owner="payments", labels="pii")
    plan = change_plan("orders", now, NoteText(owner="billing", labels="pii"))
    assert [(line.name, line.old, line.new) for line in plan.lines] == [("owner", "payments", "billing")]
    other = change_plan("orders", NoteText(owner="payments", labels="pii", description="x"), NoteText(owner="billing"))
    assert other.confirmed != plan.confirmed
    assert change_plan("orders", now, now).is_empty
