"""The tab of a topic that says who writes to it, which transactions are open there, and ends one that hangs."""
