"""Consumer groups: members, commits, lag, and changes of them."""
