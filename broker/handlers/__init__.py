"""One file per API: reads the request, asks the runtime, builds the response. No sockets, no files, no asyncio."""
