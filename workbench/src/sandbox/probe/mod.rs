//! What a sandbox stops, tried in the sandbox itself: small scripts that attempt what must not succeed, and what must.

mod bridge;
mod list;
mod script;

use std::io;
use std::net::{Ipv4Addr, TcpListener};

use futures::StreamExt;
use serde::Serialize;
use serde_json::json;
use url::Url;

use self::bridge::{ProbeBridge, tools};
use self::list::PROBES;
use self::script::{Expected, Probe, fits, got};
use super::{Inspection, SCRIPT_FILE, Sandbox, SandboxError, Script, ScriptEnd};

/// What every probe begins with.
const ATTEMPT: &str = include_str!("attempt.py");

/// Probes under way at once: each waits for its sandbox most of the time.
const AT_ONCE: usize = 4;

/// What the last line is about, where there is somebody to be asked.
const LEFT: (&str, &str) = ("nothing_left", "what is left of all this");

/// What came of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name.
    pub name: &'static str,
    /// What it tries.
    pub probe: &'static str,
    /// What has to come of it; nothing for what is not stopped.
    pub expected: Option<String>,
    /// What came of it; nothing when it was not tried.
    pub got: Option<String>,
    /// Whether that is well.
    pub state: State,
}

/// Whether what came of a probe is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As expected.
    Ok,
    /// Not as expected: a protection is missing, or something that must work does not.
    Missing,
    /// This profile does not stop it; it was not tried.
    NotStopped,
    /// Nobody named an address to try it with.
    NotTried,
}

/// Why probes could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The sandbox did not start.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// This machine lacks what the host's side needs: a folder, a port.
    #[error("the host's side of the probes cannot be set up: {0}")]
    Host(#[from] io::Error),
}

/// Makes all probes that mean something in this sandbox. `url` is the one address that is asked for anything.
///
/// # Errors
/// When the sandbox does not start.
pub async fn run(sandbox: &dyn Sandbox, url: Option<&Url>) -> Result<Vec<Finding>, ProbeError> {
    // Something listens on this machine's own address, and no script is to reach it.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let scene = Scene { sandbox, url, port: listener.local_addr()?.port(), about: sandbox.inspect().await? };
    let profile = sandbox.settings().get("network").cloned();
    let meant = PROBES.iter().filter_map(|probe| Some((probe, probe.expected(sandbox.name(), profile.as_deref())?)));
    let mut meant: Vec<_> = meant.enumerate().collect();
    // Those first that last as long as their limit says.
    meant.sort_by_key(|(_, (probe, _))| probe.limits().time);
    let mut findings: Vec<(usize, Finding)> = Vec::new();
    let mut under_way = futures::stream::iter(meant)
        .map(|(place, (probe, expected))| {
            let finding = scene.find(probe, expected);
            async move { Ok::<_, ProbeError>((place, finding.await?)) }
        })
        .buffer_unordered(AT_ONCE);
    while let Some(finding) = under_way.next().await {
        findings.push(finding?);
    }
    findings.sort_by_key(|(place, _)| *place);
    let mut findings: Vec<Finding> = findings.into_iter().map(|(_, finding)| finding).collect();
    sandbox.close().await;
    if let Some(left) = sandbox.inspect().await?.left {
        let words = |left: &[String]| if left.is_empty() { "nothing".to_owned() } else { left.join(", ") };
        findings.push(Finding::judged(LEFT, &words(&[]), words(&left)));
    }
    Ok(findings)
}

/// Where probes are made.
struct Scene<'a> {
    sandbox: &'a dyn Sandbox,
    url: Option<&'a Url>,
    port: u16,
    about: Inspection,
}

impl Scene<'_> {
    async fn find(&self, probe: &Probe, expected: Expected) -> Result<Finding, ProbeError> {
        let about = (probe.name, probe.title());
        let expected = match expected {
            Expected::NotStopped => return Ok(Finding::not_tried(about, None, State::NotStopped)),
            Expected::Text(text) if probe.needs_url() && self.url.is_none() => {
                return Ok(Finding::not_tried(about, Some(text), State::NotTried));
            }
            Expected::Text(text) => text,
        };
        let mut made = self.attempt(probe).await?;
        if made.0 == ScriptEnd::Killed {
            // Perhaps for lack of memory of this machine, which says nothing about the sandbox.
            made = self.attempt(probe).await?;
        }
        Ok(Finding::judged(about, expected, made.1))
    }

    async fn attempt(&self, probe: &Probe) -> Result<(ScriptEnd, String), ProbeError> {
        let bridge = ProbeBridge::new(probe.calls())?;
        let source = self.source(probe);
        let script = Script {
            source: &source,
            file: SCRIPT_FILE,
            tools: &tools(),
            domain: "probe",
            announce_waiting: false,
            limits: probe.limits(),
        };
        let outcome = self.sandbox.run(&script, &bridge).await?;
        let ended_well = outcome.end.is_success();
        let got = if probe.leaves_files() && ended_well { bridge.kept() } else { got(&outcome) };
        Ok((outcome.end, got))
    }

    /// The script, with what it has to know; JSON of these is Python as well.
    fn source(&self, probe: &Probe) -> String {
        let url = json!(self.url.map_or("", Url::as_str));
        let (port, variables) = (self.port, json!(self.about.image_variables));
        format!("{ATTEMPT}\n\nURL, PORT, IMAGE_VARIABLES = {url}, {port}, {variables}\n{}", probe.source)
    }
}

impl Finding {
    fn judged((name, probe): (&'static str, &'static str), expected: &str, got: String) -> Self {
        let state = if fits(expected, &got) { State::Ok } else { State::Missing };
        Self { name, probe, expected: Some(expected.to_owned()), got: Some(got), state }
    }

    fn not_tried((name, probe): (&'static str, &'static str), expected: Option<&str>, state: State) -> Self {
        Self { name, probe, expected: expected.map(str::to_owned), got: None, state }
    }
}
