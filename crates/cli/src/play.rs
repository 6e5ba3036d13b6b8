//! One session from its first word to its end, kept as it goes.

use crate::{
    command::block_on,
    error::CliError,
    instructions,
    ports::{StoredApprovals, StoredTranscript, SystemClock},
    workbench::Workbench,
};
use gate::{
    authority::RootAuthority, cancel::Cancel, g2_admit::Approver, g3_confine::Silent, host::Host,
    journal::Journal,
};
use model::{Message, Model};
use session::{Ended, Events, Furniture, Session};
use store::Store;

/// All that a session is played with.
pub(crate) struct Play<'p> {
    pub(crate) root: &'p RootAuthority,
    pub(crate) bench: &'p Workbench,
    pub(crate) model: &'p dyn Model,
    pub(crate) approver: &'p dyn Approver,
    pub(crate) store: &'p Store,
    pub(crate) journal: &'p dyn Journal,
    pub(crate) events: &'p dyn Events,
    pub(crate) cancel: &'p Cancel,
}

impl Play<'_> {
    /// Plays until the model has nothing more to call. `before` is what was said in the session so far;
    /// `None` begins a new one.
    pub(crate) fn run(
        &self,
        before: Option<Vec<Message>>,
        prompt: &str,
    ) -> Result<Ended, CliError> {
        let Self { bench, store, .. } = self;
        let workspace = bench.host.workspace().display().to_string();
        if before.is_none() {
            let created = store.create_session(&bench.session, &bench.agent.name, &workspace);
            created.map_err(|error| CliError::fault(&error))?;
        }
        let transcript = StoredTranscript {
            store,
            session: &bench.session,
        };
        let approvals = StoredApprovals {
            store,
            workspace: &workspace,
        };
        block_on(
            self.cancel,
            self.speak(before, prompt, &transcript, &approvals),
        )?
    }

    async fn speak(
        &self,
        before: Option<Vec<Message>>,
        prompt: &str,
        transcript: &StoredTranscript<'_>,
        approvals: &StoredApprovals<'_>,
    ) -> Result<Ended, CliError> {
        let bench = self.bench;
        let system = instructions::gather(self.root, bench, self.journal).await;
        let furniture = Furniture {
            root: self.root,
            model: self.model,
            tools: &bench.tools,
            rules: &bench.rules,
            approver: self.approver,
            approvals,
            profile: &bench.profile,
            host: &bench.host,
            journal: self.journal,
            transcript,
            clock: &SystemClock,
            progress: &Silent,
            events: self.events,
            cancel: self.cancel,
            limits: bench.limits,
            agent: &bench.agent.name,
            system: &system,
            id: &bench.session,
        };
        let mut session = match before {
            Some(messages) => Session::resume(furniture, messages)?,
            None => Session::new(furniture),
        };
        Ok(session.run(prompt).await?)
    }
}
