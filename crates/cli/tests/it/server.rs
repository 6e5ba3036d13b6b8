//! A model on the loopback interface, and a configuration that names it. Must not hold test cases.

use crate::world::World;
use conform::mock::{Answer, Mock, Received};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A word that may stand in the request and nowhere else.
pub(crate) const KEY: &str = "sk-hunter2-0123456789";

/// Runs until it is dropped.
pub(crate) struct Server {
    mock: Mock,
    _runtime: Runtime,
}

impl Server {
    /// Plays these turns. The first requests get the answers listed, all others the turn streamed.
    pub(crate) fn start(turns: &Value, answers: impl IntoIterator<Item = Answer>) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let script = json!({ "turns": turns }).to_string();
        let mock = runtime.block_on(Mock::start(&script, answers)).unwrap();
        Self {
            mock,
            _runtime: runtime,
        }
    }

    pub(crate) fn base_url(&self) -> String {
        self.mock.base_url()
    }

    /// The requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.mock.received()
    }

    /// The messages of one request.
    #[track_caller]
    pub(crate) fn messages(&self, request: usize) -> Vec<Value> {
        let received = self.received();
        let body = &received[request].body;
        body["messages"].as_array().unwrap().clone()
    }

    /// The system prompt of the first request.
    #[track_caller]
    pub(crate) fn system(&self) -> String {
        let first = &self.messages(0)[0];
        assert_eq!(first["role"], "system", "{first}");
        first["content"].as_str().unwrap().to_owned()
    }

    /// Makes this the model `mock/x` of a scene in which everything is allowed but what `rules` say.
    pub(crate) fn configure(&self, world: &World, rules: &Value) {
        self.configure_with(world, rules, json!({}));
    }

    /// The same with more keys at the root.
    pub(crate) fn configure_with(&self, world: &World, rules: &Value, more: Value) {
        let mut config = configuration(&self.base_url(), &json!(KEY));
        let permission = config["permission"].as_object_mut().unwrap();
        permission.extend(rules.as_object().unwrap().clone());
        let Value::Object(more) = more else {
            panic!("{more}")
        };
        config.as_object_mut().unwrap().extend(more);
        world.rules(&config.to_string());
    }
}

/// Everything is allowed, and the model `mock/x` is at this address, with this key.
pub(crate) fn configuration(base_url: &str, key: &Value) -> Value {
    json!({
        "permission": {"*": "allow"},
        "provider": {"mock": {"options": {"baseURL": base_url, "apiKey": key}, "models": {"x": {}}}},
    })
}

/// A line that speaks to `mock/x`, with nobody to ask.
pub(crate) fn line<'l>(prompt: &'l str, more: &[&'l str]) -> Vec<&'l str> {
    let line = ["run", "--model", "mock/x", "--on-ask", "deny", prompt];
    [&line, more].concat()
}
