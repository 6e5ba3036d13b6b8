//! A whole conversation with a scripted model, on a machine in memory. Must not answer an ask but as its
//! caller says.

use gate::{
    authority::root_authority,
    g2_admit::Approver,
    g3_confine::{ChildWrites, Profile, Silent},
};
use model::ScriptedModel;
use policy::{Rule, RuleLayers};
use serde_json::{Value, json};
use session::{Ended, Furniture, Session, Unheard, Untold};

use crate::testkit::{Bench, MemoryHost, StoppedClock, block_on};

/// Plays these turns: the user speaks so many times, each time when the model has nothing more to call.
/// How the last one ended.
pub(crate) fn hold(
    rules: Vec<Rule>,
    turns: &[Value],
    spoken: usize,
    approver: &dyn Approver,
) -> Result<Ended, String> {
    let layers = RuleLayers {
        base: rules,
        ..RuleLayers::default()
    };
    let host = MemoryHost::with(&[("a.txt", "one\n"), ("/etc/hosts", "127.0.0.1 here\n")]);
    let bench = Bench::with_layers(host, layers);
    let model = ScriptedModel::from_json(&json!({ "turns": turns }).to_string());
    let model = model.map_err(|error| error.to_string())?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the suite is the root of what it plays"
    )]
    let root = root_authority();
    let with = Furniture {
        root: &root,
        model: &model,
        tools: &tools::builtins(),
        rules: &bench.rules,
        approver,
        approvals: &bench.approvals,
        profile: &Profile {
            child_writes: ChildWrites::Workspace,
        },
        host: &bench.host,
        journal: &bench.journal,
        transcript: &Untold,
        clock: &StoppedClock(7),
        progress: &Silent,
        events: &Unheard,
        cancel: &bench.cancel,
        limits: bench.limits,
        agent: "code",
        system: "",
        id: "ses_1",
    };
    let mut session = Session::new(with);
    let mut speak = || block_on(session.run("go")).map_err(|error| error.to_string());
    let mut ended = speak()?;
    for _ in 1..spoken {
        ended = speak()?;
    }
    Ok(ended)
}
