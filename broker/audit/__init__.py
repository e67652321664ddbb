"""Message audit: what was produced, appended and consumed, counted by event-time window, so that loss has a name.

`appended` is a function of the log: a counter reads what is committed as any client does, and says of each range of
offsets what it holds. Nothing is counted while a broker serves a request, so a killed broker can neither forget nor
repeat a count, and a request costs what it did. Formats after Uber's Chaperone, with its weak spots mended: ranges and
sequences instead of UUIDs, checksums beside counts, and UNKNOWN where somebody has not reported.
"""
