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

RANDOM_STEPS = 60
# What no household accepts, and two forms that it accepts only after stripping.
NONSENSE = ["", "   ", "xyzzy", "Look", "go to", "go to attic 1", "take all", "open", "LOOK", "use lamp", "inventory now", "go  to fridge 1"]
# How often a verb is drawn, against 10 for one that is not named.
USUAL = {"help": 1, "look": 6, "inventory": 3, "open": 15, "go": 15}
RARE = USUAL | {"slice": 80, "heat": 30, "cool": 30, "clean": 20, "use": 20, "take": 20, "go": 20}


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


def shared_spots(state):
    """Receptacles that stand where another one stands, by display name."""
    spots = {}
    for fact in state.facts:
        if fact.name == "receptacleatlocation":
            spots.setdefault(fact.arguments[1].name, []).append(fact.arguments[0].name)
    return {name for names in spots.values() if len(names) > 1 for name in names}


def likes(command, commands, close):
    """How much the trace for rarer things likes a command, among those of its verb."""
    verb, _, rest = command.partition(" ")
    if verb == "take":
        return 5 if "knife" in rest else 2 if any(kind in rest for kind in ("bowl", "mug", "plate", "pot", "pan", "box")) else 1
    if verb == "go":
        return 3 if rest.removeprefix("to ") in close or any(kind in rest for kind in ("sink", "microwave", "fridge", "countertop")) else 1
    if verb == "examine":
        return 8 if f"examine {rest}" in commands and any(c.startswith(f"move {rest} ") for c in commands) else 1
    if verb == "move":
        # Beside the place it came from rather than back into it.
        return 4 if rest.rpartition(" to ")[2] in close else 1
    return 1


def choose(rng, commands, rare, close):
    """A command: one in twelve is nonsense or padded, the rest are balanced over verbs."""
    if rng.random() < 0.08:
        return rng.choice(NONSENSE) if rng.random() < 0.6 else f"  {rng.choice(commands)} \t"
    verbs = {}
    for command in commands:
        verbs.setdefault(command.split()[0], []).append(command)
    names = sorted(verbs)
    verb = rng.choices(names, [(RARE if rare else USUAL).get(name, 10) for name in names])[0]
    own = verbs[verb]
    return rng.choices(own, [likes(command, commands, close) if rare else 1 for command in own])[0]


def tour(facts):
    """Commands that visit what chance seldom meets: every state a thing can be examined in, nesting, things set down beside
    where they were. Some may be refused, which is as good a line as another."""
    pairs = {}
    for fact in facts:
        pairs.setdefault(fact.name, []).append([argument.name for argument in fact.arguments])
    lies = dict(sorted(pairs.get("inreceptacle", []), reverse=True))
    spot = dict(pairs["receptacleatlocation"])
    knives = [thing for thing in sorted(lies) if thing.startswith(("knife", "butterknife"))]
    commands = []

    def fetch(thing):
        commands.extend([f"go to {lies[thing]}", f"open {lies[thing]}", f"take {thing} from {lies[thing]}"])

    def treat(thing, verb, tool):
        commands.extend([f"go to {tool}", f"{verb} {thing} with {tool}", f"examine {thing}"])

    for inner, outer in sorted(pairs.get("inreceptacleobject", [])):
        fetch(outer)
        commands.extend([f"examine {outer}", f"move {outer} to {lies[outer]}", f"take {inner} from {lies[outer]}", f"move {inner} to {lies[outer]}"])
    for kind in ("potato", "tomato", "lettuce"):
        food = f"{kind} 1"
        if food not in lies or not knives:
            continue
        fetch(food)
        commands.append(f"examine {food}")
        for cut in (False, True):
            if kind == "lettuce" and not cut:
                continue
            if cut:
                commands.extend(["go to sinkbasin 1", f"move {food} to sinkbasin 1"])
                fetch(knives[0])
                commands.extend(["go to sinkbasin 1", f"slice {food} with {knives[0]}", f"move {knives[0]} to sinkbasin 1"])
                commands.extend([f"take {food} from sinkbasin 1", f"examine {food}"])
                lies[knives[0]] = "sinkbasin 1"
            if kind == "lettuce":
                treat(food, "clean", "sinkbasin 1")
            treat(food, "heat", "microwave 1")
            treat(food, "cool", "fridge 1")
            if kind == "tomato" or cut:
                treat(food, "clean", "sinkbasin 1")
                treat(food, "heat", "microwave 1")
        commands.extend(["go to sinkbasin 1", f"move {food} to sinkbasin 1"])
    for thing, place in sorted(lies.items()):
        beside = [other for other in sorted(spot) if other != place and spot[other] == spot.get(place)]
        if beside and len(commands) < 140:
            fetch(thing)
            commands.extend([f"open {beside[0]}", f"move {thing} to {beside[0]}", "look", f"take {thing} from {beside[0]}", f"move {thing} to {place}", "look"])
    return commands or ["look"]


def traces(name, game):
    """The traces of one game: its walkthrough and what follows it, a tour, a random walk, and one for the rarer verbs."""
    env = textworld.start(
        str(game),
        EnvInfos(won=True, admissible_commands=True, facts=True),
        wrappers=[AlfredDemangler(shuffle=False), AlfredInfos],
    )
    walkthrough = json.loads(game.read_text())["walkthrough"]
    for trace in ("walkthrough", "tour", "walk", "rare"):
        rng = random.Random(f"{name} {trace}")
        state = env.reset()
        close = shared_spots(state)
        yield line(trace, 0, None, state)
        fixed = {"walkthrough": walkthrough + ["look", "inventory", "xyzzy", "help"], "tour": tour(state.facts)}.get(trace)
        for step in range(1, 1 + (len(fixed) if fixed else RANDOM_STEPS)):
            command = fixed[step - 1] if fixed else choose(rng, list(state.admissible_commands), trace == "rare", close)
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
