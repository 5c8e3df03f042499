"""Tries an installed `retrospect` as somebody without Rust, a repository or a configuration: COMMAND FOLDER.

Everything runs in FOLDER with an empty home. Fails with what was printed if something is missing.
"""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

command, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
home = os.path.join(folder, "home")
os.makedirs(home, exist_ok=True)
variables = {"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def output(*arguments):
    """Returns what the program prints without a terminal."""
    done = subprocess.run([command, *arguments], cwd=folder, env=variables, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{arguments}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def screen_shows(words, *arguments):
    """Runs the program in a terminal until all words have appeared, and ends it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(command, [command, *arguments], variables)
    # A new pseudo-terminal has no rows, in which nothing can be drawn.
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    seen, deadline = b"", time.monotonic() + 60
    while not all(word.encode() in seen for word in words):
        if time.monotonic() > deadline:
            os.kill(pid, 9)
            sys.exit(f"{arguments}: the screen never showed {words}\n{seen.decode(errors='replace')}")
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536)
    os.kill(pid, 15)
    try:
        # What is left is read, so that the program isn't stuck on a full terminal.
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass
    os.waitpid(pid, 0)


print(output("--version").strip())
assert "hot-mug-taught" in output("demo", "--list")
assert "won" in output("demo"), "a demo without a terminal prints its transcript"
lines = [json.loads(line) for line in output("run", "--headless", "--json", "--only", "1").splitlines()]
assert lines[0]["type"] == "run" and lines[-1]["type"] == "summary", lines[-1]
assert "household" in output("run", "--help")
output("export", "--last", "--format", "html", "--out", os.path.join(folder, "report.html"))
for theme in ("dark", "light", "mono"):
    screen_shows(["hot", "mug"], "demo", "--theme", theme)
screen_shows(["household"])
print("installed copy: demo, start screen, run --headless and export work")
