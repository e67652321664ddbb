"""Kafka's users: who has a password by SCRAM, and giving, changing and taking it. No password is kept."""
