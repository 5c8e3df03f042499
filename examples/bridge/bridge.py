#!/usr/bin/env python3
"""Makes a Python environment playable in retrospect: `bridge.py MODULE:FACTORY [KEY=VALUE ...]`.

FACTORY is a class or function of an importable module (the folder of this file and the current one are searched); it is
called with the KEY=VALUE arguments. What it returns is shaped like an environment of Gymnasium or the older Gym:

    reset(seed=..., options=...)  ->  observation, or (observation, info)
    step(action)                  ->  (observation, reward, done, info), or (observation, reward, terminated, truncated, info)

`reset` may also take fewer arguments, or none. An action is a text; if the environment has an `action_space` of numbers,
they are written as numbers, and named if it has `action_names` (a list). Everything else is optional:

    info["admissible_commands"]   the actions that would be accepted now (or info["action_mask"], for numbered ones)
    info["goal"], info["won"], info["score"], info["max_score"], info["moves"], info["accepted"], info["shown"]
    env.tasks()                   a list of ids, or of {"id": ..., "goal": ...}; reset then gets options["task"]
    env.peek()                    what is known about the state, as a dictionary
    env.hint()                    a text for a person
    env.snapshot(), env.restore(snapshot)    any Python value
    env.deterministic             True if the same seed and actions always give the same answers

docs/ENVIRONMENTS.md describes the protocol. Only the standard library is used.
"""

import importlib
import inspect
import json
import os
import sys
import traceback

PROTOCOL = 1


class Rejected(Exception):
    """A request that the environment can't fulfil; it is as it was before."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def text_of(observation):
    if isinstance(observation, str):
        return observation
    if hasattr(observation, "tolist"):  # an array of numpy
        observation = observation.tolist()
    return json.dumps(observation, ensure_ascii=False, default=str)


def plain(value):
    """Returns what JSON can express of a value; the rest as text."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # an array or a number of numpy
        return plain(value.tolist())
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return number(value) if isinstance(value, float) else str(value)


def number(value):
    """Returns a number that JSON can express, or nothing."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        return None
    return value if value == value and abs(value) != float("inf") else None


class Bridge:
    def __init__(self, env, name):
        self.env = env
        self.name = name
        self.is_reset = False
        self.admissible = None
        self.unchanged = {"observation": "", "reward": 0.0, "done": False}
        self.snapshots = {}
        self.snapshot_count = 0
        space = getattr(env, "action_space", None)
        self.action_count = getattr(space, "n", None)
        self.action_names = getattr(env, "action_names", None)

    def has(self, *names):
        return all(callable(getattr(self.env, name, None)) for name in names)

    # The operations of the protocol, each with the request and without `id` and `ok` of the reply.

    def hello(self, request):
        if request.get("protocol") != PROTOCOL:
            error = {"code": "version", "message": "only version 1 is spoken", "fatal": True, "supported": [PROTOCOL]}
            return {"ok": False, "error": error}
        caps = ["valid_actions", "seed"]
        caps += [cap for cap in ("tasks", "peek", "hint") if self.has(cap)]
        if self.has("snapshot", "restore"):
            caps.append("snapshot")
        versions = {"python": sys.version.split()[0]}
        package = sys.modules.get(type(self.env).__module__.split(".")[0])
        if hasattr(package, "__version__"):
            versions[package.__name__] = str(package.__version__)
        return {
            "protocol": PROTOCOL,
            "name": self.name,
            "versions": versions,
            "caps": caps,
            "deterministic": getattr(self.env, "deterministic", None),
            "enumeration": "free",
        }

    def tasks(self, request):
        rows = [row if isinstance(row, dict) else {"id": str(row)} for row in self.env.tasks()]
        if request.get("split") is not None:
            rows = [row for row in rows if row.get("split") == request["split"]]
        first = request.get("offset", 0)
        last = first + request.get("limit", len(rows))
        reply = {"tasks": rows[first:last], "total": len(rows)}
        if last < len(rows):
            reply["next"] = last
        return reply

    def reset(self, request):
        options = dict(request.get("options") or {})
        if request.get("task") is not None:
            options["task"] = request["task"]
        accepted = inspect.signature(self.env.reset).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
        given = {"seed": request.get("seed"), "options": options}
        given = {key: value for key, value in given.items() if takes_all or key in accepted}
        self.is_reset = False
        try:
            result = self.env.reset(**given)
        except (LookupError, ValueError) as problem:
            raise Rejected("bad_task", f"{type(problem).__name__}: {problem}") from problem
        observation, info = result if isinstance(result, tuple) else (result, {})
        self.is_reset = True
        return self.turn(observation, 0.0, False, False, info)

    def step(self, request):
        if not self.is_reset:
            raise Rejected("not_reset", "reset comes first")
        action = request["action"]
        if self.action_count is not None:
            index = self.action_index(action)
            if index is None:
                names = ", ".join(self.all_actions())
                return {**self.unchanged, "observation": f"Not an action: {action}. Actions: {names}.", "accepted": False}
            action = index
        observation, reward, done, *rest = self.env.step(action)
        truncated = rest[0] if len(rest) == 2 else False
        return self.turn(observation, reward, done, truncated, rest[-1])

    def valid_actions(self, request):
        actions = self.action_texts()
        prefix = request.get("prefix") or ""
        actions = [action for action in actions if action.startswith(prefix)]
        return {"actions": actions[: request.get("limit", len(actions))], "total": len(actions), "pure": True}

    def peek(self, request):
        return {"peek": plain(self.env.peek()), "pure": True}

    def hint(self, request):
        return {"hint": str(self.env.hint())}

    def snapshot(self, request):
        self.snapshot_count += 1
        name = f"s{self.snapshot_count}"
        self.snapshots[name] = (self.env.snapshot(), self.admissible, self.unchanged)
        return {"snapshot": name}

    def restore(self, request):
        if request["snapshot"] not in self.snapshots:
            raise Rejected("bad_request", f"no snapshot {request['snapshot']}")
        state, self.admissible, self.unchanged = self.snapshots[request["snapshot"]]
        self.env.restore(state)
        return {}

    def drop(self, request):
        self.snapshots.pop(request["snapshot"], None)
        return {}

    def close(self, request):
        if self.has("close"):
            self.env.close()
        return {}

    # What they share.

    def turn(self, observation, reward, done, truncated, info):
        info = dict(info or {})
        self.admissible = info.pop("admissible_commands", None)
        if self.admissible is None and self.action_count is not None and info.get("action_mask") is not None:
            # The mask of Gymnasium's environments with numbered actions.
            names = self.all_actions()
            self.admissible = [name for name, allowed in zip(names, info["action_mask"]) if allowed]
        reply = {
            "observation": text_of(observation),
            "reward": number(reward) or 0.0,
            "done": bool(done),
            "truncated": bool(truncated),
            "accepted": bool(info.pop("accepted", True)),
        }
        for name in ("goal", "won", "score", "max_score", "moves", "progress", "shown"):
            if info.get(name) is not None:
                reply[name] = plain(info.pop(name))
        # TextWorld's word for the goal.
        if info.get("objective"):
            reply.setdefault("goal", str(info.pop("objective")))
        if info:
            reply["info"] = plain(info)
        # The answer to an action that isn't passed on.
        self.unchanged = {**reply, "reward": 0.0}
        return reply

    def action_texts(self):
        if self.admissible is not None:
            return [str(action) for action in self.admissible]
        return self.all_actions()

    def all_actions(self):
        if self.action_names is not None:
            return list(self.action_names)
        return [str(index) for index in range(int(self.action_count or 0))]

    def action_index(self, action):
        action = action.strip()
        if self.action_names is not None and action in self.action_names:
            return list(self.action_names).index(action)
        if action.isdigit() and int(action) < self.action_count:
            return int(action)
        return None

    OPERATIONS = (
        "hello tasks reset step valid_actions peek hint snapshot restore drop close".split()
    )
    # What the environment must have for an operation.
    NEEDS = {"tasks": ("tasks",), "peek": ("peek",), "hint": ("hint",)}
    NEEDS.update({name: ("snapshot", "restore") for name in ("snapshot", "restore", "drop")})

    def reply(self, request):
        operation = request.get("op")
        error = {"fatal": False}
        try:
            if operation not in self.OPERATIONS or not self.has(*self.NEEDS.get(operation, ())):
                raise Rejected("unsupported", str(operation))
            answer = getattr(self, operation)(request)
            return {"id": request["id"], "ok": True, **answer}
        except Rejected as rejected:
            error.update(code=rejected.code, message=str(rejected))
        except Exception as problem:  # whatever an environment raises
            traceback.print_exc()
            error.update(code="env_error", message=f"{type(problem).__name__}: {problem}")
        return {"id": request.get("id"), "ok": False, "error": error}


def main():
    if len(sys.argv) < 2 or ":" not in sys.argv[1]:
        sys.exit(__doc__.splitlines()[0])
    # Standard output is for replies alone: what libraries print there goes to standard error.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    sys.path[:0] = [os.getcwd(), os.path.dirname(os.path.abspath(__file__))]
    module, _, factory = sys.argv[1].partition(":")
    arguments = dict(argument.split("=", 1) for argument in sys.argv[2:])
    env = getattr(importlib.import_module(module), factory)(**arguments)
    bridge = Bridge(env, factory)
    for line in requests:
        request = json.loads(line)
        json.dump(bridge.reply(request), replies, ensure_ascii=True, allow_nan=False)
        replies.write("\n")
        replies.flush()
        if request.get("op") == "close":
            break


if __name__ == "__main__":
    main()
