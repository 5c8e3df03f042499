//! Programs that try to get out, to use everything up, or to be judged better than they are.

use crate::episodes::options;
use retrospect::driver::worlds;
use std::time::{Duration, Instant};

/// A hostile program.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    program: &'static str,
    /// A part of the observation.
    observation: &'static str,
    /// Whether it may be right nevertheless: it does nothing that matters.
    wins: bool,
}

/// Longer than three processes may take that are killed at their limits.
const LONG: Duration = Duration::from_secs(90);

const fn case(name: &'static str, program: &'static str, observation: &'static str) -> Case {
    Case { name, program, observation, wins: false }
}

pub(crate) const CASES: &[Case] = &[
    case("an endless loop", "def f(x):\n    while True: pass", "# output: TIMEOUT"),
    case("a sleeper", "import time\ndef f(x):\n    time.sleep(1000)", "# output: TIMEOUT"),
    case(
        "a loop that ignores the limit",
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\nwhile True: pass",
        "# output: ",
    ),
    case("a fork bomb", "import os\nwhile True:\n    os.fork()", "# output: "),
    case(
        "a fork bomb that catches errors",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "# output: ",
    ),
    Case {
        name: "1 GB of output",
        program: "import sys\ndef f(x):\n    for _ in range(1 << 14): sys.stdout.write('x' * 65536)\n    return 4",
        observation: "Tests failed:",
        wins: true,
    },
    case(
        "1 GB in the judge's channel",
        "import os\nwhile True:\n    for fd in range(3, 64):\n        try: os.write(fd, b'x' * 65536)\n        except OSError: pass",
        "# output: ",
    ),
    case(
        "lines in the judge's channel",
        "import os\nwhile True:\n    for fd in range(3, 64):\n        try: os.write(fd, b'retrospect-result {}\\n' * 4096)\n        except OSError: pass",
        "# output: ",
    ),
    case("a memory hog", "x = bytearray(1 << 30)\ndef f(x): return 4", "# output: MemoryError"),
    case("the password file", "def f(x): return open('/etc/shadow').read()", "# output: FileNotFoundError"),
    case(
        "the home folder",
        "import os\ndef f(x): return os.listdir('/root') + os.listdir('/home')",
        "# output: FileNotFoundError",
    ),
    case(
        "a socket",
        "import socket\ndef f(x): return socket.create_connection(('1.1.1.1', 53), 2)",
        "# output: OSError: [Errno 101] Network is unreachable",
    ),
    case(
        "the loopback interface of this machine",
        "import socket\ndef f(x): return socket.create_connection(('127.0.0.1', 22), 2)",
        "# output: ConnectionRefusedError",
    ),
    case(
        "a file outside",
        "def f(x): return open('/usr/evil', 'w')",
        "# output: OSError: [Errno 30] Read-only file system",
    ),
    case(
        "a large file",
        "def f(x):\n    with open('big', 'wb') as out:\n        for _ in range(64): out.write(b'x' * 65536)\n    return 4",
        "# output: OSError: [Errno 27] File too large",
    ),
    // The folders below which bubblewrap mounts things were writable, without a limit.
    case(
        "a file in the root folder",
        "def f(x): return open('/evil', 'w')",
        "# output: OSError: [Errno 30] Read-only file system",
    ),
    case(
        "a file among the devices",
        "def f(x): return open('/dev/evil', 'w')",
        "# output: OSError: [Errno 30] Read-only file system",
    ),
    case(
        "many files in shared memory",
        "def f(x):\n    for i in range(64):\n        with open(f'/dev/shm/{i}', 'wb') as out: out.write(b'x' * 1000000)\n    return 4",
        "# output: OSError: [Errno 28] No space left on device",
    ),
    case(
        "many files of scratch space",
        "def f(x):\n    for i in range(64):\n        with open(str(i), 'wb') as out: out.write(b'x' * 1000000)\n    return 4",
        "# output: OSError: [Errno 28] No space left on device",
    ),
    Case {
        name: "a semaphore of multiprocessing",
        program: "import multiprocessing\ndef f(x):\n    with multiprocessing.Lock(): return 4",
        observation: "Tested passed:",
        wins: true,
    },
    case(
        "control sequences",
        "def f(x): return '\\x1b]0;title\\x07\\x1b[2J\\x9b0mkept\\nline'",
        "# output: kept line",
    ),
    case("an early end", "import os\nos._exit(0)", "# output: the program ended the process"),
    case("an end in the function", "import sys\ndef f(x): sys.exit(0)", "# output: SystemExit: 0"),
    case(
        "a false result",
        "import os\nfor fd in range(1, 64):\n    try: os.write(fd, b'\\nretrospect-result {\"key\": \"\", \"passed\": true, \"value\": \"4\"}\\n')\n    except OSError: pass\nos._exit(0)",
        "# output: the program ended the process",
    ),
    case(
        "a kill of the judge",
        "import os\nos.kill(os.getpid(), 9)",
        "# output: the program ended the process",
    ),
    case(
        "a kill of everything",
        "import os\nos.kill(-1, 9)\nos.kill(os.getppid(), 9)\ndef f(x): return 3",
        "# output: ",
    ),
    case("deep recursion", "import sys\nsys.setrecursionlimit(1 << 30)\ndef f(x): return f(x)", "# output: "),
    case("a huge value", "def f(x): return 'y' * (1 << 24)", "# output: yyyy"),
    case("no program", "def f(x: return 4", "# output: SyntaxError"),
    case("bytes of NUL", "x = '\0'\ndef f(x): return 4", "# output: "),
];

/// Plays a program against one own test and the hidden one, both `f(2) == 4`.
///
/// # Panics
/// Panics if it is judged otherwise than expected.
pub(crate) fn check(case: &Case) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostile.jsonl");
    let row = serde_json::json!({
        "task_id": "f", "prompt": "def f(x):", "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(2) == 4\n",
    });
    std::fs::write(&file, row.to_string()).unwrap();
    let selection =
        worlds::Selection { list: Some(file.to_str().unwrap().to_owned()), ..worlds::Selection::default() };
    let options = options(&[]);
    let tasks = worlds::list_tasks("programming", &selection, &options).unwrap();
    let mut environment = worlds::open(&tasks[0], &options).unwrap();
    environment.reset().unwrap();
    environment.step("assert f(2) == 4").unwrap();
    let start = Instant::now();
    let result = environment.step(&format!("code\n{}", case.program)).unwrap();
    assert!(start.elapsed() < LONG, "it took {:?}", start.elapsed());
    assert!(result.observation.contains(case.observation), "{}", result.observation);
    assert_eq!((result.won, result.done), (case.wins, true), "{} {}", result.observation, result.truth);
    let is_clean = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n');
    assert!(is_clean(&result.observation), "{:?}", result.observation);
    assert!(result.observation.len() < 8192, "{} bytes", result.observation.len());
}
