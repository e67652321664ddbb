"""Declares the frame of all pages and their websocket."""

from console.kit.features.declaration import Feature, PushedPage, Socket

FEATURE = Feature(
    package="console.shell.web",
    template_libraries=("navigation",),
    pushed_pages=(PushedPage("other"),),
    sockets=(Socket("ws/live/", "console.shell.web.page_socket.PageConsumer"),),
)
