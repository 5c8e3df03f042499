#!/bin/sh
# Sets up pddlgym in a virtual environment, builds the native side, and compares the two. See README.md in this folder.
#
#   benches/compare/pddl.sh [--rounds N]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${RETROSPECT_COMPARE_PDDL_VENV:-${TMPDIR:-/tmp}/retrospect-compare-pddl-venv}

if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet pddlgym==0.0.7 gym==0.26.2 numpy==1.26.4
fi

cd "$root"
native=$(cargo bench --bench pddl --no-run --message-format=json |
    "$venv/bin/python" -c 'import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == "pddl":
        print(message["executable"])')

exec "$venv/bin/python" "$here/pddl.py" --native "$native" "$@"
