"""Declares moves of partitions in batches."""

from console.kit.features.api import ApiAction
from console.kit.features.declaration import Database, Feature, FormsOf, RouteModule

FEATURE = Feature(
    package="console.automation.staged_moves",
    database=Database.CLUSTER,
    addresses=(RouteModule("placement/+staged/", "console.automation.staged_moves.urls"),),
    template_libraries=("staged_moves",),
    actions=(
        ApiAction(
            "move-in-batches",
            "staged-move",
            "Move partitions in batches, from a time on; `moves`: topic → partition → brokers, as JSON",
            form=("moves", "size", "begins", "throttle"),
            after="call-off-moves",
        ),
        ApiAction(
            "throttle-batches",
            "staged-move-throttle",
            "Another throttle for a move in batches",
            path=("number",),
            query=("throttle",),
        ),
        ApiAction(
            "pause-batches",
            "staged-move-pause",
            "Begin no other batch of a move until it is resumed",
            path=("number",),
            is_at_once=True,
        ),
        ApiAction(
            "resume-batches", "staged-move-resume", "Go on with a move in batches", path=("number",), is_at_once=True
        ),
        ApiAction(
            "call-off-batches",
            "staged-move-call-off",
            "Begin no other batch of a move any more",
            path=("number",),
            is_at_once=True,
        ),
        ApiAction(
            "call-off-batch",
            "staged-move-cancel",
            "Call off the open reassignments of a move in batches",
            path=("number",),
        ),
    ),
    forms=(
        FormsOf("move-partitions", ("staged-move",)),
        FormsOf("placement", ("staged-move-call-off", "staged-move-pause", "staged-move-resume"), is_one_for_all=True),
    ),
)
