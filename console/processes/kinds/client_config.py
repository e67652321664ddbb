"""By which client configuration a process of ours reaches the cluster: its user's or the console's own, by its path.

It is this host's, like a directory: what a spec says of it is not heeded, and it may change between two starts.
"""

from pathlib import Path

from console.processes.job_users import client_config_of
from console.processes.properties_file import set_properties

CLIENT_CONFIG = "client.config"


def tell_client_config(file: Path, user: str = "") -> None:
    """Write the path into the properties file of a process, or take out one that is not in use any more.

    `user` is whose it is, where that is not the console.
    """
    path = client_config_of(user)
    if path or (file.exists() and f"{CLIENT_CONFIG}=" in file.read_text()):
        set_properties(file, {CLIENT_CONFIG: path})


def client_lines(user: str, prefix: str = "") -> str:
    """What a process's properties say of that itself, line by line as the file has it, with `prefix` before each key.

    Among them may be a password: they are for a file of mode 600 alone.
    """
    path = client_config_of(user)
    lines, is_continued = [], False
    for line in Path(path).read_text().splitlines() if path else ():
        text = line.strip()
        if is_continued:
            lines.append(text)
        elif text and not text.startswith(("#", "!")):
            lines.append(prefix + text)
        else:
            continue
        is_continued = text.endswith("\\")
    return "".join(f"{line}\n" for line in lines)
