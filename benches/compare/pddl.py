"""Compares the speed of this program's text steps with AgentBoard's text wrapper of pddlgym.

    pddl.py --native PROGRAM [--rounds 5]

The wrapper can't be installed. Its speed is estimated from its recorded speed, scaled by the speed of bare pddlgym:
wrapper now = wrapper then x bare now / bare then. All speeds are steps per second of the measuring process's CPU time,
single-threaded; the two sides are measured alternately. Both sides play the files that the native side writes, and hash
the facts of the start state; the run fails if they differ. `pddl.sh` sets everything up and calls this.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import warnings

# The recorded steps per second (Python 3.11.7, two cores) of each problem: text steps with the list of valid actions, bare
# steps with the set of valid actions. The number is the problem's index among the files of its domain.
THEN = {
    "gripper 0": (1009, 1378),
    "gripper 4": (222, 232),
    "blockworld 0": (3376, 7942),
    "blockworld 1": (1796, 3006),
    "barman 0": (997, 1043),
    "barman 19": (328, 392),
    "tyreworld 0": (3008, 6079),
    "tyreworld 9": (1589, 2347),
}
STEPS = 600


def make(files):
    """Returns the environment of a problem, with the options that the wrapper uses."""
    import pddlgym.core

    folder = tempfile.mkdtemp()
    try:
        shutil.copy(files["problem"], os.path.join(folder, "problem.pddl"))
        env = pddlgym.core.PDDLEnv(files["domain"], folder, operators_as_actions=True, dynamic_action_space=True)
    finally:
        shutil.rmtree(folder)
    env.fix_problem_index(0)
    return env


def bare(files):
    """Returns the steps per second of CPU time, as the reference was measured: sorts the valid actions, executes a random one."""
    env, rng = make(files), random.Random(0)
    state, _ = env.reset()
    env.action_space.all_ground_literals(state)
    start = time.process_time()
    for _ in range(STEPS):
        valid = sorted(env.action_space.all_ground_literals(state))
        state = env.step(rng.choice(valid))[0]
    return STEPS / (time.process_time() - start)


def fingerprint(files):
    """Returns the 64-bit FNV-1a hash of the facts of the start state, sorted by bytes."""
    state, _ = make(files).reset()
    words = ([fact.predicate.name, *(variable.name for variable in fact.variables)] for fact in state.literals)
    value = 0xCBF29CE484222325
    for byte in "\n".join(sorted(f"({' '.join(fact)})" for fact in words)).encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    # `gym`, which it imports, prints a warning.
    with contextlib.redirect_stderr(io.StringIO()):
        import pddlgym  # noqa: F401
    now = {name: [] for name in THEN}
    ours = {name: [] for name in THEN}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            figures = json.loads(subprocess.check_output([options.native, "--figures", folder]))
            for name in THEN:
                ours[name].append(figures[name])
                now[name].append(bare(figures[name]))
        for name in THEN:
            told = ours[name][0]
            assert fingerprint(told) == told["start"], f"{name}: the facts of the start differ"
    own = all(figures["own"] for figures in (ours[name][0] for name in THEN))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {options.rounds} rounds; the facts of the starts are the same")
    print("problems: " + ("generated here, of about the recorded size" if own else "those that were recorded"))
    print(f"{'problem':12} {'bare then':>9} {'bare now':>9} {'wrapper then':>12} {'wrapper now':>11} {'native step':>12} {'ratio':>7} {'least':>7} {'turn':>9} {'ratio':>7}")
    for name, (text_then, bare_then) in THEN.items():
        scale = [figure / bare_then for figure in now[name]]

        def ratio(what, middle=statistics.median):
            return middle(1 / own[what] / (text_then * by) for own, by in zip(ours[name], scale))

        speed = statistics.median
        print(
            f"{name:12} {bare_then:9.0f} {speed(now[name]):9.0f} {text_then:12.0f} {text_then * speed(scale):11.0f} "
            f"{speed(1 / own['step'] for own in ours[name]):12.0f} {ratio('step'):7.0f} {ratio('step', min):7.0f} "
            f"{speed(1 / own['turn'] for own in ours[name]):9.0f} {ratio('turn'):7.0f}"
        )


if __name__ == "__main__":
    main()
