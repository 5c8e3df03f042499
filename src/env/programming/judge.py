# Runs one case for the programming environment and reports the result. The case is a line of JSON on standard input; the
# result is a line on what was standard output. The tested program has neither: its streams lead nowhere. The result counts
# only with the case's key, so a program that ends early, or prints something like a result, has passed nothing.
import ast, json, os, signal, sys


class LimitReached(BaseException):
    pass


def on_limit(*_):
    raise LimitReached()


def describe(error):
    if isinstance(error, LimitReached):
        return "TIMEOUT"
    text = str(error)
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def is_test(line):
    try:
        tree = ast.parse(line)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return len(tree.body) == 1 and isinstance(tree.body[0], ast.Assert)


def tested_expression(test):
    condition = ast.parse(test).body[0].test
    tested = condition.left if isinstance(condition, ast.Compare) else condition
    return compile(ast.fix_missing_locations(ast.Expression(tested)), "test", "eval")


def run(case):
    if case["mode"] == "check":
        return {"tests": [is_test(line) for line in case["lines"]]}
    signal.signal(signal.SIGALRM, on_limit)
    signal.setitimer(signal.ITIMER_REAL, case["limit"])
    names = {"__name__": "solution"}
    try:
        exec(compile("from typing import *\n" + case["program"], "program", "exec"), names)
        if case["mode"] == "value":
            return {"value": str(eval(tested_expression(case["test"]), names))[:2000]}
        exec(compile(case["test"], "test", "exec"), names)
        return {"passed": True}
    except BaseException as error:
        return {"error": describe(error)[:2000]}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    print("retrospect-ready", file=out, flush=True)
    case = json.loads(sys.stdin.readline())
    key = case.pop("key")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    try:
        result = run(case)
    except BaseException as error:
        result = {"error": describe(error)[:2000]}
    result["key"] = key
    print("\nretrospect-result " + json.dumps(result), file=out, flush=True)
    os._exit(0)


main()
