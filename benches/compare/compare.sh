#!/bin/sh
# Sets up the Python stack in a virtual environment, builds the native side, and compares them on the given game
# folders. See README.md in this folder.
#
#   benches/compare/compare.sh [--rounds N] [--steps N] [--json FILE] [GAME_FOLDER...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${RETROSPECT_COMPARE_VENV:-${TMPDIR:-/tmp}/retrospect-compare-venv}

if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    # Without dependencies: alfworld's training needs a gigabyte of packages that playing doesn't need.
    "$venv/bin/pip" install --quiet --no-deps alfworld==0.4.2 textworld==1.7.0 fast-downward-textworld==20.6.4 TatSu==5.8.3
    "$venv/bin/pip" install --quiet hashids jericho mementos more_itertools networkx numpy prompt_toolkit termcolor tqdm pyyaml gymnasium
fi

cd "$root"
native=$(cargo bench --bench compare_steps --no-run --message-format=json |
    "$venv/bin/python" -c 'import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == "compare_steps":
        print(message["executable"])')

options= games=
while [ $# -gt 0 ]; do
    case $1 in
    --*) options="$options $1 $2"; shift 2 ;;
    *) games="$games $1"; shift ;;
    esac
done

if [ -z "$games" ]; then
    golden=$root/../shared/golden/alfworld/games
    if [ -d "$golden" ]; then
        # The first real game of the current version for each kind of task.
        for kind in pick_and_place_simple look_at_obj_in_light pick_clean pick_heat pick_cool pick_two; do
            games="$games $(find "$golden" -maxdepth 1 -name "v042__$kind*" | sort | head -n 1)"
        done
    else
        own=${TMPDIR:-/tmp}/retrospect-compare-games
        rm -rf "$own"
        games=$("$native" --write "$own")
    fi
fi

# Neither the paths nor the options contain spaces.
# shellcheck disable=SC2086
exec "$venv/bin/python" "$here/compare.py" --native "$native" $options $games
