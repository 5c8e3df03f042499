//! The text of `help`.

pub(in crate::cli::plain) const HELP: &str = "\
step (n)                run the proposed action and stop at the next proposal
stage (s)               advance by one stage: prompt, reply, decision, observation, reflection
run (c, continue)       run without stopping
pause                   stop as soon as no call is in flight
cancel                  cancel the call in flight
override ACTION (o)     replace the proposed action
  override-as-edit ACTION   the same, shown to the agent as a human edit
break CONDITION (b)     stop when CONDITION holds, such as `break nothing 3`, `break action ~ heat`, `break end failure`
watch CONDITION         report when CONDITION holds, without stopping (also: warn CONDITION)
breaks                  list breakpoints and watches, with their numbers and hits
break-edit N CONDITION, break-on N, break-off N, break-delete N
reject REASON (x)       reject the proposal; the agent is shown the reason and asked again
ask-again               retry this step with the current lessons
r                       repeat whatever just happened: the step, the failed call, or the ended task
act ACTION              your action, when you play; `think: ...` is a thought
auto, human             who decides: the agent, or you alone
confirm, play           stop at every proposal, play manually; type it again to let the agent decide
lesson TEXT (a)         add a lesson of the method's first kind for advice; `mistake -> solution` adds an Error lesson
lesson KIND: TEXT       add a lesson of another kind
lesson-accept           add the mentor's last discarded text as a lesson
lessons                 list the lessons
edit N TEXT             edit the text of lesson N
on N, off N, pin N, delete N      switch lesson N on or off, pin it, delete it
scope N SCOPE           set the scope of lesson N: episode, task, task_type, environment
move N PLACE            move lesson N to another place among its kind
undo (u), redo (U)      undo or redo your last change
undo older              undo the change before one that can't be undone
thought N TEXT, observation N TEXT      edit the text of step N, until a prompt has shown it
back [N], forward [N], live      look N steps back or forward, or return to the present
fork N [ACTION]         open a branch at the proposal of step N, and override it with ACTION
branches, switch B      list the branches of this session, continue branch B
branch-name B NAME, branch-note B TEXT, archive B, unarchive B
summary                 the mentor's summary that is waiting for your decision, line by line
accept [N ...]          accept all of its lines, or only these; refuse [N ...]: reject all of its lines, or only these
reflect KIND            reflect now: abstract, error, progress, or a kind of the method (plan, positive ...)
prompt (p) [KIND]       the last prompt, segment by segment; with KIND, the mentor prompt of that kind
prompt-edit N TEXT      edit segment N of a prompt draft before it is sent (`stage` drafts and sends), or of a prompt
  prompt-edit KIND N TEXT   whose call failed (`retry` sends it again); KIND selects a mentor prompt
world (w)               what the agent may know of the environment
actions                 the actions that the environment would accept now
hint                    a path to the goal, where the environment can compute one
story [N]               the last steps, or step N
note TEXT               add a note to this step
set NAME VALUE          change a setting (max_steps) or a sampling parameter (actor.temperature)
retry                   after failed calls: retry all of them
model NAME              switch the actor's model (openai:MODEL, openai:MODEL profile P, rules, recorded:SESSION);
  mentor NAME           the same for the mentor; after a failed call, `retry` then calls the new model
recorded SESSION        after failed calls: use a session's recorded replies to the same prompts; `recorded cache`: cached ones
give-up                 after failed calls: continue without; a reflection is skipped, a step waits for your `act`
end, again              end the episode; play the same task again (also: begin)
quit (q)                quit; the session can be resumed
Palette action names work here as well, with or without the colon:
lesson-add, lesson-edit N, lesson-pin N, lesson-scope N, lesson-delete N, ask-again, remark, pause-run,
end-episode, inspect N, next, open; a bare number such as :37 shows that step. Actions that only change the
view, such as zoom and theme, need the screen and say so.
";
