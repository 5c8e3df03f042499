//! An environment that is another program: a corridor, played by a child process that misbehaves if its task says so. Every
//! failure is reported, the process is replaced, the recorded actions are replayed, and the episode goes on as if nothing
//! had happened.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

#[path = "rig/processes.rs"]
mod processes;
#[path = "rig/run.rs"]
mod run;

use processes::wait_until_gone;
use retrospect::catalog::{self, EnvironmentDefaults, EnvironmentEntry, Extension, TaskFacts};
use retrospect::domain::{EnvInfo, ListingCost, RunSpec, StepResult, Task};
use retrospect::driver::{AnswerDeadlines, Driver, Handle, RunConfig, worlds};
use retrospect::engine::{Command, State};
use retrospect::env::external::{ChildCommand, ChildProcess, IdleChildren};
use retrospect::env::{
    EnvError, Environment, EnvironmentOption, OptionValues, TaskAccess, TaskError, TaskOptions, TaskSource,
    TimeLimits,
};
use retrospect::journal::Session;
use retrospect::prompt::interface::PLAIN_TEXTS;
use retrospect::symbolic::NO_RULES;
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The cell to reach.
const GOAL: u32 = 4;
const LIMITS: TimeLimits = TimeLimits {
    open: Duration::from_secs(120),
    step: Duration::from_secs(60),
    list: Duration::from_secs(30),
};
/// The limit of a step that may hang.
const SHORT: Duration = Duration::from_secs(2);
/// A limit that never comes first.
const TOO_LONG: Duration = Duration::from_secs(3_600);

/// The program. A reset names a folder and what goes wrong there, once; the folder records the processes that were used.
const CORRIDOR: &str = r#"
fault() { [ "$fault" = "$1" ] && mkdir "$folder/$1" 2>/dev/null; }
stall() { sleep 1000 & echo $! >"$folder/sleeper"; while :; do wait; done; }
while read -r word rest; do
  case $word in
    reset)
      fault=${rest%% *} folder=${rest#* } cell=0
      echo $$ >>"$folder/pids"
      if fault stall_reset; then stall; fi
      echo "= 0" ;;
    step)
      if [ "$cell" = 2 ]; then
        if fault hang; then while :; do sleep 1000; done; fi
        if fault stall_step; then stall; fi
        if fault die; then printf '\033[31mTraceback:\033[0m out of cells\n' >&2; exit 3; fi
        if fault rubbish; then echo "= two"; continue; fi
        if fault flood; then yes noise | head -n 200000; yes noise | head -n 200000 >&2; fi
        if fault refuse; then echo "= refused"; continue; fi
      fi
      [ "$rest" = east ] && cell=$((cell + 1))
      echo "= $cell" ;;
    list)
      if fault list; then exit 4; fi
      echo "= 0" ;;
  esac
done
"#;

static IDLE: IdleChildren = IdleChildren::new(2);

const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "corridor",
    tasks: &CorridorTasks,
    rules: &NO_RULES,
    settings: &[],
    options: &[PROGRAM],
    defaults: EnvironmentDefaults::NONE,
    templates: &[],
    public_files: None,
    rule_based_reply: None,
    texts: PLAIN_TEXTS,
    draw_picture: retrospect::env::list_values,
    task_facts: TaskFacts::NONE,
};

/// The file of the program. Without one, its text above is used.
const PROGRAM: EnvironmentOption = EnvironmentOption {
    name: "corridor.program",
    meaning: "the shell script of the corridor",
    values: OptionValues::Path,
    variable: "CORRIDOR_PROGRAM",
};

struct CorridorTasks;

impl TaskSource for CorridorTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let words = match access.options.path(&PROGRAM) {
            Some(path) => vec!["/bin/sh".into(), access.absolute_path(path).into()],
            None => ["/bin/sh", "-c", CORRIDOR].map(Into::into).to_vec(),
        };
        let command = ChildCommand {
            words,
            variables: Vec::new(),
            folder: None,
            reply_prefix: "= ",
            has_events: false,
        };
        Ok(Box::new(Corridor {
            child: ChildProcess::start_or_reuse(&command, &IDLE)?,
            task: task.id.clone(),
        }))
    }

    fn find(&self, text: &str, _: TaskAccess) -> Result<Task, TaskError> {
        Ok(task(text))
    }

    fn list(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(vec![task("none /tmp")])
    }

    fn time_limits(&self, _: TaskAccess) -> Option<TimeLimits> {
        Some(LIMITS)
    }

    fn is_external(&self) -> bool {
        true
    }
}

fn task(id: &str) -> Task {
    Task {
        env: "corridor".to_owned(),
        id: id.to_owned(),
        goal: format!("reach cell {GOAL}"),
        task_type: None,
        difficulty: None,
        seed: 0,
    }
}

struct Corridor {
    child: ChildProcess,
    task: String,
}

impl Corridor {
    fn request(&mut self, request: &str, limit: Duration) -> Result<StepResult, EnvError> {
        let reply = self.child.exchange(request, limit)?;
        let text = reply.trim_start_matches("= ");
        if text == "refused" {
            return Err(EnvError::Refused { what: "not now".to_owned() });
        }
        let cell: u32 = text.parse().map_err(|_| self.child.reject_reply(format!("{text:?} is no cell")))?;
        Ok(StepResult {
            observation: format!("You are in cell {cell}."),
            progress: f64::from(cell) / f64::from(GOAL),
            done: cell == GOAL,
            won: cell == GOAL,
            valid: true,
            shown: json!({ "cell": cell }),
            ..StepResult::default()
        })
    }
}

impl Environment for Corridor {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let limit = if self.task.starts_with("stall") { TOO_LONG } else { LIMITS.open };
        self.request(&format!("reset {}", self.task.clone()), limit)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let limit = match self.task.split(' ').next() {
            Some("hang") => SHORT,
            Some("stall_step") => TOO_LONG,
            _ => LIMITS.step,
        };
        self.request(&format!("step {action}"), limit)
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.request("list", LIMITS.list)?;
        Ok(["east", "wait"].map(str::to_owned).to_vec())
    }
}

fn extend_catalog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        catalog::extend(Extension { methods: &[], environments: &[&ENTRY] }).unwrap();
    });
}

fn run_config(spec: &RunSpec) -> RunConfig {
    let open = Arc::new(|task: &Task| worlds::open(task, &TaskOptions::default()));
    RunConfig::from_spec(spec, Arc::new(catalog::builtin_templates()), open, Duration::ZERO).unwrap()
}

/// A session that a person plays.
struct Played {
    handle: Handle,
    thread: JoinHandle<()>,
    session: Session,
}

impl Played {
    fn begin(root: &Path, tasks: Vec<Task>) -> Self {
        extend_catalog();
        let deadlines = run_config(&run::spec("react", tasks.clone())).answer_deadlines;
        Self::begin_with(root, tasks, deadlines)
    }

    fn begin_with(root: &Path, tasks: Vec<Task>, answer_deadlines: AnswerDeadlines) -> Self {
        extend_catalog();
        let spec = run::person_spec(tasks);
        let meta = run::meta("corridor", &spec);
        let config = RunConfig { answer_deadlines, ..run_config(&spec) };
        let (handle, thread, session) = Driver::start(root, meta, spec.clone(), Vec::new(), config).unwrap();
        handle.send(Command::Step);
        Self { handle, thread, session }
    }

    fn resume(self) -> Self {
        let session = self.session.clone();
        self.end();
        let resumed = Driver::resume(&session.dir, |spec| Ok(run_config(spec))).unwrap();
        Self { handle: resumed.handle, thread: resumed.thread, session }
    }

    /// Waits until an action can be chosen, or a call has failed.
    fn wait(&self) -> Arc<State> {
        run::until(&self.handle, |s| {
            let asks = s.open_episode().is_some_and(|e| e.first_observation.is_some()) && s.is_waiting();
            s.run_over || s.failed_call.is_some() || s.divergence.is_some() || asks && s.calls.is_empty()
        });
        self.handle.store.head()
    }

    /// Goes east until the episode ends, and retries what fails. Returns the message and the advice of each failure.
    fn walk(&self, steps: u32) -> Vec<(String, String)> {
        let mut failures = Vec::new();
        for _ in 0..steps {
            failures.extend(run::act_and_retry(&self.handle, "east", None));
            assert_eq!(self.handle.store.head().divergence, None);
        }
        failures
    }

    fn list(&self) -> Vec<String> {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(self.handle.admissible())
    }

    fn end(self) {
        self.handle.quit();
        self.thread.join().unwrap();
    }
}

/// Returns the processes that have played in a folder, in order; one is named for each reset.
fn pids(folder: &Path) -> Vec<i32> {
    let text = fs::read_to_string(folder.join("pids")).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn an_episode_goes_on_after_every_failure() {
    let (replays, kept) =
        ("retry: the environment is reopened and the actions are replayed", "choose another task");
    let cases = [
        ("none", "", "", 1),
        ("flood", "", "", 1),
        ("hang", "did not answer within 2000 ms", replays, 2),
        ("die", "its process ended (exit status: 3); last output: Traceback: out of cells", replays, 2),
        ("rubbish", "violated its protocol: \"two\" is no cell", replays, 2),
        ("refuse", "not now", kept, 1),
    ];
    let mut expected = None;
    for (fault, message, hint, resets) in cases {
        let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let id = format!("{fault} {}", folder.path().display());
        let played = Played::begin(root.path(), vec![task(&id)]);
        let failures = played.walk(GOAL);
        assert_eq!(failures.len(), usize::from(!message.is_empty()), "{fault}: {failures:?}");
        for (said, advice) in failures {
            assert!(said.contains(message) && advice.contains(hint), "{fault}: {said}; {advice}");
        }
        let answers = run::answers(&played.handle.store.head());
        assert!(answers.last().unwrap().won && answers.len() == GOAL as usize + 1, "{fault}: {answers:?}");
        assert_eq!(answers, *expected.get_or_insert_with(|| answers.clone()), "{fault}");
        let pids = pids(folder.path());
        assert_eq!(pids.len(), resets, "{fault}: {pids:?}");
        if let [first, second] = pids[..] {
            assert_ne!(first, second);
            wait_until_gone(first);
        }
        played.end();
    }
}

/// Regression: an environment that kept a longer limit than the driver, or none, kept its process for as long.
#[test]
fn the_process_of_an_abandoned_environment_is_killed_at_once() {
    // Only what hangs has a short deadline.
    let (long, short) = (TimeLimits::uniform(Duration::from_secs(120)), Duration::from_secs(3));
    let cases = [
        ("stall_reset", TimeLimits { open: short, ..long }),
        ("stall_step", TimeLimits { step: short, ..long }),
    ];
    // At the same time, since both mostly wait.
    std::thread::scope(|scope| {
        for (fault, limits) in cases {
            scope.spawn(move || assert_killed_at_once(fault, limits));
        }
    });
}

fn assert_killed_at_once(fault: &str, limits: TimeLimits) {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = format!("{fault} {}", folder.path().display());
    let played = Played::begin_with(root.path(), vec![task(&id)], Arc::new(move |_| limits));
    let mut failures = Vec::new();
    while let Some((_, failure)) = &played.wait().failed_call {
        failures.push(failure.message.clone());
        played.handle.send(Command::Retry);
        run::until(&played.handle, |s| s.failed_call.is_none());
    }
    failures.extend(played.walk(GOAL).into_iter().map(|(message, _)| message));
    // On a busy machine, what doesn't hang may exceed the deadline as well.
    assert!(!failures.is_empty(), "{fault}");
    assert!(failures.iter().all(|m| m.contains("did not answer within 3000 ms")), "{fault}: {failures:?}");
    assert!(run::answers(&played.handle.store.head()).last().unwrap().won, "{fault}");
    let sleeper = fs::read_to_string(folder.path().join("sleeper")).unwrap();
    let pids = pids(folder.path());
    let (_, abandoned) = pids.split_last().unwrap();
    assert!(!abandoned.is_empty(), "{fault}: {pids:?}");
    for pid in abandoned.iter().copied().chain([sleeper.trim().parse().unwrap()]) {
        wait_until_gone(pid);
    }
    played.end();
}

/// The environment's own limit comes first, so that it can end its process.
#[test]
fn the_driver_waits_longer_than_the_environment() {
    extend_catalog();
    let config = run_config(&run::spec("react", vec![task("none /tmp")]));
    let deadlines = (config.answer_deadlines)(&task("none /tmp"));
    let seconds = [deadlines.open, deadlines.step, deadlines.list].map(|limit| limit.as_secs());
    assert_eq!(seconds, [140, 80, 50]);
    let native = (config.answer_deadlines)(&run::household("easy/heat/23"));
    assert_eq!(native, TimeLimits::uniform(Duration::from_secs(60)));
}

#[test]
fn a_process_that_dies_while_it_lists_is_replaced_at_once() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let played = Played::begin(root.path(), vec![task(&format!("list {}", folder.path().display()))]);
    played.walk(2);
    assert_eq!(played.list(), Vec::<String>::new());
    assert_eq!(played.list(), ["east", "wait"]);
    assert_eq!(played.walk(GOAL - 2), []);
    assert_eq!(pids(folder.path()).len(), 2);
    played.end();
}

/// The process of the first episode plays the second one, and it is never beside another one.
#[test]
fn a_process_is_used_for_the_next_episode_and_by_a_resumed_session() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = format!("none {}", folder.path().display());
    let played = Played::begin(root.path(), vec![task(&id), task(&id)]);
    played.walk(GOAL);
    played.handle.send(Command::Step);
    run::until(&played.handle, |s| s.ended_episodes.len() == 1 && s.open_episode().is_some());
    played.walk(2);
    let used = pids(folder.path());
    assert!(used.len() == 2 && used[0] == used[1], "{used:?}");
    let played = played.resume();
    assert_eq!(played.walk(GOAL - 2), []);
    let state = played.handle.store.head();
    assert!(state.divergence.is_none() && run::answers(&state).last().unwrap().won);
    played.end();
}

/// Not a test: the program with the environment. [`corridor_program`] runs it.
#[test]
#[ignore = "reads its input"]
fn program_with_the_corridor() {
    extend_catalog();
    let task = std::env::var("CORRIDOR_TASK").unwrap();
    let words = std::env::var("CORRIDOR_ARGUMENTS").unwrap();
    let args = ["retrospect"].into_iter().chain(words.split_whitespace());
    let args = args.chain(["--env", "corridor", "--task", &task]);
    let _ = retrospect::cli::main(args.map(Into::into).collect::<Vec<_>>());
}

/// Returns the program, which plays in a folder. `arguments` are separated by spaces.
fn corridor_program(arguments: &str, folder: &Path) -> std::process::Command {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program
        .args(["--exact", "program_with_the_corridor", "--ignored", "--nocapture"])
        .env("CORRIDOR_TASK", format!("none {}", folder.display()))
        .env("CORRIDOR_ARGUMENTS", arguments)
        .env("TMPDIR", folder)
        .env("RETROSPECT_SESSIONS", folder.join("sessions"))
        .env("XDG_CONFIG_HOME", folder.join("none"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    program
}

/// Regression: a second process played the same actions, for two fields of the lines.
#[test]
fn json_lines_start_no_second_process() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "run --headless --json --actor rules --mentor none --method react --max-steps 3";
    let output = corridor_program(arguments, folder.path()).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let steps: Vec<_> =
        lines.filter(|line| line["type"] == "step" || line["type"] == "episode_start").collect();
    assert_eq!(steps.len(), 4, "{text}");
    for line in steps {
        assert_eq!((&line["admissible"], &line["world"]), (&json!([]), &json!({})), "{line}");
    }
    // One reset checks that the task can be played; the same process then plays it.
    let pids = pids(folder.path());
    assert!(pids.len() == 2 && pids[0] == pids[1], "{pids:?}");
}

/// The path of the program is an option of the environment. It may be relative, and sessions don't record it: on another
/// machine it leads elsewhere.
#[test]
fn the_program_is_found_by_a_path_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("corridor.sh"), CORRIDOR.replace("= $cell", "= 4")).unwrap();
    let arguments = "run --headless --actor rules --mentor none --method react --max-steps 3";
    let program = |path: &str| {
        let mut program = corridor_program(arguments, folder.path());
        program.current_dir(folder.path()).env("CORRIDOR_PROGRAM", path);
        program.stdin(Stdio::null()).output().unwrap()
    };
    let text = String::from_utf8_lossy(&program("corridor.sh").stdout).into_owned();
    assert!(text.contains("You are in cell 4."), "{text}");
    let session = fs::read_dir(folder.path().join("sessions")).unwrap().next().unwrap().unwrap().path();
    let journal = fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    assert!(journal.contains("You are in cell 4.") && !journal.contains("corridor.program"), "{journal}");
    let output = program("missing.sh");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(text.contains("missing.sh"), "{text}");
}

#[test]
fn the_program_leaves_no_process_behind() {
    for is_killed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut program = corridor_program("play", folder.path()).spawn().unwrap();
        let mut input = program.stdin.take().unwrap();
        input.write_all(b"east\neast\n").unwrap();
        let written = || fs::read_to_string(folder.path().join("pids")).unwrap_or_default();
        let start = Instant::now();
        while !written().ends_with('\n') {
            assert!(start.elapsed() < Duration::from_secs(60), "nothing was opened");
            std::thread::sleep(Duration::from_millis(5));
        }
        if is_killed {
            program.kill().unwrap();
        }
        drop(input);
        let output = program.wait_with_output().unwrap();
        if !is_killed {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("You are in cell 2."), "{text}");
        }
        // The process was idle when the program ended, or in use when it was killed.
        let pids = pids(folder.path());
        assert_eq!(pids.len(), 1);
        wait_until_gone(pids[0]);
        let start = Instant::now();
        while fs::read_dir(folder.path()).unwrap().count() > 1 {
            assert!(start.elapsed() < Duration::from_secs(60), "its folder is still there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
