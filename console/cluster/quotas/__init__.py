"""How much users, client ids and addresses may take, what they take now, and which quota counts for whom."""
