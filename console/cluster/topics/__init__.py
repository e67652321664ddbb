"""The pages of topics: the list, one topic and its settings; creating, enlarging and deleting one."""
