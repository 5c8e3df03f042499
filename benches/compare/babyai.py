"""Compares the speed of this program's text steps with AgentBoard's text wrapper of minigrid.

    babyai.py --native PROGRAM [--rounds 5]

The wrapper can't be installed. Its speed is estimated from its recorded speed, scaled by the speed of bare minigrid:
wrapper now = wrapper then x bare now / bare then. All speeds are steps per second of the measuring process's CPU time;
the two sides are measured alternately. Both sides hash the start states of twenty seeds per level, and the run fails if
they differ. `babyai.sh` sets everything up and calls this.
"""

import argparse
import contextlib
import io
import json
import os
import random
import statistics
import subprocess
import time

# The recorded steps per second (Python 3.11.7, two cores) of each level: low-level steps of bare minigrid, text steps
# with random available actions, text steps that turn or move.
THEN = {
    "GoToRedBall": (7802, 475, 217),
    "Open": (7083, 606, 594),
    "Pickup": (7156, 605, 572),
    "BossLevel": (3994, 367, 254),
}
STEPS = 20_000
DOORS = {"open": 0, "closed": 1, "locked": 2}


def make(level, seed):
    import gymnasium
    import minigrid  # noqa: F401 (registers the levels)

    env = gymnasium.make(f"BabyAI-{level}-v0")
    # Some levels print to standard output when they are reset.
    with contextlib.redirect_stdout(io.StringIO()):
        env.reset(seed=seed)
    return env.unwrapped


def bare(level):
    """Returns the low-level steps per second of CPU time, as the reference was measured."""
    env, rng = make(level, 1234), random.Random(0)
    actions = [rng.randrange(6) for _ in range(STEPS)]
    start = time.process_time()
    for action in actions:
        env.step(action)
    return STEPS / (time.process_time() - start)


def code(thing):
    if thing is None:
        return "100"
    kind, colour, state = thing.encode()
    return f"{kind:x}{colour:x}{state:x}"


def fingerprint(level, seed):
    """Returns the 64-bit FNV-1a hash of the cells, the pose and the carried object."""
    env = make(level, seed)
    rows = ("".join(code(env.grid.get(x, y)) for x in range(env.width)) for y in range(env.height))
    pose = f"{env.agent_pos[0]},{env.agent_pos[1]},{env.agent_dir}"
    text = "\n".join([*rows, pose, "-" if env.carrying is None else code(env.carrying)])
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    now = {level: [] for level in THEN}
    ours = {level: [] for level in THEN}
    for _ in range(options.rounds):
        for level in THEN:
            now[level].append(bare(level))
        figures = json.loads(subprocess.check_output([options.native, "--figures"]))
        for level in THEN:
            ours[level].append(figures[level])
    for level in THEN:
        starts = [fingerprint(level, seed) for seed in range(20)]
        assert starts == ours[level][0]["starts"], f"{level}: the starts differ"
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {options.rounds} rounds; the starts of 20 seeds a level are the same")
    print(f"{'level':12} {'bare now':>9} {'wrapper now':>11} {'native step':>12} {'ratio':>7} {'least':>7} {'turn':>9} {'ratio':>7}   turning and moving")
    for level, (bare_then, text_then, moves_then) in THEN.items():
        scale = [figure / bare_then for figure in now[level]]

        def ratio(name, then, middle=statistics.median):
            return middle(1 / own[name] / (then * by) for own, by in zip(ours[level], scale))

        speed = statistics.median
        print(
            f"{level:12} {speed(now[level]):9.0f} {text_then * speed(scale):11.0f} "
            f"{speed(1 / own['step'] for own in ours[level]):12.0f} {ratio('step', text_then):7.0f} {ratio('step', text_then, min):7.0f} "
            f"{speed(1 / own['turn'] for own in ours[level]):9.0f} {ratio('turn', text_then):7.0f}   "
            f"{speed(1 / own['turn_or_move'] for own in ours[level]):9.0f}, {ratio('turn_or_move', moves_then):.0f} times"
        )


if __name__ == "__main__":
    main()
