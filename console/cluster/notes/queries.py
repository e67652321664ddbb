"""Reading what is said about topics."""

from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from console.cluster.notes.models import TopicNote
from console.cluster.notes.note_text import NoteText, lines_of
from console.state.clusters.models import Topic


def with_notes(topics: QuerySet[Topic]) -> QuerySet[Topic]:
    """Annotate topics with `owner` and `labels`, None where unset."""
    note = TopicNote.objects.filter(topic=OuterRef("name")).order_by()
    owner, labels = Subquery(note.values("owner")[:1]), Subquery(note.values("labels")[:1])
    return topics.annotate(owner=owner, labels=labels)  # type: ignore[no-redef]  # Topic says that it may have them


def note_of(topic: str) -> TopicNote | None:
    return TopicNote.objects.filter(topic=topic).first()


def said_of(topic: str) -> NoteText:
    note = note_of(topic)
    return NoteText(note.owner, note.description, note.labels, lines_of(note.links)) if note else NoteText()


def topics_said_to_be(words: str) -> QuerySet[TopicNote, Any]:
    """Return the names of topics whose owner or labels contain `words`."""
    notes = TopicNote.objects.filter(Q(owner__icontains=words) | Q(labels__icontains=words))
    return notes.order_by().values("topic")
