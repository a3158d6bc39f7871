//! `workbench sandbox build`, `status` and `clean`

use serde::Serialize;

use crate::cli::options::Format;
use crate::cli::{SandboxBuildArguments, SandboxCleanArguments, SandboxCommand, SandboxStatusArguments};
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::sandbox::docker::engine::{Engine, EngineError};
use crate::sandbox::docker::image::{self, Image, ImageError};
use crate::sandbox::docker::sweep::{self, Belonging, Kind, Owner, SweepError};

use super::print_json;

pub(super) async fn run(command: &SandboxCommand) -> Result<Exit, Failure> {
    match command {
        SandboxCommand::Build(arguments) => build(arguments).await?,
        SandboxCommand::Status(arguments) => status(arguments).await?,
        SandboxCommand::Clean(arguments) => clean(arguments).await?,
    }
    Ok(Exit::Success)
}

/// Builds the image; each step is a line on standard error, the image's name the only one on standard output.
async fn build(arguments: &SandboxBuildArguments) -> Result<(), Failure> {
    let engine = connect().await?;
    let built = image::build(&engine, arguments.base.as_deref(), &|step| printer::note(step)).await;
    let image = built.map_err(|error| of_image(&error))?;
    printer::data(&format!("{}\n", image.tag));
    Ok(())
}

async fn clean(arguments: &SandboxCleanArguments) -> Result<(), Failure> {
    let engine = connect().await?;
    let swept = sweep::clean(&engine, arguments.all).await.map_err(of_sweep)?;
    let (containers, volumes) = (swept.containers, swept.volumes);
    printer::data(&format!("removed {} and {}\n", counted(containers, "container"), counted(volumes, "volume")));
    Ok(())
}

/// What `status` found out.
#[derive(Serialize)]
struct Status {
    engine: Option<EngineStatus>,
    image: Option<Image>,
    /// What `--sandbox auto` takes.
    auto: Option<&'static str>,
    /// Why.
    reason: String,
    /// The way on, where something is missing.
    hint: Option<String>,
}

#[derive(Serialize)]
struct EngineStatus {
    name: &'static str,
    address: String,
    version: String,
    api: String,
    remote: bool,
    runtimes: Vec<String>,
    containers: Counts,
    volumes: Counts,
}

/// How many of ours the engine has.
#[derive(Default, Serialize)]
struct Counts {
    in_use: usize,
    left_behind: usize,
    elsewhere: usize,
}

async fn status(arguments: &SandboxStatusArguments) -> Result<(), Failure> {
    let status = Status::look().await?;
    match arguments.format {
        Format::Json => print_json(&status)?,
        Format::Text => printer::data(&status.text()),
    }
    Ok(())
}

impl Status {
    async fn look() -> Result<Self, Failure> {
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(error) => return Ok(Self::without(None, error.to_string(), error.hint())),
        };
        let about = EngineStatus::of(&engine).await?;
        match image::find(&engine).await {
            Ok(image) => Ok(Self {
                engine: Some(about),
                image: Some(image),
                auto: Some("docker"),
                reason: "engine and image are there".to_owned(),
                hint: None,
            }),
            Err(error) => Ok(Self::without(Some(about), error.to_string(), error.hint().to_owned())),
        }
    }

    fn without(engine: Option<EngineStatus>, reason: String, hint: String) -> Self {
        let auto = cfg!(feature = "embedded").then_some("embedded");
        Self { engine, image: None, auto, reason, hint: Some(hint) }
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(engine) = &self.engine {
            let EngineStatus { name, address, version, api, remote, runtimes, containers, volumes } = engine;
            let place = if *remote { ", remote" } else { "" };
            lines.push(format!("engine:     {name} {version} (API {api}) at {address}{place}"));
            lines.push(format!("runtimes:   {}", runtimes.join(", ")));
            lines.push(format!("containers: {}", containers.text()));
            lines.push(format!("volumes:    {}", volumes.text()));
        }
        if let Some(image) = &self.image {
            let Image { id, tag, base, digest } = image;
            let digest = digest.as_ref().map(|digest| format!(", digest {digest}")).unwrap_or_default();
            lines.push(format!("image:      {tag}, built from {base}{digest}"));
            lines.push(format!("            {id}"));
        }
        lines.push(format!("auto:       {}: {}", self.auto.unwrap_or("no sandbox"), self.reason));
        if let Some(hint) = &self.hint {
            lines.push(format!("            {hint}"));
        }
        lines.into_iter().map(|line| printer::line(&line) + "\n").collect()
    }
}

impl EngineStatus {
    async fn of(engine: &Engine) -> Result<Self, Failure> {
        let belongings = sweep::belongings(engine).await.map_err(of_sweep)?;
        let count = |kind| Counts::of(belongings.iter().filter(|belonging| belonging.kind == kind));
        Ok(Self {
            name: engine.name(),
            address: engine.address(),
            version: engine.version().to_owned(),
            api: engine.api().to_owned(),
            remote: engine.is_remote(),
            runtimes: engine.runtimes().await,
            containers: count(Kind::Container),
            volumes: count(Kind::Volume),
        })
    }
}

impl Counts {
    fn of<'a>(belongings: impl Iterator<Item = &'a Belonging>) -> Self {
        let mut counts = Self::default();
        for belonging in belongings {
            *match belonging.owner {
                Owner::Living => &mut counts.in_use,
                Owner::Dead => &mut counts.left_behind,
                Owner::Elsewhere => &mut counts.elsewhere,
            } += 1;
        }
        counts
    }

    fn text(&self) -> String {
        let Self { in_use, left_behind, elsewhere } = self;
        format!("{in_use} in use, {left_behind} left behind, {elsewhere} of other machines or users")
    }
}

async fn connect() -> Result<Engine, Failure> {
    Engine::connect().await.map_err(|error| of_engine(&error))
}

fn of_engine(error: &EngineError) -> Failure {
    Failure::new(Exit::Sandbox, error.to_string()).hint(error.hint())
}

fn of_image(error: &ImageError) -> Failure {
    Failure::new(Exit::Sandbox, error.to_string()).hint(error.hint())
}

fn of_sweep(error: SweepError) -> Failure {
    Failure::new(Exit::Sandbox, error).hint("look what the engine's log says of it, then `workbench sandbox clean`")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
