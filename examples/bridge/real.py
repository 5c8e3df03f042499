"""Environments of installed packages for the bridge: TextWorld's games and what `gymnasium.make` makes."""


import re

# What TextWorld prints for a terminal: the title in large letters, and the prompt with the status.
TITLE = re.compile(r"\A\s*(?:[ \\|$_/><]*\n)+")
PROMPT = re.compile(r"\s*^>.*\Z", re.MULTILINE)


def without_frame(text):
    return PROMPT.sub("", TITLE.sub("", text)).strip()


class TextWorldGame:
    """A game of TextWorld, with its commands, goal and score. The second value of its `step` is the score, so the reward is
    the difference from the score before."""

    # The same game and commands give the same texts.
    deterministic = True

    def __init__(self, path):
        import textworld.gym
        from textworld import EnvInfos

        infos = EnvInfos(
            admissible_commands=True, objective=True, score=True, max_score=True, won=True, moves=True,
            inventory=True,
        )
        # The limit on steps is the run's.
        name = textworld.gym.register_game(path, infos, max_episode_steps=1_000_000)
        self.env = textworld.gym.make(name)
        self.known = {}

    def reset(self):
        text, info = self.env.reset()
        self.score = info["score"]
        return without_frame(text), self.info(info)

    def step(self, command):
        text, score, done, info = self.env.step(command)
        reward, self.score = score - self.score, score
        return without_frame(text), reward, done, self.info(info)

    def info(self, info):
        info = dict(info)
        info["admissible_commands"] = sorted(info["admissible_commands"])
        self.known = {"inventory": info.pop("inventory")}
        return info

    def peek(self):
        return self.known

    def close(self):
        self.env.close()


def textworld_game(path):
    return TextWorldGame(path)


def gymnasium_make(id, names=None, deterministic=None, **arguments):
    """An environment of Gymnasium. `names` are the names of its numbered actions, separated by commas; `deterministic=yes`
    says that the same seed and actions always give the same answers."""
    import gymnasium

    env = gymnasium.make(id, **arguments)
    env.deterministic = deterministic == "yes" or None
    if names:
        env.action_names = names.split(",")
    return env
