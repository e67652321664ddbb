"""Drills: a fault on purpose, bounded and put back, with what was expected of it beside what was measured."""
