"""Plays episodes of ScienceWorld with its Python package, for `benches/scienceworld.rs`.

Each line of standard input is an episode as JSON: task, variation, actions. The answer is a line with the seconds that its
calls of `env.step` took.
"""

import json
import sys
import time

from scienceworld import ScienceWorldEnv

env = ScienceWorldEnv("", envStepLimit=1000)
for line in sys.stdin:
    episode = json.loads(line)
    env.load(episode["task"], episode["variation"], "")
    env.reset()
    start = time.perf_counter()
    for action in episode["actions"]:
        env.step(action)
    print(time.perf_counter() - start, flush=True)
