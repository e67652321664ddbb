"""What the commands that start, stop and look into servers are made of."""
