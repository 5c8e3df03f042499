"""Plays generated household games with the real Python stack and writes down all it says.

Run by hand, once per generation of games (see README.md beside this file):

    cargo test --test golden_household -- --write GAMES
    python tests/golden/household/record.py GAMES tests/golden/household
"""

import gzip
import hashlib
import importlib.metadata
import json
import platform
import random
import sys
from pathlib import Path

import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
from textworld.core import EnvInfos

RANDOM_STEPS = 45
# What no household accepts, and two forms that it accepts only after stripping.
NONSENSE = ["", "   ", "xyzzy", "Look", "go to", "go to attic 1", "take all", "open", "LOOK", "use lamp", "inventory now", "go  to fridge 1"]
RARE_VERBS = {"heat", "cool", "clean", "use", "slice", "examine"}


def inventory(state):
    """Display names of what the agent holds, from the facts (the environment has no field for it)."""
    return sorted(fact.arguments[1].name for fact in state.facts if fact.name == "holds")


def line(trace, step, command, state):
    return {
        "trace": trace,
        "step": step,
        "command": command,
        "feedback": state.feedback,
        "admissible_commands": list(state.admissible_commands),
        "won": bool(state.won),
        "inventory": inventory(state),
    }


def choose(rng, commands, rare, held):
    """A command: one in ten is nonsense or padded, the rest are balanced over verbs."""
    if rng.random() < 0.1:
        return rng.choice(NONSENSE) if rng.random() < 0.6 else f"  {rng.choice(commands)} \t"
    verbs = {}
    for command in commands:
        verbs.setdefault(command.split()[0], []).append(command)
    if rare:
        if rng.random() < 0.5 and RARE_VERBS & verbs.keys():
            return rng.choice(verbs[rng.choice(sorted(RARE_VERBS & verbs.keys()))])
        appliances = [c for c in verbs.get("go", []) if any(a in c for a in ("sink", "microwave", "fridge", "desk"))]
        if held and appliances and rng.random() < 0.6:
            return rng.choice(appliances)
        if not held and "take" in verbs:
            return rng.choice(verbs["take"])
    return rng.choice(verbs[rng.choice(sorted(verbs))])


def traces(name, game):
    """The traces of one game: its walkthrough and what follows it, a random walk, and one for the rarer verbs."""
    env = textworld.start(
        str(game),
        EnvInfos(won=True, admissible_commands=True, facts=True),
        wrappers=[AlfredDemangler(shuffle=False), AlfredInfos],
    )
    walkthrough = json.loads(game.read_text())["walkthrough"]
    for trace in ("walkthrough", "walk", "rare"):
        rng = random.Random(f"{name} {trace}")
        state = env.reset()
        yield line(trace, 0, None, state)
        fixed = walkthrough + ["look", "inventory", "xyzzy", "help"] if trace == "walkthrough" else None
        for step in range(1, 1 + (len(fixed) if fixed else RANDOM_STEPS)):
            command = fixed[step - 1] if fixed else choose(rng, list(state.admissible_commands), trace == "rare", inventory(state))
            state, _score, _done = env.step(command)
            yield line(trace, step, command, state)


def main():
    games, out = Path(sys.argv[1]), Path(sys.argv[2])
    index = {
        "stack": {"python": platform.python_version()}
        | {package: importlib.metadata.version(package) for package in ("alfworld", "textworld", "fast-downward-textworld", "TatSu")},
        "games": [],
    }
    for listed in (games / "list.tsv").read_text().splitlines():
        name, folder = listed.split("\t")
        game = games / folder / "game.tw-pddl"
        lines = list(traces(name, game))
        won = [entry["won"] for entry in lines if entry["trace"] == "walkthrough"]
        assert won[-5] and not won[0], f"the walkthrough of {name} does not win"
        file = name.replace("/", "-") + ".jsonl.gz"
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in lines)
        (out / file).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        index["games"].append(
            {
                "id": name,
                "folder": folder,
                "traces": file,
                "lines": len(lines),
                "sha256": {part: hashlib.sha256((games / folder / part).read_bytes()).hexdigest() for part in ("game.tw-pddl", "traj_data.json")},
            }
        )
        print(name, len(lines), flush=True)
    (out / "index.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
