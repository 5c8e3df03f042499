//! Random input to the screen: any key, paste, click and size at any moment, over any text. A real engine executes
//! every request, and its journal must fold to the same state at the end.

use crate::cases::{Rng, Soak};
use crate::hostile;
use crate::rig::{Rig, assert_folds_to, spec};
use crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use retrospect::domain::{CallId, CallPhase, Interface, ModelRole, StepResult, Usage};
use retrospect::driver::{Halt, Health, LiveCall, Signal};
use retrospect::engine::{Effect, Reply};
use retrospect::ui::keymap::Keymap;
use retrospect::ui::theme::Theme;
use retrospect::ui::{Answer, Compositor, Context, FrameData, Model, Request, UiMessage, ViewCache, glyphs};
use serde_json::json;
use std::time::{Duration, Instant};

/// The number of events of a session.
const EVENTS_PER_SESSION: u64 = 40;

#[test]
fn any_events_on_any_session_draw_harmless_cells() {
    let (mut drawn, mut accepted, mut largest) = (0_u64, 0_u64, (0, 0));
    // A case is a session; all sessions together have 100,000 events.
    Soak::new("screen", 100_000 / EVENTS_PER_SESSION).run(|rng, number| {
        let mut session = ScreenSession::new(rng, number);
        for _ in 0..EVENTS_PER_SESSION {
            session.send_random_event(rng);
            largest = largest.max(session.draw());
            drawn += 1;
        }
        accepted += session.accepted;
        assert_folds_to(&session.rig.journal, session.rig.state());
    });
    println!(
        "screen: {drawn} events, each drawn, up to {largest:?}; {accepted} commands were accepted by the engine"
    );
}

struct ScreenSession {
    rig: Rig,
    has_real_world: bool,
    model: Model,
    frame_data: FrameData,
    compositor: Compositor,
    cache: ViewCache,
    theme: Theme,
    keymap: Keymap,
    ascii: bool,
    now: Instant,
    accepted: u64,
}

impl ScreenSession {
    fn new(rng: &mut Rng, number: u64) -> Self {
        let method = ["omnireflect", "react"][rng.below(2)];
        let rig = Rig::new(spec(method, Interface::React, &["easy/put/1", "easy/heat/23", "easy/look/3"]));
        let model = Model { size: random_size(rng), ..Model::default() };
        let mut session = Self {
            rig,
            has_real_world: number.is_multiple_of(8),
            model,
            frame_data: FrameData::default(),
            compositor: Compositor::default(),
            cache: ViewCache::default(),
            theme: Theme::default(),
            keymap: Keymap::default(),
            ascii: rng.once_in(4),
            now: Instant::now(),
            accepted: 0,
        };
        // Some sessions have events before the screen opens.
        let replies_before = [0, 0, 6, 30][rng.below(4)];
        session.send(rng, &retrospect::engine::Command::Run);
        for _ in 0..replies_before {
            session.answer_call(rng);
        }
        session
    }

    fn send_random_event(&mut self, rng: &mut Rng) {
        self.now += Duration::from_millis(rng.below(1_500) as u64);
        let msg = match rng.below(20) {
            0 => UiMessage::Paste(hostile::text(rng, 2_000)),
            1 | 2 => UiMessage::Mouse(random_mouse(rng)),
            3 => {
                let (columns, rows) = random_size(rng);
                UiMessage::Resize(columns, rows)
            }
            4 => UiMessage::Tick,
            5 => {
                self.answer_call(rng);
                UiMessage::StoreChanged
            }
            6 => {
                self.change_live_state(rng);
                UiMessage::StoreChanged
            }
            _ => UiMessage::Key(random_key(rng)),
        };
        self.send_msg(rng, msg);
    }

    fn send_msg(&mut self, rng: &mut Rng, msg: UiMessage) {
        self.frame_data.refresh(&self.rig.store, self.model.cursor);
        let context = Context {
            frame: &self.frame_data,
            now: self.now,
            theme: &self.theme,
            glyphs: if self.ascii { &glyphs::ASCII } else { &glyphs::UNICODE },
            keymap: &self.keymap,
            is_covered: false,
        };
        for request in self.compositor.handle(&mut self.model, &context, &self.cache, msg) {
            self.answer_request(rng, request);
        }
    }

    fn answer_request(&mut self, rng: &mut Rng, request: Request) {
        match request {
            Request::Send(command) => self.send(rng, &command),
            Request::ListAdmissible => {
                let list = if self.has_real_world {
                    self.rig.admissible()
                } else {
                    vec![hostile::text(rng, 2_000); 3]
                };
                self.send_msg(rng, UiMessage::Answer(Answer::Admissible(list)));
            }
            Request::OpenEditor(text) => {
                let edited = [Some(hostile::text(rng, 2_000)), Some(text), None][rng.below(3)].clone();
                self.send_msg(rng, UiMessage::Answer(Answer::Edited(edited)));
            }
            // The screen is reopened where it was left.
            Request::Quit => self.model = Model { size: self.model.size, ..Model::default() },
            _ => {}
        }
    }

    fn send(&mut self, rng: &mut Rng, command: &retrospect::engine::Command) {
        match self.rig.send(command) {
            Ok(()) => self.accepted += 1,
            Err(error) => self.rig.store.signal(Signal::CommandFailed(error)),
        }
        for _ in 0..rng.below(3) {
            self.answer_call(rng);
        }
    }

    /// Answers one call: as the built-in environment and actor would, or with hostile text.
    fn answer_call(&mut self, rng: &mut Rng) {
        if self.has_real_world {
            return self.rig.answer(1);
        }
        let Some(effect) = self.rig.state().calls.values().next().cloned() else { return };
        let (call, hostile_text) = (effect.call(), hostile::text(rng, 500));
        let reply = if matches!(effect, Effect::Ask { .. }) {
            Reply::Model {
                tool_calls: Vec::new(),
                truncated: None,
                call,
                text: hostile_text,
                reasoning: hostile::text(rng, 2_000),
                usage: Usage::default(),
            }
        } else if rng.once_in(20) {
            let failure = retrospect::engine::Failure {
                message: hostile_text.clone(),
                source: hostile_text.clone(),
                hint: hostile_text,
                kind: None,
                partial_text: String::new(),
                usage: None,
            };
            Reply::Failed { call, failure }
        } else {
            let open = rng.once_in(2);
            let result = StepResult {
                shown: json!({"place": hostile_text, "holding": hostile_text, "receptacles": [hostile_text, "fridge 1"], "subgoals": 4,
                    "seen": {"fridge 1": {"open": open, "items": [hostile_text]}, (hostile_text.clone()): {"items": ["mug 2"]}}}),
                truth: json!({"receptacles": {(hostile_text.clone()): {"items": [hostile_text], "loc": hostile_text}}}),
                progress: rng.below(5) as f64 / 4.0,
                valid: rng.once_in(2),
                won: rng.once_in(30),
                done: rng.once_in(15),
                observation: hostile_text,
                ..StepResult::default()
            };
            Reply::World { call, result: Box::new(result), admissible: Vec::new() }
        };
        self.rig.reply(reply);
    }

    /// Changes the live state without an event.
    fn change_live_state(&mut self, rng: &mut Rng) {
        let (text, reasoning) = (hostile::text(rng, 500), hostile::text(rng, 500));
        let call = self.rig.state().calls.keys().next().copied().unwrap_or(CallId(7));
        let phase = [CallPhase::Connecting, CallPhase::Waiting, CallPhase::Reasoning, CallPhase::Answering]
            [rng.below(4)];
        let health = match rng.below(8) {
            0 => Health::Halted(Halt { reason: hostile::text(rng, 500), ..Halt::default() }),
            1 => Health::Ended,
            _ => Health::Running,
        };
        let (has_call, since) = (rng.once_in(2), self.now);
        let signal = rng.once_in(4).then(|| Signal::Notice(text.clone()));
        self.rig.store.edit_live(|live| {
            live.health = health;
            live.calls.clear();
            if has_call {
                live.calls.push(LiveCall {
                    call,
                    role: ModelRole::Actor,
                    phase,
                    reasoning: reasoning.as_str().into(),
                    text: text.as_str().into(),
                    delta_count: 7,
                    started: since,
                    last_progress: since,
                    only_keep_alives: false,
                    usage: None,
                    notice: None,
                });
            }
        });
        if let Some(signal) = signal {
            self.rig.store.signal(signal);
        }
    }

    /// Draws a frame and checks every cell. Returns the size.
    fn draw(&mut self) -> (u16, u16) {
        self.frame_data.refresh(&self.rig.store, self.model.cursor);
        let context = Context {
            frame: &self.frame_data,
            now: self.now,
            theme: &self.theme,
            glyphs: if self.ascii { &glyphs::ASCII } else { &glyphs::UNICODE },
            keymap: &self.keymap,
            is_covered: false,
        };
        let (columns, rows) = self.model.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        self.compositor.draw(&self.model, &context, &mut self.cache, &mut buffer);
        for (n, cell) in buffer.content().iter().enumerate() {
            let harmful = |c: char| {
                c.is_control()
                    || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
            };
            assert!(!cell.symbol().contains(harmful), "cell {n} of {columns}x{rows} is {:?}", cell.symbol());
        }
        (columns, rows)
    }
}

/// Returns a size from one cell to 250 columns and 80 rows; sizes at which the layout changes are more frequent.
fn random_size(rng: &mut Rng) -> (u16, u16) {
    let common =
        [(80, 24), (60, 16), (120, 36), (200, 60), (160, 50), (159, 24), (40, 10), (1, 1), (250, 80), (0, 0)];
    if rng.once_in(2) {
        common[rng.below(common.len())]
    } else {
        (1 + rng.below(250) as u16, 1 + rng.below(80) as u16)
    }
}

fn random_key(rng: &mut Rng) -> KeyEvent {
    const KEYS: &[char] = &[
        'n', 'n', 's', 'c', 'b', ' ', 'h', 'l', '<', '>', 'o', 'o', 'x', 'a', 'a', 'e', 'p', 'u', 'U', '/',
        'N', ':', '?', 'q', 'r', 'v', 'z', 'd', 'j', 'k', 'g', 'G', 'm', 'w', 't', 'y', '1', '2', '3', '4',
        '5', '6', '0', 'A', 'R', 'T', '.', '-', '+', '\u{301}', '苹', '\0',
    ];
    let code = match rng.below(10) {
        0 => [
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::Insert,
            KeyCode::Tab,
            KeyCode::BackTab,
        ][rng.below(7)],
        1 => [
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::PageUp,
            KeyCode::PageDown,
        ][rng.below(8)],
        2 => KeyCode::Enter,
        3 => KeyCode::Char(char::from_u32(rng.below(0x500) as u32).unwrap_or('x')),
        4 if rng.once_in(4) => KeyCode::F(rng.below(30) as u8),
        _ => KeyCode::Char(KEYS[rng.below(KEYS.len())]),
    };
    let modifiers = match rng.below(12) {
        0 => KeyModifiers::CONTROL,
        1 => KeyModifiers::ALT,
        2 => KeyModifiers::SHIFT,
        3 if rng.once_in(4) => KeyModifiers::from_bits_truncate(rng.below(64) as u8),
        _ => KeyModifiers::NONE,
    };
    let kind = if rng.once_in(30) { KeyEventKind::Release } else { KeyEventKind::Press };
    KeyEvent::new_with_kind(code, modifiers, kind)
}

fn random_mouse(rng: &mut Rng) -> MouseEvent {
    let button = [MouseButton::Left, MouseButton::Right, MouseButton::Middle][rng.below(3)];
    let kind = [
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Down(button),
        MouseEventKind::Up(button),
        MouseEventKind::Drag(button),
        MouseEventKind::Moved,
        MouseEventKind::ScrollUp,
        MouseEventKind::ScrollDown,
        MouseEventKind::ScrollLeft,
        MouseEventKind::ScrollRight,
    ][rng.below(9)];
    let outside = rng.once_in(20);
    let (column, row) =
        if outside { (u16::MAX, u16::MAX) } else { (rng.below(260) as u16, rng.below(90) as u16) };
    MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }
}
