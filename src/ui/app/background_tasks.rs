//! The requests that are work for another thread, because they read files, fold states or wait for an answer.

use super::workers::Workers;
use crate::domain::{BranchId, Prompt, PromptRecord, RunSpec, Seq};
use crate::driver::{Handle, PastQuery, Store};
use crate::engine::{Event, State};
use crate::lesson_test::{Expectation, LessonTest};
use crate::prompt::render;
use crate::timeline::lesson_health::{HealthCollector, LessonHealth};
use crate::ui::branches::BranchEdit;
use crate::ui::host_services::{HostServices, PromotedLesson};
use crate::ui::msg::{Answer, PastLoad, Request};
use crate::ui::types::{PtrEqArc, RequestForm, RequestQuery, RequestSource, WorkKind, WorkProgress};
use crate::ui::{compare, find};
use std::sync::Arc;
use std::time::Instant;

const NO_FILES: &str = "this screen can't write files";

/// What the work needs of the session and the program.
pub(super) struct Sources<'a> {
    pub(super) handle: &'a Handle,
    pub(super) host: Option<&'a HostServices>,
    pub(super) run: Option<&'a Arc<RunSpec>>,
}

impl Workers {
    /// Starts the work of a request. Returns the request if it is none of these.
    ///
    /// # Errors
    /// Returns a message if the work can't be started.
    pub(super) fn start_request(
        &mut self,
        sources: &Sources<'_>,
        request: Request,
    ) -> Result<Option<Request>, String> {
        let (now, host) = (Instant::now(), sources.host.cloned());
        let (handle, store) = (sources.handle.clone(), sources.handle.store.clone());
        let started = match request {
            Request::LoadPast(load) => self.load_past(sources, load),
            Request::ListAdmissible => {
                self.start_task(WorkKind::Admissible, now, |_| async move {
                    Answer::Admissible(handle.admissible().await)
                });
                Ok(())
            }
            Request::ListAdmissibleAt(at) => {
                self.start_task(WorkKind::Admissible, now, |progress| async move {
                    let query = PastQuery {
                        seq: at.seq,
                        load_state: Box::new(move |report| store.state_at_reporting(at.seq, report)),
                        report: Box::new(move |done, all| progress.report(done, all)),
                    };
                    // If the branch changes meanwhile, the update drops the answer.
                    Answer::AdmissibleAt { at, actions: handle.past_admissible(query).await }
                });
                Ok(())
            }
            Request::Hint => {
                self.start_task(WorkKind::Hint, now, |_| async move { Answer::Hint(handle.hint().await) });
                Ok(())
            }
            Request::ReadProgramOutput => {
                self.start_task(WorkKind::ProgramOutput, now, |_| async move {
                    Answer::ProgramOutput(handle.printed_text().await)
                });
                Ok(())
            }
            Request::Search { query, searched_episode } => self.start(WorkKind::Search, now, move |worker| {
                let answer = |hits, progress| Answer::SearchResults { query: query.clone(), hits, progress };
                let send = |hits| worker.send(answer(hits, find::SearchStatus::Partial));
                let progress = &worker.progress;
                let (hits, status) =
                    find::search_other_episodes(&store, searched_episode, &query, progress, send);
                answer(hits, status)
            }),
            Request::ListSessions => self.start(WorkKind::Sessions, now, move |worker| {
                let sessions =
                    host.map_or_else(|| Ok(Vec::new()), |h| (h.list_sessions)(&(), &worker.progress));
                Answer::Sessions(sessions.unwrap_or_default())
            }),
            Request::ListSavedPools => {
                let head = store.head();
                self.start(WorkKind::SavedPools, now, move |worker| {
                    let host = host.ok_or_else(|| NO_FILES.to_owned());
                    let pools = host.and_then(|host| (host.list_saved_pools)(&head, &worker.progress));
                    Answer::SavedPools(pools.map(|pools| PtrEqArc(Arc::new(pools))))
                })
            }
            Request::PromoteLesson { lesson, pool } => {
                let host = host.ok_or(NO_FILES)?;
                let promoted = PromotedLesson { state: store.head(), lesson, pool };
                self.start(WorkKind::PromoteLesson, now, move |_| {
                    Answer::FileWritten((host.promote_lesson)(&promoted))
                })
            }
            Request::ListModels(role) => {
                let run = sources.run.cloned();
                self.start(WorkKind::Models, now, move |worker| {
                    let models = match (host, run) {
                        (Some(host), Some(run)) => (host.list_models)(&(run, role), &worker.progress),
                        _ => Err("this screen can't list the server's models".to_owned()),
                    };
                    Answer::Models { role, models }
                })
            }
            Request::ListComparable => self.start(WorkKind::Comparable, now, move |worker| {
                let none = || Err("this screen can't open other sessions".to_owned());
                let list = |host: HostServices| (host.list_comparable)(&store, &worker.progress);
                Answer::Comparable(host.map_or_else(none, list))
            }),
            Request::Compare { a, b } => self.start(WorkKind::Comparison, now, move |worker| {
                let result = compare::compare_episodes(&store, host.as_ref(), &a, &b, &worker.progress);
                Answer::Compared { a: Box::new(a), b: Box::new(b), result }
            }),
            Request::LoadPriorDifferences { comparison, row } => {
                self.start(WorkKind::PriorDifferences, now, move |worker| {
                    let before = compare::load_prior_differences(&comparison.0, row, &worker.progress);
                    Answer::PriorDifferences { comparison, row, before }
                })
            }
            Request::LoadBranches => self.load_branches(sources, Vec::new()),
            Request::EditBranches(edits) => self.load_branches(sources, edits),
            Request::Copy(text) => {
                let host = host.ok_or(NO_FILES)?;
                self.start(WorkKind::SaveCopy, now, move |_| {
                    let saved = (host.save_copy)(&text);
                    Answer::FileWritten(saved.map(|path| format!("copied, also to {path}")))
                })
            }
            Request::SavePicture(svg) => {
                let host = host.ok_or(NO_FILES)?;
                self.start(WorkKind::SaveCopy, now, move |_| {
                    let saved = (host.save_picture)(&svg);
                    Answer::FileWritten(saved.map(|path| format!("picture written to {path}")))
                })
            }
            Request::CopyRequest { source, form } => {
                let host = host.ok_or("this screen can't write requests")?;
                self.start(WorkKind::RequestText, now, move |_| {
                    Answer::RequestText(request_text(&store, &host, source, form))
                })
            }
            Request::PlanEffect(query) => self.start(WorkKind::EffectPlan, now, move |worker| {
                let none = || Err("this screen can't measure lessons".to_owned());
                let plan = |host: HostServices| (host.plan_effect)(&(store, query), &worker.progress);
                Answer::Effect(host.map_or_else(none, plan).map(|progress| PtrEqArc(Arc::new(progress))))
            }),
            // One measurement at a time.
            Request::RunEffect(_) if self.is_running(WorkKind::Effect) => {
                return Err("a lesson is being measured; stop that measurement first".to_owned());
            }
            Request::RunEffect(query) => self.start(WorkKind::Effect, now, move |worker| {
                let Some(host) = host else {
                    return Answer::Effect(Err("this screen can't measure lessons".to_owned()));
                };
                let send = |progress| worker.send(Answer::Effect(Ok(PtrEqArc(Arc::new(progress)))));
                let done = (host.run_effect)(&(store, query), &worker.progress, &send);
                Answer::Effect(done.map(|progress| PtrEqArc(Arc::new(progress))))
            }),
            Request::CheckHealth => self.start(WorkKind::Health, now, move |worker| {
                let checked = check_health(&store, &worker.progress);
                Answer::Health(checked.map(|health| PtrEqArc(Arc::new(health))))
            }),
            Request::ListMeasured => {
                let Some(host) = host else { return Ok(None) };
                self.start(WorkKind::Measured, now, move |worker| {
                    Answer::Measured((host.list_measured)(&(), &worker.progress))
                })
            }
            Request::StopEffect => {
                self.ask_to_cancel(WorkKind::Effect);
                Ok(())
            }
            Request::KeepTest { source, expectation } => {
                let host = host.ok_or(NO_FILES)?;
                self.start(WorkKind::KeepTest, now, move |_| {
                    Answer::FileWritten(keep_test(&store, &host, source, expectation))
                })
            }
            // One report at a time.
            Request::Export(_) if self.is_running(WorkKind::Export) => Ok(()),
            Request::Export(query) => {
                let host = host.ok_or(NO_FILES)?;
                self.start(WorkKind::Export, now, move |worker| {
                    let path = (host.export_report)(&(store, query), &worker.progress);
                    Answer::ReportWritten { path, can_open: host.open_file.is_some() }
                })
            }
            Request::OpenFile(path) => {
                let open = host.and_then(|host| host.open_file).ok_or("no program opens files here")?;
                self.start(WorkKind::OpenFile, now, move |_| {
                    Answer::FileWritten(open(&path).map(|()| format!("opened {path}")))
                })
            }
            Request::RememberHint(next) => {
                let Some(host) = host else { return Ok(None) };
                self.start(WorkKind::RememberHint, now, move |_| {
                    Answer::HintRemembered((host.remember_hint)(&next))
                })
            }
            Request::CancelExport => {
                self.ask_to_cancel(WorkKind::Export);
                Ok(())
            }
            other => return Ok(Some(other)),
        };
        started.map(|()| None)
    }

    /// Makes edits to branches, if there are any, and reads the branches once. Edits happen in their order, and the answer to
    /// the last request contains all of them.
    fn load_branches(
        &mut self,
        sources: &Sources<'_>,
        edits: Vec<(BranchId, BranchEdit)>,
    ) -> Result<(), String> {
        let Some(host) = sources.host.cloned() else { return Ok(()) };
        let follows_edit = !edits.is_empty() || self.is_running(WorkKind::EditBranch);
        let kind = if follows_edit { WorkKind::EditBranch } else { WorkKind::Branches };
        // What is being read may lack the edit.
        self.cancel(WorkKind::Branches);
        self.start(kind, Instant::now(), move |worker| {
            let edited = if edits.is_empty() { Ok(()) } else { (host.edit_branches)(&edits) };
            if edited.is_ok() {
                return Answer::Branches((host.list_branches)(&(), &worker.progress));
            }
            // Of several edits, some may have been made.
            if edits.len() > 1
                && let Ok(branches) = (host.list_branches)(&(), &worker.progress)
            {
                worker.send(Answer::Branches(Ok(branches)));
            }
            Answer::Branches(edited.map(|()| Arc::default()))
        })
    }

    /// Loads parts of the past.
    fn load_past(&mut self, sources: &Sources<'_>, load: PastLoad) -> Result<(), String> {
        let kind = if load.then.is_some() { WorkKind::Past } else { WorkKind::FramePast };
        let timeline = sources.handle.store.timeline();
        self.start(kind, load.since, move |worker| {
            let (mut result, all) = (Ok(()), load.parts.len() as u64);
            for (number, part) in (0..).zip(&load.parts) {
                let stage = worker.progress.stage(number, all);
                result = result.and(timeline.load(*part, &|done, all| stage.report(done, all)));
            }
            Answer::PastLoaded { load, result }
        })
    }
}

/// The state that holds a prompt's episode, its record and its text.
type LoadedPrompt = (Arc<State>, Arc<PromptRecord>, Arc<Prompt>);

/// Returns a prompt with its record and the state that holds its episode.
fn load_prompt(store: &Store, source: RequestSource) -> Result<LoadedPrompt, String> {
    let seq = match source {
        RequestSource::Prompt(record, prompt) => return Ok((store.head(), record, prompt)),
        RequestSource::Event(seq) => seq,
    };
    let event = store.timeline().event(seq).map(|envelope| envelope.event.clone());
    let Some(Event::PromptSent { prompt: record }) = event else {
        return Err(format!("event {seq} sent no prompt, or can't be read any more"));
    };
    let state = store.state_at(seq);
    let prompt = Arc::new(render(&state, &record));
    Ok((state, record, prompt))
}

/// Returns the text of a request to copy.
fn request_text(
    store: &Store,
    host: &HostServices,
    source: RequestSource,
    form: RequestForm,
) -> Result<String, String> {
    let (state, record, prompt) = load_prompt(store, source)?;
    let run = state.run.clone().ok_or("no run has started")?;
    (host.format_request)(&RequestQuery { run, record, prompt, form })
}

/// Keeps the decision at a prompt as a test.
fn keep_test(
    store: &Store,
    host: &HostServices,
    source: RequestSource,
    expectation: Expectation,
) -> Result<String, String> {
    let (state, record, prompt) = load_prompt(store, source)?;
    let (Some(run), Some(episode)) = (&state.run, &state.episode) else {
        return Err("no episode has started at that prompt".to_owned());
    };
    (host.keep_test)(&LessonTest::new(run, &episode.task, &record, &prompt, expectation))
}

/// Checks the health of the lessons of a session, from its first event on.
fn check_health(store: &Store, progress: &WorkProgress) -> Result<LessonHealth, String> {
    let timeline = store.timeline();
    let last = timeline.head().head.0;
    let mut collector = HealthCollector::default();
    for event in timeline.iter_after(Seq(0)) {
        let event = event?;
        progress.report(event.seq.0, last)?;
        collector.add_event(&event);
    }
    Ok(collector.finish(timeline.head()))
}
