#!/bin/sh
# Every command in this folder is a link to this file; the name it is called by says which command runs.
here=$(dirname "$(readlink -f "$0")")
python=$here/../.venv/bin/python
[ -x "$python" ] || { echo "$(basename "$0"): nothing is installed here yet; run \`make setup\` in $(dirname "$here")." >&2; exit 1; }
PYTHONPATH=$here/..${PYTHONPATH:+:$PYTHONPATH} exec "$python" -P -m broker.cli "$(basename "$0" .sh)" "$@"
