//! Services of the operating system for the screen: editor, copied text, reports, other sessions, model lists.

mod demos;

use super::config::Config;
use super::effect::ScreenMeasurement;
use super::exporters::{Content, Exporter};
use super::shipped_demos::ShippedDemo;
use super::{opener, saved_pools, seen_hints};
use crate::catalog::short_goal;
use crate::domain::{
    BranchId, LessonId, MeasuredEffect, ModelRole, Prompt, RoleSource, RunSpec, Seq, pluralize,
};
use crate::driver::measure::{measurements_folder, read_results};
use crate::driver::{Store, build_request};
use crate::engine::State;
use crate::files;
use crate::journal::{Branch, LabelChange, Session, SessionFiles};
use crate::lesson_test::LessonTest;
use crate::provider::openai::{OpenAi, list_models};
use crate::provider::{Provider as _, RequestPreview};
use crate::report::{EmbedSession, SessionRecorder, ShownBranch, StepRef, recorded_private_texts};
use crate::text::{escape_markdown, hide_private, hide_private_in_page};
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::glyphs;
use crate::ui::types::{EpisodeRef, ReportQuery, RequestForm, RequestQuery, WorkProgress};
use crate::ui::{FirstRunHint, HostFn, HostServices, ModelList, PromotedLesson};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Returns the services for a session. They write to its folder `dir`; for a demo, to the folder of the sessions; for
/// another session without a folder (from a report), to the working directory.
pub(super) fn host_services(config: &Config, dir: &Path, demo: Option<&'static ShippedDemo>) -> HostServices {
    let (root, own_dir) = (super::locate::sessions_folder(config), dir.to_owned());
    let output_dir = if demo.is_some() { root.clone() } else { dir.to_owned() };
    let (copy_dir, picture_dir, export_dir) = (output_dir.clone(), output_dir.clone(), output_dir);
    let (session_dir, listed_root) = (dir.to_owned(), root.clone());
    let (read_dir, edited_dir) = (dir.to_owned(), dir.to_owned());
    let measured = ScreenMeasurement::new(config, dir, demo.is_some());
    let (planned, listed) = (measured.clone(), measured.clone());
    let (pools_dir, pool_config, promote_config) = (dir.to_owned(), config.clone(), config.clone());
    let (config, model_config, request_config, test_config) =
        (config.clone(), config.clone(), config.clone(), config.clone());
    HostServices {
        edit_text: Arc::new(edit_text),
        save_copy: Arc::new(move |text: &str| save_copied_text(&copy_dir, text)),
        save_picture: Arc::new(move |svg: &str| save_picture(&picture_dir, svg)),
        format_request: Arc::new(move |query: &RequestQuery| format_request(&request_config, query)),
        keep_test: Arc::new(move |test: &LessonTest| {
            let path = super::lesson_tests::tests_path(&super::pool::pool_path(&test_config));
            super::lesson_tests::keep_test(&test_config, &path, test)
        }),
        export_report: Arc::new(
            move |(store, query): &(Arc<Store>, ReportQuery), progress: &WorkProgress| {
                let path = match demo {
                    Some(demo) => demo.export(&export_dir, store, *query, progress),
                    None => export_session(&export_dir, store, *query, progress),
                }?;
                Ok(std::path::absolute(&path).map_or(path, |full| full.display().to_string()))
            },
        ),
        open_file: opener::find_opener(|name| std::env::var_os(name)).map(|opener| -> HostFn<str, ()> {
            Arc::new(move |path: &str| opener::open_file(&opener, path))
        }),
        remember_hint: Arc::new(|next: &FirstRunHint| {
            seen_hints::remember(seen_hints::hints_file().as_deref(), *next)
        }),
        list_comparable: Arc::new(move |store: &Store, progress: &WorkProgress| {
            let mut comparable = demo.map_or_else(|| Ok(Vec::new()), ShippedDemo::others)?;
            comparable.extend(list_comparable(&root, &own_dir, &store.branch(), progress)?);
            Ok(comparable)
        }),
        list_sessions: Arc::new(move |(), progress: &WorkProgress| list_sessions(&listed_root, progress)),
        list_saved_pools: Arc::new(move |state: &State, progress: &WorkProgress| {
            saved_pools::list(&pool_config, &pools_dir, state, progress)
        }),
        promote_lesson: Arc::new(move |promoted: &PromotedLesson| {
            let PromotedLesson { state, lesson, pool } = promoted;
            match lesson {
                Some(lesson) => saved_pools::promote(&promote_config, state, lesson, pool),
                None => saved_pools::promote_all(&promote_config, state, pool),
            }
        }),
        list_models: Arc::new(move |(run, role): &(Arc<RunSpec>, ModelRole), progress: &WorkProgress| {
            list_role_models(&model_config, run, *role, progress)
        }),
        open_comparable: Arc::new(move |target: &EpisodeRef, progress: &WorkProgress| {
            open_comparable(&config, &session_dir, target, progress)
        }),
        list_branches: Arc::new(move |(), progress: &WorkProgress| match demo {
            Some(demo) => demo.branches(),
            None => list_branches(&read_dir, progress),
        }),
        edit_branches: Arc::new(move |edits: &[_]| edit_branches(&edited_dir, edits)),
        plan_effect: Arc::new(move |query, progress| planned.plan(query, progress)),
        run_effect: Arc::new(move |query, progress, send| measured.run(query, progress, send)),
        list_measured: Arc::new(move |(), progress: &WorkProgress| listed.list(progress)),
    }
}

/// Maximum number of sessions listed.
const MAX_LISTED: usize = 500;

/// Lists the other branches of this session and the other sessions, newest first. The search matches their titles.
fn list_comparable(
    root: &Path,
    session_dir: &Path,
    current: &BranchId,
    progress: &WorkProgress,
) -> Result<Vec<EpisodeRef>, String> {
    let mut comparable = Vec::new();
    // A session from a report has no folder and so no branches.
    if !session_dir.as_os_str().is_empty() {
        let branches = read_branches(session_dir, &progress.stage(0, 2))?;
        let parent = branches.iter().find(|branch| branch.header.id == *current);
        let parent = parent.and_then(|branch| branch.header.parent.clone());
        // Newest first, like the sessions.
        for branch in branches.into_iter().rev().filter(|b| b.header.id != *current && b.read_error.is_none())
        {
            let is_parent = Some(&branch.header.id) == parent.as_ref();
            let id = branch.header.id.0;
            let name =
                branch.label.name.filter(|n| !n.is_empty()).map_or_else(String::new, |n| format!(" {n:?}"));
            let title = format!("branch {id}{name}: {}", branch.first_change);
            let outcome = format!("{}, {}", branch.outcome, pluralize(branch.steps as u64, "step"));
            let (goal, tasks) = (branch.goal, branch.tasks.into());
            comparable.push(EpisodeRef {
                branch: Some(id),
                is_parent,
                title,
                outcome,
                goal,
                tasks,
                ..EpisodeRef::default()
            });
        }
    }
    let is_this_session = |dir: &Path| dir.canonicalize().ok() == session_dir.canonicalize().ok();
    let sessions = progress.stage(1, 2).collect(super::locate::recent_sessions(root, MAX_LISTED))?;
    for (session, summary) in sessions.into_iter().flatten() {
        if is_this_session(&session.dir) {
            continue;
        }
        let meta = &session.meta;
        let steps = pluralize(summary.steps as u64, "step");
        let outcome = match summary.episodes {
            0 => format!("not ended, {steps}"),
            _ => format!("{}, {steps}", summary.describe_wins()),
        };
        // A narrow list cuts off the end; the time tells attempts at one task apart.
        let title = format!(
            "{}  {}; {}, {}, {}; {}",
            meta.created.strftime("%m-%d %H:%M"),
            short_goal(&meta.env, &summary.goal),
            meta.env,
            meta.method,
            meta.actor,
            meta.session
        );
        let (dir, goal, tasks) = (session.dir.display().to_string(), summary.goal, summary.tasks.into());
        comparable.push(EpisodeRef {
            session: Some(dir),
            title,
            outcome,
            goal,
            tasks,
            ..EpisodeRef::default()
        });
    }
    Ok(comparable)
}

/// Opens another branch or session, read-only.
fn open_comparable(
    config: &Config,
    session_dir: &Path,
    target: &EpisodeRef,
    progress: &WorkProgress,
) -> Result<Arc<Store>, String> {
    let path = target.session.clone().unwrap_or_else(|| session_dir.display().to_string());
    let wanted =
        super::diff::ComparisonTarget { path, branch: target.branch.clone(), episode: target.episode };
    let opened = super::diff::open_branch(config, &wanted, &|done, all| progress.report(done, all));
    // If it was cancelled, the error says nothing else.
    progress.report(1, 1)?;
    let (opened, branch) = opened.map_err(|error| format!("{error}; {}", error.hint))?;
    let store = Store::default();
    store.set_timeline(opened.timeline, branch);
    Ok(Arc::new(store))
}

/// Lists all sessions, newest first, as name and short description.
fn list_sessions(root: &Path, progress: &WorkProgress) -> Result<Vec<(String, String)>, String> {
    let found = progress.collect(super::locate::recent_sessions(root, MAX_LISTED))?;
    let described = found.into_iter().flatten().map(|(session, summary)| {
        let meta = &session.meta;
        (
            meta.session.clone(),
            format!("{}, {}: {}", meta.method, meta.actor, super::locate::run_label(meta, &summary.goal)),
        )
    });
    Ok(described.collect())
}

/// Lists the models of the server for a role.
fn list_role_models(
    config: &Config,
    run: &RunSpec,
    role: ModelRole,
    progress: &WorkProgress,
) -> Result<ModelList, String> {
    let model = run.role_source(role).model().unwrap_or("");
    let endpoint = super::models::resolve_endpoint(config, role, model, Some(&run.settings));
    let endpoint = endpoint.map_err(|error| {
        // The user chose the model on the screen, not by a flag.
        let flag = format!("--{} {}: ", role.name(), RoleSource::name_of_model(model));
        error.message.strip_prefix(&flag).unwrap_or(&error.message).to_owned()
    })?;
    let server = endpoint.host().to_owned();
    let runtime = super::headless::new_runtime().map_err(|error| error.message)?;
    let openai = OpenAi::new(endpoint);
    let names = runtime.block_on(async {
        tokio::select! {
            biased;
            () = progress.cancelled() => Err("cancelled".to_owned()),
            names = list_models(&openai) => names,
        }
    })?;
    Ok(ModelList { server, names })
}

/// Writes a request as it would be sent, without secrets. An actor or mentor that is no server has no `curl` command.
fn format_request(config: &Config, query: &RequestQuery) -> Result<String, String> {
    let RequestQuery { run, record, prompt, form } = query;
    let accept_truncated = run.settings.typed().accept_truncated;
    let request = build_request(record, Prompt::clone(prompt), accept_truncated);
    let name = run.provider_spec(record.role);
    let preview = match RoleSource::parse(name).model() {
        Some(model) => {
            let endpoint = super::models::resolve_endpoint(config, record.role, model, Some(&run.settings));
            let openai = OpenAi::new(endpoint.map_err(|error| format!("{error}; {}", error.hint))?);
            openai.preview_request(&request)
        }
        None => RequestPreview::without_server(&request),
    };
    match form {
        RequestForm::Json => Ok(preview.body + "\n"),
        RequestForm::Curl => preview.to_curl().ok_or_else(|| {
            format!(
                "the {} of this run is {name}, not a model server, so there is no curl command; copy the request as JSON instead",
                record.role.name()
            )
        }),
    }
}

/// Lists the branches of a session. Fails for a session from a report, which has no folder.
fn list_branches(dir: &Path, progress: &WorkProgress) -> Result<Arc<[BranchInfo]>, String> {
    if dir.as_os_str().is_empty() {
        return Err("a report has no branch list; open the session's folder".to_owned());
    }
    Ok(read_branches(dir, progress)?.into_iter().map(branch_info).collect())
}

fn read_branches(dir: &Path, progress: &WorkProgress) -> Result<Vec<Branch>, String> {
    let session = Session::open(dir).map_err(|e| e.to_string())?;
    progress.collect(session.iter_branches().map_err(|e| e.to_string())?)
}

fn branch_info(branch: Branch) -> BranchInfo {
    let Branch { header, label, first_change, outcome, episodes, steps, tokens, last, read_error, .. } =
        branch;
    BranchInfo {
        id: header.id,
        parent: header.parent,
        fork_seq: header.at_seq,
        name: label.name.unwrap_or_default(),
        note: label.note.unwrap_or_default(),
        archived: label.archived,
        outcome: read_error.unwrap_or(outcome),
        episodes,
        steps,
        tokens,
        last: last.map(Arc::new),
        reason: header.reason,
        first_change,
        created: header.created.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
    }
}

/// Changes names, notes or archived marks of branches; an empty name or note removes the old one. Makes all edits it can and
/// returns the first error.
fn edit_branches(dir: &Path, edits: &[(BranchId, BranchEdit)]) -> Result<(), String> {
    let session = Session::open(dir).map_err(|e| e.to_string())?;
    let non_empty = |text: &str| Some(text.trim().to_owned()).filter(|t| !t.is_empty());
    let mut result = Ok(());
    for (branch, edit) in edits {
        let change = match edit {
            BranchEdit::Name(name) => LabelChange::Name(non_empty(name)),
            BranchEdit::Note(note) => LabelChange::Note(non_empty(note)),
            BranchEdit::Archived(archived) => LabelChange::Archived(*archived),
        };
        result = result.and(session.set_label(branch, change).map_err(|e| e.to_string()));
    }
    result
}

fn edit_text(text: &str) -> Result<Option<String>, String> {
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(|v| std::env::var(v).ok().filter(|e| !e.trim().is_empty()));
    let Some(editor) = editor else {
        return Err("no editor is set; set VISUAL or EDITOR, or type here".to_owned());
    };
    let folder =
        files::temporary_folder().map_err(|e| format!("no folder for the text could be created: {e}"))?;
    // Dropping the folder also removes what the editor has left there.
    edit_text_in(folder.path(), &editor, text)
}

fn edit_text_in(folder: &Path, editor: &str, text: &str) -> Result<Option<String>, String> {
    let path = folder.join("lesson.txt");
    let written =
        files::create_new(&path).and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|e| write_error(&path, &e))?;
    // The variable may contain flags after the program's name.
    let mut arguments = editor.split_whitespace();
    let program = arguments.next().unwrap_or("vi");
    let ended = Command::new(program).args(arguments).arg(&path).status();
    match (ended, super::bounded::read_text(&path)) {
        (Ok(status), Ok(new)) if status.success() => {
            let new = new.trim_end().to_owned();
            Ok((new != text.trim_end()).then_some(new))
        }
        (Ok(status), Ok(_)) => Err(format!("{editor} exited with {status}; nothing was changed")),
        (Err(e), _) => Err(format!("cannot start {editor}: {e}")),
        (_, Err(e)) => Err(format!("{}: cannot read the edited text: {e}", path.display())),
    }
}

fn save_copied_text(dir: &Path, text: &str) -> Result<String, String> {
    let path = dir.join("copied.txt");
    // A demo is shown before the first session has created their folder.
    if !dir.as_os_str().is_empty() {
        files::create_folder(dir).map_err(|e| write_error(dir, &e))?;
    }
    files::replace(&path, text.as_bytes()).map_err(|e| write_error(&path, &e))?;
    Ok(path.display().to_string())
}

/// Writes a picture of the screen to the first free `screen-N.svg` in a folder, and returns its full path.
fn save_picture(dir: &Path, svg: &str) -> Result<String, String> {
    if !dir.as_os_str().is_empty() {
        files::create_folder(dir).map_err(|e| write_error(dir, &e))?;
    }
    let mut number = 1u32;
    let mut path = dir.join("screen-1.svg");
    while path.symlink_metadata().is_ok() {
        number += 1;
        path = dir.join(format!("screen-{number}.svg"));
    }
    files::replace(&path, svg.as_bytes()).map_err(|e| write_error(&path, &e))?;
    Ok(std::path::absolute(&path).unwrap_or(path).display().to_string())
}

/// Writes the session of a store, whose folder is `dir`, to an HTML report in that folder. Returns the report's path. Public
/// for the benchmark of the screen.
///
/// # Errors
/// Returns a message if a file can't be read or written, or if the work was cancelled.
pub fn export_session(
    dir: &Path,
    store: &Store,
    query: ReportQuery,
    progress: &WorkProgress,
) -> Result<String, String> {
    let labels = Session::open(dir).and_then(|s| s.labels()).unwrap_or_default();
    let name = labels.get(&store.branch()).and_then(|label| label.name.clone());
    // A session from a report has no folder.
    let find_files = || {
        if dir.as_os_str().is_empty() {
            return Ok(SessionFiles::new());
        }
        super::locate::session_files(dir, &|_, _| progress.report(1, 2)).map_err(|e| e.message)
    };
    let measured = if dir.as_os_str().is_empty() {
        Vec::new()
    } else {
        read_results(&measurements_folder(dir), &|_, _| progress.report(0, 1))?
    };
    write_report(dir, (name, measured), find_files, (store, query), progress)
}

/// Writes a report of the session of a store into a folder, a page together with the session's files, if it has any. Returns
/// the report's path. `branch_name` is the name that a person gave the store's branch,
/// `measured` what only the logs beside the session say about its lessons.
pub(super) fn write_report<'f>(
    dir: &Path,
    (branch_name, measured): (Option<String>, Vec<(LessonId, MeasuredEffect)>),
    find_files: impl FnOnce() -> Result<SessionFiles<'f, std::io::Error>, String>,
    (store, query): (&Store, ReportQuery),
    progress: &WorkProgress,
) -> Result<String, String> {
    let (timeline, id, _) = store.branch_timeline();
    // The page contains the branch's steps and the journals of all branches; two passes are a good enough estimate.
    let all = 2 * timeline.len() + 1;
    let mut recorder = SessionRecorder::default();
    for event in timeline.iter_after(Seq(0)) {
        let event = event?;
        recorder.add_event(&event);
        progress.report(event.seq.0, all)?;
    }
    let mut record = recorder.finish();
    record.branch = Some(ShownBranch { name: branch_name, id: id.clone() });
    record.logged_measurements = measured;
    let exporter = Exporter::named(query.format).ok_or_else(|| format!("no format {}", query.format))?;
    let extension = exporter.extensions.first().unwrap_or(&exporter.name);
    let path = dir.join(report_name(dir, &record.session, extension));
    let private = || {
        let known = recorded_private_texts(&dir.display().to_string(), &store.head());
        // Markdown escapes some of the characters of a name.
        let escaped: Vec<String> = known.iter().map(|text| escape_markdown(text)).collect();
        [known, escaped].concat()
    };
    let replace = |text: &str| {
        let written = files::replace_with(&path, |file| file.write_all(text.as_bytes()));
        written.map(|()| path.display().to_string()).map_err(|e| write_error(&path, &e))
    };
    let write_page = match exporter.content {
        Content::Page(write_page) => write_page,
        Content::Steps(render) => {
            let text = render(&record);
            let hidden = query.for_audience.then(|| hide_private(&text, &private(), glyphs::UNICODE.cover));
            return replace(hidden.as_ref().unwrap_or(&text));
        }
        _ => return Err(format!("only `retrospect export` writes {}", exporter.name)),
    };
    let session_files = if query.for_audience { SessionFiles::new() } else { find_files()? };
    let embed: &EmbedSession<'_, std::io::Error> =
        &|write| crate::journal::embed_session(&session_files, Some(&id.0), write);
    let has_step = |at: &StepRef| {
        let steps = record.episode(at.episode).map_or(0, |entry| entry.episode.steps.len());
        at.step > 0 && at.step as usize <= steps
    };
    let marked = Some(query.at).filter(has_step).unwrap_or_else(|| record.default_step());
    if query.for_audience {
        let mut page = String::new();
        let add = &mut |part: &str| {
            page.push_str(part);
            Ok(())
        };
        write_page(&record, marked, None, add).map_err(|e| write_error(&path, &e))?;
        return replace(&hide_private_in_page(&page, &private(), glyphs::UNICODE.cover));
    }
    let (mut bytes_written, mut cancelled) = (0, Ok(()));
    let written = files::replace_with(&path, |file| {
        write_page(&record, marked, (!session_files.is_empty()).then_some(embed), &mut |part| {
            bytes_written += part.len() as u64;
            let events = (bytes_written / BYTES_PER_EVENT).min(timeline.len());
            cancelled = progress.report(timeline.len() + events, all);
            cancelled.clone().map_err(std::io::Error::other)?;
            file.write_all(part.as_bytes())
        })
    });
    cancelled?;
    written.map_err(|e| write_error(&path, &e))?;
    Ok(path.display().to_string())
}

/// Returns the file name of a session's report in a folder; short in the session's own folder, which has its name already.
fn report_name(dir: &Path, session: &str, ending: &str) -> String {
    let is_own = dir.file_name().is_some_and(|name| *name == *session);
    if session.is_empty() || is_own {
        format!("report.{ending}")
    } else {
        format!("report-{session}.{ending}")
    }
}

/// The usual length of an event in a page: of its step, and of its line in the journal.
const BYTES_PER_EVENT: u64 = 1500;

pub(super) fn write_error(path: &Path, error: &std::io::Error) -> String {
    format!("{}: could not be written: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exporters::EXPORTERS;
    use crate::journal::{OpenMode, open_branch};
    use crate::timeline::no_progress;
    use std::fs;
    use std::path::PathBuf;

    /// A predictable name in the temporary folder could be a link to one of the user's files.
    #[cfg(unix)]
    #[test]
    fn editor_copy_is_private_and_follows_no_link() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let temp = tempfile::tempdir().unwrap();
        let (first, second) = (files::temporary_folder().unwrap(), files::temporary_folder().unwrap());
        assert_eq!(fs::metadata(first.path()).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(edit_text_in(first.path(), "true", "a lesson"), Ok(None));
        let mode = fs::metadata(first.path().join("lesson.txt")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let victim = temp.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, second.path().join("lesson.txt")).unwrap();
        assert!(edit_text_in(second.path(), "true", "a lesson").is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }

    /// A session from somebody else could contain a link named `copied.txt` to one of the user's files.
    #[cfg(unix)]
    #[test]
    fn copy_and_export_follow_no_link_out_of_the_session() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let temp = tempfile::tempdir().unwrap();
        let victim = temp.path().join("bashrc");
        fs::write(&victim, "mine").unwrap();
        let session = temp.path().join("session");
        fs::create_dir_all(session.join("branches")).unwrap();
        fs::write(session.join("meta.toml"), "").unwrap();
        for (name, write) in [
            ("copied.txt", &(|| save_copied_text(&session, "copied")) as &dyn Fn() -> Result<String, String>),
            ("report.html", &|| {
                export_session(&session, &Store::default(), ReportQuery::default(), &WorkProgress::default())
            }),
        ] {
            let path = session.join(name);
            symlink(&victim, &path).unwrap();
            assert_eq!(write().unwrap(), path.display().to_string());
            assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{name}");
            let metadata = fs::symlink_metadata(&path).unwrap();
            assert!(metadata.is_file() && metadata.permissions().mode() & 0o777 == 0o600, "{name}");
        }
    }

    #[test]
    fn lists_report_their_progress_and_stop_when_cancelled() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
        let progress = WorkProgress::default();
        let sessions = list_sessions(&examples, &progress).unwrap();
        assert!(sessions.len() > 1 && progress.percent() == Some(100));
        let session = fs::read_dir(&examples).unwrap().map(|entry| entry.unwrap().path());
        let session = session.filter(|path| path.join("meta.toml").exists()).min().unwrap();
        let comparable = |progress| list_comparable(&examples, &session, &BranchId::trunk(), progress);
        assert!(comparable(&progress).unwrap().len() + 1 >= sessions.len());
        assert!(!list_branches(&session, &progress).unwrap().is_empty());
        progress.cancel();
        let cancelled = Some("cancelled".to_owned());
        assert_eq!(list_sessions(&examples, &progress).err(), cancelled);
        assert_eq!(comparable(&progress).err(), cancelled);
        assert_eq!(list_branches(&session, &progress).err(), cancelled);
    }

    /// Regression: the question to a server that doesn't answer went on after its dialog had closed.
    #[test]
    fn a_question_to_a_model_server_ends_when_it_is_cancelled() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut config = Config::load(None, |_| None).unwrap();
        let address = format!("http://{}/v1", server.local_addr().unwrap());
        config.set_flag(&crate::cli::config::keys::BASE_URL, Some(&address)).unwrap();
        let fixture = crate::ui::fixture::Fixture::new();
        let mut run = fixture.state().run.as_deref().unwrap().clone();
        "openai:m".clone_into(&mut run.actor);
        let progress = WorkProgress::default();
        let cancel = progress.clone();
        let peer = std::thread::spawn(move || {
            let (connection, _) = server.accept().unwrap();
            cancel.cancel();
            connection
        });
        let listed = list_role_models(&config, &run, ModelRole::Actor, &progress);
        assert_eq!(listed.map(|models| models.names), Err("cancelled".to_owned()));
        peer.join().unwrap();
    }

    /// Regression: the name of a report repeated that of its folder, and its path filled three rows of the screen.
    #[test]
    fn a_report_in_the_folder_of_its_session_has_a_short_name() {
        assert_eq!(report_name(Path::new("/sessions/mug-1"), "mug-1", "html"), "report.html");
        assert_eq!(report_name(Path::new("/sessions"), "mug-1", "html"), "report-mug-1.html");
        assert_eq!(report_name(Path::new(""), "", "md"), "report.md");
    }

    /// Copies the files of a shipped session into a folder.
    fn copy_shipped_session(dir: &Path) -> PathBuf {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
        let shipped = fs::read_dir(shipped).unwrap().map(|entry| entry.unwrap().path());
        let shipped = shipped.filter(|path| path.join("meta.toml").exists()).min().unwrap();
        fs::create_dir(dir.join("branches")).unwrap();
        for path in super::super::locate::session_files(&shipped, &no_progress).unwrap().keys() {
            fs::copy(shipped.join(path), dir.join(path)).unwrap();
        }
        shipped
    }

    /// Regression: the list of what a forked branch can be compared with didn't know its parent.
    #[test]
    fn the_branch_that_another_was_forked_from_is_known() {
        let temp = tempfile::tempdir().unwrap();
        copy_shipped_session(temp.path());
        let header = r#"{"v":1,"type":"branch","id":"b1","parent":"trunk","at_seq":9,"reason":"after step 1","created":"2026-11-22T21:09:35Z"}"#;
        fs::write(temp.path().join("branches/b1.jsonl"), format!("{header}\n")).unwrap();
        let (root, current) = (temp.path().join("none"), BranchId("b1".to_owned()));
        let listed = list_comparable(&root, temp.path(), &current, &WorkProgress::default()).unwrap();
        let facts: Vec<_> = listed.into_iter().map(|one| (one.branch.unwrap(), one.is_parent)).collect();
        assert_eq!(facts, [("trunk".to_owned(), true)]);
    }

    /// Regression: another branch was read to its end although nobody waited for the comparison any more.
    #[test]
    fn opening_another_branch_stops_when_it_is_cancelled() {
        let temp = tempfile::tempdir().unwrap();
        copy_shipped_session(temp.path());
        let trunk = Session::open(temp.path()).unwrap().trunk();
        let config = Config::load(None, |_| None).unwrap();
        let target = EpisodeRef { branch: Some("trunk".to_owned()), ..EpisodeRef::default() };
        let progress = WorkProgress::default();
        open_comparable(&config, temp.path(), &target, &progress).unwrap();
        assert_eq!(progress.percent(), Some(100));
        let text = fs::read_to_string(&trunk).unwrap();
        fs::write(&trunk, text + "not an event\n{}\n").unwrap();
        let open = |progress| open_comparable(&config, temp.path(), &target, progress).map(drop).unwrap_err();
        assert!(open(&progress).contains("trunk.jsonl"), "{}", open(&progress));
        progress.cancel();
        assert_eq!(open(&progress), "cancelled", "it doesn't read to the line that is no event");
    }

    /// Regression: reports that were written in stage mode named the server, in their text and in the session inside.
    #[test]
    fn a_report_for_an_audience_names_no_host() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        copy_shipped_session(dir);
        let trunk = Session::open(dir).unwrap().branch_file(&BranchId::trunk());
        let text = fs::read_to_string(&trunk).unwrap();
        let named = text.replace("You arrive at", "You ask http://gpu7-secret:80/v1 at");
        assert_ne!(text, named);
        fs::write(&trunk, named).unwrap();
        let store = Store::default();
        store.set_timeline(open_branch(&trunk, OpenMode::Read).unwrap().timeline, BranchId::trunk());
        let of_steps = |it: &&Exporter| matches!(it.content, Content::Steps(_) | Content::Page(_));
        for format in EXPORTERS.iter().filter(of_steps).map(|it| it.name) {
            for for_audience in [false, true] {
                let query = ReportQuery { format, for_audience, ..ReportQuery::default() };
                let path = export_session(dir, &store, query, &WorkProgress::default()).unwrap();
                let page = fs::read_to_string(path).unwrap();
                assert_eq!(page.contains("gpu7-secret"), !for_audience, "{format}");
                assert!(page.contains("You ask"), "{format}");
            }
        }
    }

    /// An exported page contains the session, byte for byte; a cancelled export leaves nothing behind.
    #[test]
    fn an_export_can_be_opened_again_or_cancelled() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        let shipped = copy_shipped_session(dir);
        let files = super::super::locate::session_files(&shipped, &no_progress).unwrap();
        let trunk = Session::open(dir).unwrap().branch_file(&BranchId::trunk());
        let store = Store::default();
        store.set_timeline(open_branch(&trunk, OpenMode::Read).unwrap().timeline, BranchId::trunk());
        let progress = WorkProgress::default();
        let page =
            fs::read_to_string(export_session(dir, &store, ReportQuery::default(), &progress).unwrap())
                .unwrap();
        let embedded = crate::journal::extract_session(&page).unwrap();
        assert_eq!(embedded.files.len(), files.len());
        for (path, text) in embedded.files {
            assert_eq!(text, fs::read_to_string(shipped.join(&path)).unwrap(), "{path}");
        }
        assert!(progress.percent() > Some(50));

        let list = || fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        let before = list();
        progress.cancel();
        assert_eq!(export_session(dir, &store, ReportQuery::default(), &progress).unwrap_err(), "cancelled");
        assert_eq!(list(), before);
    }
}
