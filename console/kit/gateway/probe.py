"""The probe's own arithmetic of latencies, so that the console sums them as the probe does."""

from broker.common.sketch import Sketch
from broker.probe.tally import MINUTE_MS, MIRROR, WHOLE

__all__ = ["MINUTE_MS", "MIRROR", "WHOLE", "Sketch"]
