"""ZooKeeper as an operator sees it: the members of the ensemble, what is in it, and how its members are changed."""
