"""Prints the licences of every crate that the released binary contains, with the texts that their packages ship.

Reads `cargo metadata --format-version 1 --filter-platform TARGET` from standard input. Fails if a crate names no licence.
"""
import json
import pathlib
import sys

metadata = json.load(sys.stdin)
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
root = metadata["resolve"]["root"]

# What the binary is linked from: neither development nor build dependencies.
used, waiting = set(), [root]
while waiting:
    node = waiting.pop()
    if node in used:
        continue
    used.add(node)
    for dependency in nodes[node]["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            waiting.append(dependency["pkg"])

used.discard(root)
rows = sorted((packages[node] for node in used), key=lambda package: (package["name"], package["version"]))
missing = [package["name"] for package in rows if not (package["license"] or package["license_file"])]
if missing:
    sys.exit(f"no licence is stated by: {', '.join(missing)}")

print(f"retrospect contains {len(rows)} crates:\n")
for package in rows:
    print(f"{package['name']} {package['version']}: {package['license'] or package['license_file']}")
texts = {}
for package in rows:
    folder = pathlib.Path(package["manifest_path"]).parent
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")):
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            texts.setdefault(text, []).append(f"{package['name']} {package['version']}")
for text, names in texts.items():
    print(f"\n{'=' * 78}\n{', '.join(names)}\n{'=' * 78}\n\n{text}")
