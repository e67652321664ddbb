"""How news reaches an open page: names of channel groups, pushes, and the websocket of one person."""
