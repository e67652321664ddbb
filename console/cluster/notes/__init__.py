"""What people say about a topic: whose it is, what it is for, its labels, and where more is written."""
