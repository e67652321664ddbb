"""The registry over HTTP, in the words of Confluent's API."""
