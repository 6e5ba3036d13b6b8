//! What a running command wants to reach, asked while its connection waits. Must not decide: gate 2 does,
//! by the rules of that moment, and the host lets through what it is told to.

use super::Effects;
use crate::{
    Fault, Problem,
    access::{Declare, Spawn},
    call::Tag,
    g2_admit::{Knock, Permit},
    journal::Event,
    words,
};
use futures::{
    StreamExt as _,
    channel::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
        oneshot,
    },
    future::{Either, select},
    lock::Mutex as Turn,
};
use policy::{Action, Answer, Subject};
use std::{
    collections::BTreeMap,
    future::Future,
    net::Ipv6Addr,
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The permission for machines.
const NETWORK: &str = "network";

/// Machines that one command may want and not get, or be asked about: more only tire whoever is asked, and
/// fill the journal.
pub const REACH_ASKS_MAX: usize = 32;

/// The longest name of a machine, in bytes.
const HOST_BYTES_MAX: usize = 253;

/// Where a host asks whether a running command may reach a machine. Clones ask for the same command; once
/// it has ended, the answer is no.
#[derive(Clone, Debug)]
pub struct Reach(UnboundedSender<Wish>);

/// One connection that waits.
#[derive(Debug)]
struct Wish {
    target: String,
    reply: oneshot::Sender<Result<(), String>>,
}

impl Reach {
    /// With nobody on the other side.
    pub(super) fn closed() -> Self {
        Self(unbounded().0)
    }

    /// Whether a connection to this machine may be made: a name or an address, as it will be dialled. May
    /// wait for a person; whoever has a deadline drops the future, and that is a no.
    ///
    /// # Errors
    /// It may not; why, for the model.
    pub fn ask(
        &self,
        host: String,
        port: u16,
    ) -> impl Future<Output = Result<(), String>> + Send + 'static {
        let wishes = self.0.clone();
        async move {
            let target = target(&host, port).ok_or(words::NOT_A_MACHINE)?;
            let (reply, said) = oneshot::channel();
            let sent = wishes.unbounded_send(Wish { target, reply });
            sent.map_err(|_| words::COMMAND_IS_OVER)?;
            said.await
                .unwrap_or_else(|_| Err(words::COMMAND_IS_OVER.to_owned()))
        }
    }
}

/// `host:port` as rules name it. SECURITY: what is neither a plain name nor an address could be one thing
/// to the rules and another to whoever dials.
fn target(host: &str, port: u16) -> Option<String> {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(host).parse::<Ipv6Addr>() {
        return Some(format!("[{address}]:{port}"));
    }
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let is_label = |it: &str| !it.is_empty() && it.chars().all(is_plain);
    let is_name = host.len() <= HOST_BYTES_MAX && host.split('.').all(is_label);
    is_name.then(|| format!("{}:{port}", host.to_ascii_lowercase()))
}

/// Answers the wishes of one command.
pub(super) struct Watch<'call> {
    command: String,
    wishes: UnboundedReceiver<Wish>,
    known: Known<'call>,
}

/// What was said so far, and by what it was said.
struct Known<'call> {
    call: Tag<'call>,
    /// The machines that the command's own words name; leave to run it was leave for them.
    named: Vec<Subject>,
    answer: Option<Answer>,
    said: Mutex<Said>,
    /// Held by whoever is asking: a person sees one question at a time.
    turn: Turn<()>,
}

#[derive(Default)]
struct Said {
    /// Under which generation of the rules it was let through, and by whose yes.
    admitted: BTreeMap<String, (u64, Option<Answer>)>,
    refused: BTreeMap<String, String>,
    /// How many machines were no plain yes.
    asks: usize,
    fault: Option<Fault>,
}

/// A command with what it may reach, and the one who watches.
pub(super) fn watch<'call>(
    call: Tag<'call>,
    permit: &Permit<'call, Spawn>,
) -> (Reach, Watch<'call>) {
    let (sender, wishes) = unbounded();
    let decision = permit.decision();
    let is_named = |it: &&Subject| it.permission == NETWORK && !it.is_possible;
    let watch = Watch {
        command: permit.access().command().to_owned(),
        wishes,
        known: Known {
            call,
            named: decision
                .subjects()
                .iter()
                .filter(is_named)
                .cloned()
                .collect(),
            answer: decision.answer().cloned(),
            said: Mutex::default(),
            turn: Turn::new(()),
        },
    };
    (Reach(sender), watch)
}

impl Watch<'_> {
    /// Answers until the command has ended; then whoever still waits hears no. A fault of our own does not
    /// stop the command, which runs already; it is told behind it.
    pub(super) async fn until<T>(
        self,
        ended: impl Future<Output = T> + Send,
        faults: oneshot::Sender<Fault>,
    ) -> T {
        let Self {
            command,
            wishes,
            known,
        } = self;
        let answers = wishes.for_each_concurrent(None, async |wish: Wish| {
            let said = known.may_reach(&wish, &command).await;
            // If nobody waits any more, the deadline of the connection was the answer.
            let _is_late = wish.reply.send(said);
        });
        let ended = match select(pin!(ended), pin!(answers)).await {
            Either::Left((ended, _)) => ended,
            // Every `Reach` is gone; nothing can be asked any more.
            Either::Right(((), ended)) => ended.await,
        };
        if let Some(fault) = known.said().fault.take() {
            let _is_gone = faults.send(fault);
        }
        ended
    }
}

impl Known<'_> {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn may_reach(&self, wish: &Wish, command: &str) -> Result<(), String> {
        let target = &wish.target;
        if let Some(said) = self.remembered(target) {
            return said;
        }
        let knock = || {
            Knock::at(
                self.call,
                self.wanted(target, command),
                self.answer_to(target).as_ref(),
            )
        };
        let mut turn = None;
        if knock().action() == Action::Ask {
            turn = Some(self.turn.lock().await);
            // Another connection to it was answered while this one waited for its turn.
            if let Some(said) = self.remembered(target) {
                return said;
            }
            if wish.reply.is_canceled() {
                return Err(words::COMMAND_IS_OVER.to_owned());
            }
        }
        let knock = knock();
        if knock.action() != Action::Allow {
            let mut said = self.said();
            if said.asks == REACH_ASKS_MAX {
                return Err(words::too_many_machines());
            }
            said.asks += 1;
        }
        let said = self.put(target, knock).await;
        drop(turn);
        said
    }

    /// What was said to this machine before. A no holds for the command; a yes as long as the rules are the
    /// same, and then the one who gave it is not asked again.
    fn remembered(&self, target: &str) -> Option<Result<(), String>> {
        let said = self.said();
        if let Some(why) = said.refused.get(target) {
            return Some(Err(why.clone()));
        }
        let (generation, _) = said.admitted.get(target)?;
        let now = self.call.live.parts.rules.current().generation();
        (*generation == now).then_some(Ok(()))
    }

    /// What is asked: as the command's own words have it, if they name it.
    fn wanted(&self, target: &str, command: &str) -> Declare {
        let subject = match self.named(target) {
            Some(named) => Subject {
                canonical: target.to_owned(),
                source: target.to_owned(),
                ..named.clone()
            },
            None => Subject::name(NETWORK, target),
        };
        Declare::reach(subject, command)
    }

    fn answer_to(&self, target: &str) -> Option<Answer> {
        if self.named(target).is_some() {
            return self.answer.clone();
        }
        let said = self.said();
        let (_, answer) = said.admitted.get(target)?;
        answer.clone()
    }

    /// With its port, or without one: then leave was given for any.
    fn named(&self, target: &str) -> Option<&Subject> {
        let host = target.rsplit_once(':').map_or(target, |(host, _)| host);
        let is_same = |it: &str| it.eq_ignore_ascii_case(target) || it.eq_ignore_ascii_case(host);
        self.named.iter().find(|it| is_same(&it.canonical))
    }

    /// Puts it to gate 2 and remembers the answer.
    async fn put(&self, target: &str, knock: Knock<'_>) -> Result<(), String> {
        let problem = match knock.admit().await {
            Ok(decision) => {
                let by = (decision.generation(), decision.answer().cloned());
                self.said().admitted.insert(target.to_owned(), by);
                return Ok(());
            }
            Err(problem) => problem,
        };
        let (why, fault) = match problem {
            Problem::Refused(refusal) => {
                let why = refusal.to_string();
                let noted = Effects::of(self.call).record(Event::Refused(refusal));
                (why, noted.err())
            }
            Problem::Fault(fault) => (words::FAULT.to_owned(), Some(fault)),
            Problem::Failed(why) => (why, None),
        };
        let mut said = self.said();
        said.refused.insert(target.to_owned(), why.clone());
        if said.fault.is_none() {
            said.fault = fault;
        }
        Err(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_name_or_an_address_is_a_machine() {
        for (host, want) in [
            ("Example.COM", Some("example.com:443")),
            ("a_b-c.test", Some("a_b-c.test:443")),
            ("127.0.0.1", Some("127.0.0.1:443")),
            ("FE80::1", Some("[fe80::1]:443")),
            ("", None),
            ("example.com.", None),
            ("a..b", None),
            ("*", None),
            ("a b", None),
            ("a:80", None),
            ("a\0.test", None),
            ("fe80::1%eth0", None),
            ("[::0001]", Some("[::1]:443")),
            ("[127.0.0.1]", None),
            ("bücher.test", None),
        ] {
            assert_eq!(target(host, 443).as_deref(), want, "{host}");
        }
        assert_eq!(target(&"a".repeat(254), 1), None);
    }
}
