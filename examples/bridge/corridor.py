"""A small environment for the bridge: `bridge.py corridor:Corridor`. Docs/ENVIRONMENTS.md explains it."""


class Corridor:
    """Cells 0 to 4; the task is to reach one of them."""

    deterministic = True

    def tasks(self):
        return [{"id": f"east-{cell}", "goal": f"reach cell {cell}", "type": "walk"} for cell in (2, 3, 4)]

    def reset(self, seed=None, options=None):
        self.goal = int((options or {}).get("task", "east-2").removeprefix("east-"))
        self.cell = 0
        return f"You are in cell 0. A sign says: {self.goal}.", {**self.info(), "goal": f"reach cell {self.goal}"}

    def step(self, action):
        moves = {"east": 1, "west": -1, "wait": 0}
        if action not in moves:
            return f"I do not know how to {action}.", 0, False, {**self.info(), "accepted": False}
        before = self.cell
        self.cell = max(0, min(4, self.cell + moves[action]))
        won = self.cell == self.goal
        text = f"You are in cell {self.cell}." + (" You win." if won else "")
        return text, self.cell - before, won, {**self.info(), "won": won}

    def info(self):
        return {
            "admissible_commands": ["east", "west", "wait"],
            "score": self.cell,
            "max_score": self.goal,
            "shown": {"cell": self.cell},
        }

    def peek(self):
        return {"cell": self.cell}

    def snapshot(self):
        return (self.cell, self.goal)

    def restore(self, snapshot):
        self.cell, self.goal = snapshot

    def hint(self):
        return "go east" if self.cell < self.goal else "go west"
