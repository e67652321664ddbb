"""The console's processes and frame: launching, collecting, web, API, clusters, palette, approval of changes."""
