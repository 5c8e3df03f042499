"""Water jugs as an environment for retrospect, in one file and with the standard library alone (docs/ENVIRONMENTS.md).

    retrospect run --env stdio --actor human -- python3 examples/jugs/jugs.py
"""

import json
import sys
from collections import deque

# The sizes of the jugs in litres, and the amount to measure, by task.
TASKS = {
    "3-5-4": ((3, 5), 4),
    "4-9-6": ((4, 9), 6),
    "5-7-3": ((5, 7), 3),
    "3-8-4": ((3, 8), 4),
}
FORMS = "fill A, empty A, pour A into B"


class Jugs:
    def __init__(self, task):
        self.sizes, self.target = TASKS[task]
        self.names = [f"jug {size}" for size in self.sizes]
        self.water = (0,) * len(self.sizes)
        self.moves = 0

    def actions(self):
        """Every action with the amounts after it, as long as it changes something."""
        found = {}
        for i, size in enumerate(self.sizes):
            for verb, amount in (("fill", size), ("empty", 0)):
                if self.water[i] != amount:
                    found[f"{verb} {self.names[i]}"] = self.changed({i: amount})
            for j, room in enumerate(self.sizes):
                poured = min(self.water[i], room - self.water[j])
                if i != j and poured:
                    after = self.changed({i: self.water[i] - poured, j: self.water[j] + poured})
                    found[f"pour {self.names[i]} into {self.names[j]}"] = after
        return found

    def changed(self, amounts):
        return tuple(amounts.get(i, amount) for i, amount in enumerate(self.water))

    def describe(self):
        return " ".join(f"{name} holds {amount} of {size} litres." for name, amount, size in
                        zip(self.names, self.water, self.sizes)).replace("jug", "Jug")

    def turn(self, text, reward=0.0, accepted=True):
        won = self.target in self.water
        return {
            "observation": text + (" You have measured it." if won else ""), "reward": reward, "done": won, "won": won,
            "accepted": accepted, "moves": self.moves, "goal": f"measure exactly {self.target} litres",
            "shown": dict(zip(self.names, self.water)),
        }

    def reset(self):
        return self.turn(f"There is a tap, a drain, and two jugs. You can {FORMS}. {self.describe()}")

    def step(self, action):
        after = self.actions().get(action.strip().lower())
        if after is None:
            return self.turn(f"Nothing changes. You can {FORMS}. {self.describe()}", accepted=False)
        self.water, self.moves = after, self.moves + 1
        return self.turn(self.describe(), reward=float(self.target in after))

    def plan(self):
        """The shortest way to the goal."""
        start, queue, ways = self.water, deque([self.water]), {self.water: []}
        while queue:
            self.water = queue.popleft()
            if self.target in self.water:
                break
            for action, after in self.actions().items():
                if after not in ways:
                    ways[after] = ways[self.water] + [action]
                    queue.append(after)
        way, self.water = ways[self.water], start
        return "Next: " + ", then ".join(way) + "." if way else "It is done."


def error(code, message):
    return {"ok": False, "error": {"code": code, "message": message}}


def main():
    jugs, snapshots = None, {}
    for line in sys.stdin:
        request = json.loads(line)
        op, reply = request["op"], {}
        if op == "hello":
            caps = ["tasks", "valid_actions", "peek", "snapshot", "hint"]
            reply = {"protocol": 1, "name": "jugs", "caps": caps, "deterministic": True, "max_snapshots": 64}
        elif op == "tasks":
            reply = {"tasks": [{"id": name, "goal": f"measure {target} litres", "type": f"{len(sizes)} jugs"}
                               for name, (sizes, target) in TASKS.items()]}
        elif op == "reset":
            name = request.get("task") or next(iter(TASKS))
            if name in TASKS:
                jugs = Jugs(name)
                reply = jugs.reset()
            else:
                reply = error("bad_task", f"the tasks are {', '.join(TASKS)}")
        elif op == "close":
            pass
        elif jugs is None:
            reply = error("not_reset", f"{op} before reset")
        elif op == "step":
            reply = jugs.step(request["action"])
        elif op == "valid_actions":
            reply = {"actions": sorted(jugs.actions()), "pure": True}
        elif op == "peek":
            reply = {"peek": dict(zip(jugs.names, jugs.water)), "pure": True}
        elif op == "snapshot":
            snapshots[name := f"s{request['id']}"] = (jugs.sizes, jugs.target, jugs.water, jugs.moves)
            reply = {"snapshot": name}
        elif op == "restore":
            _, _, jugs.water, jugs.moves = snapshots[request["snapshot"]]
        elif op == "drop":
            snapshots.pop(request["snapshot"], None)
        elif op == "hint":
            reply = {"hint": jugs.plan()}
        else:
            reply = error("unsupported", op)
        print(json.dumps({"id": request["id"], "ok": True} | reply), flush=True)
        if op == "close":
            break


if __name__ == "__main__":
    main()
