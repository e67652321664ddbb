"""The words of processes that the console runs: stream jobs and mirrors."""
