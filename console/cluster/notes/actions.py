"""Keeping what is said about a topic, as planned."""

from dataclasses import asdict

from django.contrib.auth.models import User

from console.cluster.notes.models import TopicNote
from console.cluster.notes.note_text import NotePlan, NoteText, parse_links
from console.kit.common.clock import now_ms
from console.kit.common.databases import cluster_atomic
from console.kit.live import groups
from console.kit.live.push import push_partial
from console.kit.plans.apply import carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation


def do_describe(actor: User, plan: NotePlan, confirmation: Confirmation) -> KeptInverse | None:
    """Change a topic's note, and return the kept inverse. Raises NotConfirmedError; the audit has all of it."""
    kept: list[KeptInverse] = []

    @cluster_atomic()
    def write() -> None:
        kept.append(save_inverse(actor, plan, asdict(plan.now)))
        write_note(plan.object_name, plan.then)

    carry_out(actor, plan, confirmation, write)
    return kept[0] if kept else None


@cluster_atomic()
def write_note(topic: str, note: NoteText) -> None:
    """Store the note, or delete it if it says nothing; open pages of the topic are drawn anew."""
    if note.is_nothing:
        TopicNote.objects.filter(topic=topic).delete()
    else:
        values = asdict(note) | {"links": parse_links(note.links)}
        TopicNote.objects.update_or_create(topic=topic, defaults=values)
    push_partial(groups.topic(topic), "live/resync.html", {"version": now_ms()})
