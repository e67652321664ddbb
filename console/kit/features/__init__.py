"""How a feature declares itself: one `FEATURE` in `feature.py` of its folder, listed once in `console/features.py`."""
