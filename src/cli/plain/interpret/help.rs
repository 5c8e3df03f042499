//! The list of commands.

pub(in crate::cli::plain) const HELP: &str = "\
step (n)                do what is proposed and stop at the next proposal
stage (s)               go on by one stage: prompt, reply, decision, observation, reflection
run                     go on without stopping
pause                   stop as soon as nothing is in flight
override ACTION (o)     put another action in the place of the proposed one
  override-as-edit ACTION   the same, shown to the agent as a human edit
break CONDITION (b)     stop where it comes true, such as `break nothing 3`, `break action ~ heat`, `break end failure`
watch CONDITION         tell where it comes true, and go on (also: warn CONDITION)
breaks                  list breakpoints and watches, with their numbers and hits
break-edit N CONDITION, break-on N, break-off N, break-delete N
reject REASON (x)       refuse the proposal; the agent is told why and asked again
ask-again               ask this step again with the lessons as they are now
r                       again what just was: the step, the failed call, or the ended task
act ACTION              your action, when you play; `think: ...` is a thought
auto, human             who decides: the agent, or you alone
confirm, play           stop at every proposal, play by hand; once more: the agent decides
lesson TEXT (a)         add an Abstract lesson; `mistake -> solution` adds an Error lesson
lesson KIND: TEXT       add a lesson of another kind
lesson-accept           take a text of the mentor's that was not kept as a lesson
lessons                 list the lessons
edit N TEXT             give lesson N new words
on N, off N, pin N, delete N      switch lesson N on or off, pin it, delete it
scope N SCOPE           give lesson N another reach: episode, task, task_type, environment
move N PLACE            put lesson N at another place among its kind
undo (u), redo (U)      take your last change back, make it again
undo older              take back what came before something that cannot be taken back
thought N TEXT, observation N TEXT      other words for step N, until a prompt has shown it
back [N], forward [N], live      look at the moment N steps back or forward, or at the present again
fork N [ACTION]         go back to the proposal of step N and on from there, on a branch of its own
branches, switch B      list the branches of this session, go on with branch B
branch-name B NAME, branch-note B TEXT, archive B, unarchive B
summary                 the mentor's summary that waits for your word, line by line
accept [N ...]          take it: all of its lines, or these alone; refuse [N ...]: none of them, or all but these
reflect KIND            reflect now: abstract, error, progress, or a kind of the method (plan, positive ...)
prompt (p) [KIND]       the last prompt, segment by segment; with KIND that of a question to the mentor
prompt-edit N TEXT      give part N of a drafted prompt other words before it is sent (`stage` drafts and sends), or of
  prompt-edit KIND N TEXT   one whose call failed (`retry` sends it again); KIND: that of a question to the mentor
world (w)               what the agent may know of the world
actions                 what the world would accept now
hint                    a way to the goal, where the world can look for one
story [N]               the last steps, or step N
note TEXT               a remark on this step
set NAME VALUE          change a setting, such as max_steps, or actor.temperature of a model
retry                   after failed calls: try all of them again
model NAME              let another model act from now on (openai:MODEL, openai:MODEL profile P, rules, recorded:SESSION);
  mentor NAME           the same for who reflects; after a failed call `retry` then asks it
recorded SESSION        after failed calls: take the recorded replies of a session to these very prompts; `recorded cache`: kept ones
give-up                 after failed calls: go on without; a reflection is left out, a step waits for your `act`
end, again              end the episode; play the same task again (also: begin)
quit (q)                leave; the session can be resumed
The palette's words mean the same here, with or without its colon:
lesson-add, lesson-edit N, lesson-pin N, lesson-scope N, lesson-delete N, ask-again, remark, pause-run,
end-episode, inspect N, next, open; a bare number such as :37 shows that step. Words that only move or paint
something, such as zoom and theme, need the screen, and say so.
";
