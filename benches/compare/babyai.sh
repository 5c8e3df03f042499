#!/bin/sh
# Sets up minigrid in a virtual environment, builds the native side, and compares the two. See README.md in this folder.
#
#   benches/compare/babyai.sh [--rounds N]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${RETROSPECT_COMPARE_BABYAI_VENV:-${TMPDIR:-/tmp}/retrospect-compare-babyai-venv}

if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet minigrid==2.3.0 gymnasium==0.29.1 numpy==1.26.4
fi

cd "$root"
native=$(cargo bench --bench babyai --no-run --message-format=json |
    "$venv/bin/python" -c 'import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == "babyai":
        print(message["executable"])')

exec "$venv/bin/python" "$here/babyai.py" --native "$native" "$@"
