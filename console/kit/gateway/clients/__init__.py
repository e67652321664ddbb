"""Client applications: which of them write and read which topics."""
