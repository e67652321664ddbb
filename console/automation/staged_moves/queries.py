"""What is known here of moves in batches: who sees them, and which partitions are on the move or spoken for."""

from django.contrib.auth.models import User
from django.http import Http404

from console.automation.staged_moves.models import StagedMove, shown_moves
from console.cluster.placement.models import OPEN, Reassignment
from console.cluster.placement.move import flat
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of
from console.kit.gateway.groups.interface import TopicPartition


def moves_for(person: User) -> list[StagedMove]:
    """Return the moves all of whose topics this person may see."""
    reach = reach_of(person)
    return [
        move
        for move in shown_moves()
        if all(Right.VIEW in reach.rights_on(Resource.TOPIC, topic) for topic in move.topics)
    ]


def find(number: int) -> StagedMove:
    """Raises Http404."""
    move = StagedMove.objects.filter(pk=number).first()
    if move is None:
        raise Http404("There is no such move.")
    return move


def batch_of(operation: StagedMove) -> Reassignment | None:
    """Return the one of its partitions that is under way."""
    places = flat(operation.wanted).keys()
    return next(
        (
            reassignment
            for reassignment in Reassignment.objects.filter(state__in=OPEN)
            if places & flat(reassignment.wanted).keys()
        ),
        None,
    )


def spoken_for() -> set[TopicPartition]:
    """Return the partitions of every staged move that has not ended."""
    return {place for one in StagedMove.open_ones() for place in flat(one.wanted)}
