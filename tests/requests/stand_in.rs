//! A stand-in for a model server: it records every request in the order of arrival and replies from a script.

use crate::http::{Listener, Response};
use crate::known_texts::KnownTexts;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A request that was sent, with the reply it got.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) body: Value,
    pub(crate) reply: String,
    /// What the run that sent it may have put into the prompt.
    pub(crate) known: Arc<KnownTexts>,
}

/// What the server replies to a request.
pub(crate) struct Reply {
    pub(crate) text: String,
    /// The reply was cut off by its token limit.
    pub(crate) is_cut: bool,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, is_cut: false }
    }
}

/// A running server; dropping it stops it.
pub(crate) struct StandIn {
    listener: Listener,
    log: Arc<Mutex<Log>>,
}

/// The exchanges since they were last taken.
#[derive(Default)]
struct Log {
    exchanges: Vec<Exchange>,
    /// How many of each model. A run on a whole benchmark has thousands, too many to count them anew at each request.
    counts: HashMap<String, usize>,
}

impl Exchange {
    /// The name of the model that was asked; the tests name actor and mentor `actor` and `mentor`.
    pub(crate) fn model(&self) -> &str {
        self.body["model"].as_str().unwrap()
    }

    pub(crate) fn is_actor(&self) -> bool {
        self.model() == "actor"
    }

    /// The messages as pairs of role and content.
    pub(crate) fn messages(&self) -> Vec<(&str, &str)> {
        let messages = self.body["messages"].as_array().unwrap();
        messages.iter().map(|m| (m["role"].as_str().unwrap(), m["content"].as_str().unwrap())).collect()
    }

    /// All messages, one after the other.
    pub(crate) fn text(&self) -> String {
        self.messages().into_iter().map(|(_, content)| content).collect()
    }

    /// What the body says beside model and messages, without what belongs to the transport.
    pub(crate) fn sampling(&self) -> Value {
        let transport = ["model", "messages", "stream", "stream_options", "seed"];
        let body = self.body.as_object().unwrap().clone();
        Value::Object(body.into_iter().filter(|(name, _)| !transport.contains(&&**name)).collect())
    }
}

impl StandIn {
    /// Starts a server that replies with `reply(model, text of the prompt, requests to this model before)`.
    pub(crate) fn start<R: Into<Reply>>(
        reply: impl Fn(&str, &str, usize) -> R + Send + Sync + 'static,
    ) -> Self {
        let log = Arc::new(Mutex::new(Log::default()));
        let written = log.clone();
        let listener = Listener::start(move |request| {
            assert_eq!(request.authorization, "", "no key is sent unless the user has one");
            if request.method != "POST" || !request.path.ends_with("/chat/completions") {
                return Response::Json(404, "", json!({"error": {"message": "no such path"}}).to_string());
            }
            let mut exchange = Exchange {
                body: serde_json::from_slice(&request.body).unwrap(),
                reply: String::new(),
                known: Arc::default(),
            };
            let mut log = written.lock().unwrap();
            let count = log.counts.entry(exchange.model().to_owned()).or_default();
            let answer = reply(exchange.model(), &exchange.text(), *count).into();
            *count += 1;
            exchange.reply.clone_from(&answer.text);
            log.exchanges.push(exchange);
            Response::Stream("", stream(&answer))
        });
        Self { listener, log }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.listener.address())
    }

    /// Says what a finished run printed and which lessons it may have loaded, so that its exchanges know where their texts may be from.
    pub(crate) fn finish_run(&self, lines: &[Value], lessons: &[String]) {
        let exchanges = &mut self.log.lock().unwrap().exchanges;
        // A dry run sends nothing.
        if exchanges.is_empty() {
            return;
        }
        let replies = exchanges.iter().map(|exchange| &exchange.reply);
        let known = Arc::new(KnownTexts::of_run(lines, replies.chain(lessons).map(String::as_str)));
        for exchange in exchanges.iter_mut() {
            exchange.known = known.clone();
        }
    }

    /// Returns the exchanges since the last call.
    pub(crate) fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut *self.log.lock().unwrap()).exchanges
    }
}

fn stream(reply: &Reply) -> Vec<String> {
    let end = if reply.is_cut { "length" } else { "stop" };
    let content = json!({"choices": [{"index": 0, "delta": {"content": reply.text}}]});
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": end}]});
    [content.to_string(), last.to_string(), "[DONE]".to_owned()]
        .map(|data| format!("data: {data}\n\n"))
        .into()
}
