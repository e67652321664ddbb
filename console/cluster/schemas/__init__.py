"""The schema registry: subjects and their versions, changing them by plan, and records read and written by them."""
