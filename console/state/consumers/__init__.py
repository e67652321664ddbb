"""Consumer groups: lag in records and in time, a verdict, its history, and the change of committed offsets by plan."""
