"""Client applications: which clients write and read which topics, as the brokers count what reaches them."""
