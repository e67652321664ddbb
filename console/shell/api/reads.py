"""What can be read: the tables of the pages that features declare to be read."""

from console.kit.features.listed import features
from console.kit.features.order import in_order

READS = in_order(feature.reads for feature in features())
