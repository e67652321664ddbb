"""Declares moves of partitions in batches."""

from console.kit.features.declaration import Addresses, Database, Feature, FormsOf

FEATURE = Feature(
    package="console.automation.staged_moves",
    database=Database.CLUSTER,
    addresses=(Addresses("placement/+staged/", "console.automation.staged_moves.urls"),),
    template_libraries=("staged_moves",),
    forms=(
        FormsOf("move-partitions", ("staged-move",)),
        FormsOf("placement", ("staged-move-call-off", "staged-move-pause", "staged-move-resume"), is_one_for_all=True),
    ),
)
