"""Changes of processes that take many beats: begun by plan, carried on to their end by whichever worker lives."""
