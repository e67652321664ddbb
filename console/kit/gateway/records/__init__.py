"""Records: reading, producing, deleting, and how they were batched."""
