"""How processes of the broker, and of the console itself, are started from wherever the code lies."""

from broker import __version__
from broker.common.installation import (
    CODE_DIR,
    IS_CHECKOUT,
    RUN_TOKEN_VARIABLE,
    default_data_dir,
    import_failure,
    jobs_dir,
    module_command,
    with_code_path,
)

__all__ = [
    "CODE_DIR",
    "IS_CHECKOUT",
    "RUN_TOKEN_VARIABLE",
    "__version__",
    "default_data_dir",
    "import_failure",
    "jobs_dir",
    "module_command",
    "with_code_path",
]
