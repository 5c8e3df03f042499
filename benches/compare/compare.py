"""Compares the speed of the Python stack and this program on the same games and commands.

    compare.py --native PROGRAM [--rounds 5] [--steps 50] [--json FILE] GAME_FOLDER...

Measures for each game, in seconds of this process's CPU time:
  load    loading the game file
  reset   a reset, with the admissible commands
  step    a command: observation, won, admissible commands
  turn    (native only) a step through `Environment`, which adds the progress, the shown state and the ground truth

Each round measures all games with one side, then with the other. Both sides are single-threaded. The commands are
chosen at random (seeded) from the admissible ones before the measurement. Both sides hash all texts, and the run fails
if the hashes differ. `compare.sh` sets everything up and calls this.
"""

import argparse
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path


def start(game):
    """Returns the environment as ALFWorld's own loader creates it."""
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
    from textworld.core import EnvInfos

    infos = EnvInfos(won=True, admissible_commands=True)
    return textworld.start(game, infos, wrappers=[AlfredDemangler(shuffle=False), AlfredInfos])


def said(state):
    return [state.feedback, bool(state.won), list(state.admissible_commands)]


def digest(everything):
    return hashlib.sha256(json.dumps(everything, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def draw_commands(game, steps):
    """Returns random (seeded) admissible commands; the walkthrough would be too short and ends the game."""
    env, rng, commands = start(game), random.Random(Path(game).parent.name), []
    state = env.reset()
    for _ in range(steps):
        verbs = {}
        for command in state.admissible_commands:
            verbs.setdefault(command.split()[0], []).append(command)
        commands.append(rng.choice(verbs[rng.choice(sorted(verbs))]))
        state, _, _ = env.step(commands[-1])
    return commands


def python_side(work):
    """Measures one round of the Python stack."""
    results = []
    for entry in work:
        begun = time.process_time()
        env = start(entry["game"])
        loaded = time.process_time()
        states = [env.reset()]
        fresh = time.process_time()
        for command in entry["commands"]:
            state, _, _ = env.step(command)
            states.append(state)
        played = time.process_time()
        results.append(
            {
                "load": loaded - begun,
                "reset": fresh - loaded,
                "step": (played - fresh) / len(entry["commands"]),
                "said": digest([said(state) for state in states]),
            }
        )
    return results


def run(command):
    finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(finished.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--native", required=True, help="the built benchmark `compare_steps`")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--work", type=Path, default=Path("/tmp/retrospect-compare.json"), help="where games and commands are kept")
    parser.add_argument("--round-of-python", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("games", nargs="*")
    args = parser.parse_args()

    if args.round_of_python:
        print(json.dumps(python_side(json.loads(args.work.read_text()))))
        return

    work = []
    for folder in args.games:
        game = str(Path(folder).resolve() / "game.tw-pddl")
        print(f"drawing commands for {Path(folder).name}", file=sys.stderr)
        work.append({"game": game, "commands": draw_commands(game, args.steps)})
    args.work.write_text(json.dumps(work))

    sides = {
        "python": [sys.executable, __file__, "--native", args.native, "--work", str(args.work), "--round-of-python"],
        "native": [args.native, str(args.work)],
    }
    rounds = {side: [] for side in sides}
    for number in range(1, args.rounds + 1):
        for side, command in sides.items():
            rounds[side].append(run(command))
            print(f"round {number} of {args.rounds}: {side} done, load average {os.getloadavg()[0]:.1f}", file=sys.stderr)

    figures, agree = [], True
    for index, entry in enumerate(work):
        figure = {"game": Path(entry["game"]).parent.name, "commands": len(entry["commands"])}
        for side, results in rounds.items():
            measured = [what for what in ("load", "reset", "step", "turn") if what in results[0][index]]
            figure[side] = {what: statistics.median(result[index][what] for result in results) for what in measured}
        hashes = {result[index]["said"] for results in rounds.values() for result in results}
        figure["same_text"] = len(hashes) == 1
        agree &= figure["same_text"]
        figures.append(figure)

    print(f"{'game':58} {'load ms':>17} {'reset ms':>17} {'steps a second':>19} {'load+reset':>11} {'step':>9} {'turn':>9}  text")
    ratios = {"load and reset": [], "step": [], "turn": []}
    for figure in figures:
        p, n = figure["python"], figure["native"]
        both = (p["load"] + p["reset"]) / (n["load"] + n["reset"])
        step = p["step"] / n["step"]
        ratios["load and reset"].append(both)
        turn = p["step"] / n["turn"]
        ratios["step"].append(step)
        ratios["turn"].append(turn)
        print(
            f"{figure['game'][:58]:58} {p['load'] * 1e3:8.0f} {n['load'] * 1e3:8.3f} {p['reset'] * 1e3:8.0f} {n['reset'] * 1e3:8.4f} "
            f"{1 / p['step']:8.1f} {1 / n['step']:10.0f} {both:10.0f}x {step:8.0f}x {turn:8.0f}x  {'same' if figure['same_text'] else 'DIFFERS'}"
        )
    for what, values in ratios.items():
        print(f"{what}: median {statistics.median(values):.0f}x, least {min(values):.0f}x over {len(values)} games (python, then native; medians of {args.rounds} rounds, CPU time)")
    if args.json:
        args.json.write_text(json.dumps({"rounds": args.rounds, "figures": figures}, indent=1) + "\n")
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
