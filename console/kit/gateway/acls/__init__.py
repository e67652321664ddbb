"""Access lists: their words, what they decide, and how a cluster is asked for them."""
